"""Vector environments: thousands of matches stepped at once (Gymnasium's `VectorEnv`).

>>> import necrodome
>>> envs = necrodome.make_vec("zombie-dice-solo", num_envs=4096, seed=1)
>>> observations, infos = envs.reset()
>>> observations.shape, observations.dtype
((4096, 8), dtype('int16'))
>>> observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())

The arrays are made once and written in place: what a step gives is overwritten by the next. Copy what is to be kept, or
say `copy=True`.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .. import _native
from .base import Option
from .spaces import Layout, check_observation

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ArenaVectorEnv", "make_vec"]

_SEEDS = 2**64

_Step = tuple[
    Any, npt.NDArray[np.float32], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]
]


def make_vec(
    game: str,
    num_envs: int = 1,
    *,
    seed: int | Sequence[int] | None = None,
    players: int | None = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    observation: str = "vector",
    copy: bool = False,
    threads: int = 1,
    **rules: Option,
) -> ArenaVectorEnv:
    """Many matches of a game, stepped at once.

    `game` is the id of a game that has a kernel for batches: for any other the `ValueError` lists those that have. `players`
    says how many seats a match has. `seed` is one for all (match i gets `seed + i`) or one for each match; what happens in
    a match depends on its seed and its actions only, not on `num_envs` nor `threads`. `rules` are the options of the
    rules, by name.

    >>> make_vec("zombie-dice", num_envs=8, players=4, seed=3).reset()[0].shape
    (8, 18)
    """
    return ArenaVectorEnv(
        game,
        num_envs,
        seed=seed,
        players=players,
        autoreset_mode=autoreset_mode,
        observation=observation,
        copy=copy,
        threads=threads,
        **rules,
    )


class ArenaVectorEnv(VectorEnv[Any, Any, Any]):
    """Matches side by side. A row is a match; in Last Bullet, where all decide at once, a survivor.

    In games of several seats a row's observation is that of the seat that decides (`to_act()`), and its reward that of the
    seat that has just acted; `final_rewards()` gives all seats of the match that ended last.

    With `AutoresetMode.SAME_STEP`, `infos["final_obs"]` is an array like the observations, which holds in the rows marked
    by `infos["_final_obs"]` the last observations of the episodes that have ended.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        *,
        seed: int | Sequence[int] | None = None,
        players: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        observation: str = "vector",
        copy: bool = False,
        threads: int = 1,
        render_mode: Option = None,
        **rules: Option,
    ) -> None:
        check_observation(observation)
        if render_mode is not None:
            raise ValueError(f"render_mode {render_mode!r}: a vector environment is not drawn, expected None")
        mode = _mode(autoreset_mode)
        self.game = game
        self.autoreset_mode = mode
        self.metadata = {**ArenaVectorEnv.metadata, "autoreset_mode": mode}
        self._native = _native.Vector(
            game, num_envs, players, mode.name.lower(), threads, json.dumps(rules)
        )
        self.players = self._native.seats
        self._made: dict[str, Any] = {
            "num_envs": num_envs,
            "players": self.players,
            "autoreset_mode": mode,
            "observation": observation,
            "copy": copy,
            "threads": threads,
            **rules,
        }
        self.num_matches = self._native.matches
        self.num_envs = self._native.rows
        self.layout = Layout.from_json(self._native.fields(), self._native.arrays()[0].dtype.type)
        self.single_action_space = spaces.Discrete(self._native.actions)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._copy = copy
        if observation == "dict":
            self.single_observation_space = self.layout.dict_space()
            self._native.present(*map(self._named, self._native.arrays()))
        else:
            self.single_observation_space = self.layout.vector_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._seeded = False
        if seed is not None:
            self._seed(seed)
        # The native method itself: nothing between the caller and the kernel.
        if not copy:
            self.step = self._native.step  # type: ignore[method-assign]

    def _named(self, table: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
        return {field.name: table[:, column] for column, field in enumerate(self.layout.fields)}

    def _seed(self, seed: int | Sequence[int | None], marks: list[bool] | None = None) -> None:
        if isinstance(seed, (int, np.integer)):
            seeds: list[int | None] = [(int(seed) + one) % _SEEDS for one in range(self.num_matches)]
        else:
            seeds = [None if one is None else int(one) % _SEEDS for one in seed]
        if marks is not None and len(seeds) == len(marks):
            # The others go on as they would.
            seeds = [one if marked else None for one, marked in zip(seeds, marks)]
        self._native.seed(seeds)
        self._seeded = True

    def _marked(self, options: dict[str, Any] | None) -> list[bool] | None:
        """The matches whose rows are marked by `options["reset_mask"]`; None for all of them."""
        if options is None or "reset_mask" not in options:
            return None
        mask = np.asarray(options["reset_mask"])
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise ValueError(
                f"reset_mask: expected {self.num_envs} booleans, one for each environment (a row of the "
                f"observations), got the shape {mask.shape} of {mask.dtype}"
            )
        width = self.num_envs // self.num_matches
        marked = [int(count) for count in mask.reshape(-1, width).sum(axis=1)]
        for match, count in enumerate(marked):
            if count not in (0, width):
                raise ValueError(
                    f"reset_mask: match {match} begins anew as a whole: expected all of its rows {match * width} to "
                    f"{(match + 1) * width - 1} or none of them, got {count} of {width}"
                )
        return [count > 0 for count in marked]

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins new matches: all, or those whose rows are marked by `options["reset_mask"]`.

        The mask has a boolean for each of the `num_envs` rows. In Last Bullet, where a match has many, all of them are
        marked or none. With a seed the matches' streams of chance begin anew, without one they go on.
        """
        marks = self._marked(options)
        if seed is not None:
            self._seed(seed, marks if self._seeded else None)
        elif not self._seeded:
            self._seed([secrets.randbits(64) for _ in range(self.num_matches)])
        observations, infos = self._native.reset(marks)
        return self._kept(observations), infos

    def step(self, actions: Any) -> _Step:
        """Plays an action in each row."""
        observations, rewards, terminations, truncations, infos = self._native.step(actions)
        infos = {name: self._kept(info) for name, info in infos.items()}
        return self._kept(observations), rewards.copy(), terminations.copy(), truncations.copy(), infos

    def _kept(self, arrays: Any) -> Any:
        """Copies, if they are wanted."""
        if not self._copy:
            return arrays
        if isinstance(arrays, dict):
            return {name: self._kept(array) for name, array in arrays.items()}
        return arrays.copy()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions are legal now: a row of flags for each row."""
        return self._native.masks()

    def to_act(self) -> npt.NDArray[np.uint8]:
        """The seat that decides in each row."""
        return self._native.to_act()

    def final_rewards(self) -> npt.NDArray[np.float32]:
        """What the match that ended last in each row gave to each of its seats."""
        return self._native.final_rewards().reshape(self.num_envs, self.players)

    def save(self) -> bytes:
        """The whole state, chance included. Keep it from agents: it tells the future."""
        return bytes(self._native.save())

    def restore(self, saved: bytes) -> None:
        """Goes on from what `save` gave, for an environment of the same shape and rules."""
        self._native.restore(saved)
        self._seeded = True

    def clone(self, *, seed: int | Sequence[int | None] | None = None) -> Self:
        """An environment that goes on as this one would, and shares nothing with it.

        With seeds it goes on from here with other chance: for a search that must not know the dice to come.
        """
        other = type(self)(self.game, **self._made)
        other.restore(self.save())
        other._seeded = self._seeded
        if seed is not None:
            other._seed(seed)
        return other

    def __deepcopy__(self, memo: Any) -> Self:
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.game, self._made, self.save(), self._seeded)

    def __repr__(self) -> str:
        return f"ArenaVectorEnv({self.game!r}, num_envs={self.num_envs})"


def _rebuild(game: str, made: dict[str, Any], saved: bytes, seeded: bool) -> ArenaVectorEnv:
    env = ArenaVectorEnv(game, **made)
    env.restore(saved)
    env._seeded = seeded
    return env


def _mode(mode: AutoresetMode | str) -> AutoresetMode:
    if isinstance(mode, AutoresetMode):
        return mode
    for known in AutoresetMode:
        if mode.lower() in (known.name.lower(), str(known.value).lower()):
            return known
    names = ", ".join(repr(known.name.lower()) for known in AutoresetMode)
    raise ValueError(f"autoreset_mode {mode!r}: expected an AutoresetMode or one of {names}")
