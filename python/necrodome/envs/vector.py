"""Vector environments: thousands of matches stepped at once (Gymnasium's `VectorEnv`).

>>> import necrodome
>>> envs = necrodome.make_vec("zombie-dice-solo", num_envs=4096, seed=1)
>>> observations, infos = envs.reset()
>>> observations.shape, observations.dtype
((4096, 8), dtype('int16'))
>>> observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())

The arrays that a step returns are yours: no later step changes them, so they can go straight into a replay buffer. With
`copy=False` the next step overwrites them.
"""

from __future__ import annotations

import atexit
import json
import os
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .. import _native
from ..opponents import AnyOpponent, Draws, Table, line_up, restore_draws, seated
from .arguments import BAD_ACTIONS, checked_seed, checked_seeds, memory, one_of, rules_as_json, whole
from .base import Option
from .spaces import Layout, check_observation

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ArenaVectorEnv", "make_vec"]

_MOST_ROWS = 2**32
_MOST_THREADS = 1024

REWARDS = ("game", "exact")

_OWN_PROCESS = os.getpid()


@atexit.register
def _close() -> None:
    """Keeps threads from returning from a step while the interpreter ends."""
    # Steps of threads that were not forked with this process will never end here.
    if os.getpid() == _OWN_PROCESS:
        _native.close()

_Step = tuple[
    Any, npt.NDArray[np.float32], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]
]


def make_vec(
    game: str,
    num_envs: int | None = None,
    *,
    matches: int | None = None,
    seed: int | Sequence[int] | None = None,
    players: int | None = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    observation: str = "vector",
    copy: bool = True,
    masks: bool = True,
    bad_action: str = "play",
    threads: int = 1,
    opponent: AnyOpponent = None,
    opponents: Sequence[AnyOpponent] | None = None,
    seat: int | str = 0,
    reward: str = "game",
    **rules: Option,
) -> ArenaVectorEnv:
    """Many matches of a game, stepped at once.

    `game` is the id of a game that can be played in batches; for any other game the `ValueError` lists those that can.
    `num_envs` is the number of rows: one for each match, but in Last Bullet one for each survivor; there `matches` may be given
    instead. `players` is the number of seats in a match. `rules` are the options of the rules, by name.

    `seed` is one for all (the chance of match i is a hash of the seed and i) or one for each match; a match
    depends only on its seed and its actions, not on `num_envs` or `threads`.

    With `copy=False` a step overwrites the arrays of the last one, which saves memory. With `masks=False`
    there is no `infos["action_mask"]`, which saves time in games with many actions. An illegal action is played by
    the game's rule for a bad action and marked in `infos["bad_action"]`; with `bad_action="raise"` it is a `ValueError`.

    With `opponent` (one for all other seats) or `opponents` (one for each), a row is a match of the learner, and only its
    decisions are steps: see `necrodome.opponents` for the kinds of opponents. In Last Bullet a row is then a survivor of the
    learner's entry. `seat` is the learner's, or `"rotate"` for another in each match. An illegal action of an opponent is
    marked in `infos["opponent_bad_action"]`, or raised, like those of the learner.

    With `reward="exact"` the reward of an action is minus its regret by the exact solution, and `infos` has `regret`, `luck`
    and `game_reward`: in `zombie-dice-solo` and, for two, in `zombie-dice-race`, `zombie-dice` and `tokyo`.

    >>> make_vec("zombie-dice", num_envs=8, players=4, seed=3).reset()[0].shape
    (8, 18)
    >>> make_vec("zombie-dice", num_envs=8, players=4, opponent="greedy", seed=3).reset()[0].shape
    (8, 18)
    """
    return ArenaVectorEnv(
        game,
        num_envs,
        matches=matches,
        seed=seed,
        players=players,
        autoreset_mode=autoreset_mode,
        observation=observation,
        copy=copy,
        masks=masks,
        bad_action=bad_action,
        threads=threads,
        opponent=opponent,
        opponents=opponents,
        seat=seat,
        reward=reward,
        **rules,
    )


class ArenaVectorEnv(VectorEnv[Any, Any, Any]):
    """Matches side by side. A row is a match; in Last Bullet, where all decide at once, it is a survivor.

    In games of several seats a row's observation is that of the seat that decides (`to_act()`), and its reward that of the
    seat that has just acted. `infos["final_rewards"]` has the rewards of all seats, in the rows marked by
    `infos["_final_rewards"]`, whose match has ended in this step.

    With `AutoresetMode.SAME_STEP`, `infos["final_obs"]` is an array like the observations. In the rows marked
    by `infos["_final_obs"]` it holds the last observations of the episodes that have ended.

    `infos["action_mask"]` marks the legal actions of each row; `infos["bad_action"]` exists if some rows' actions were
    illegal, and marks them. With opponents, a row has only the learner's observations and rewards. In Last Bullet
    `infos["alive"]` marks the rows whose survivor lives.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}

    def __init__(
        self,
        game: str,
        num_envs: int | None = None,
        *,
        matches: int | None = None,
        seed: int | Sequence[int] | None = None,
        players: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        observation: str = "vector",
        copy: bool = True,
        masks: bool = True,
        bad_action: str = "play",
        threads: int = 1,
        opponent: AnyOpponent = None,
        opponents: Sequence[AnyOpponent] | None = None,
        seat: int | str = 0,
        reward: str = "game",
        render_mode: Option = None,
        **rules: Option,
    ) -> None:
        check_observation(observation)
        if not isinstance(game, str):
            raise TypeError(f"game {game!r}: expected the id of a game, such as 'zombie-dice-solo'")
        if render_mode is not None:
            raise ValueError(f"render_mode {render_mode!r}: a vector environment is not drawn, expected None")
        mode = _mode(autoreset_mode)
        asked, learner = _opponents(game, opponent, opponents, seat, players, rules)
        self.game = game
        self.autoreset_mode = mode
        self.metadata = {**ArenaVectorEnv.metadata, "autoreset_mode": mode}
        self._native = _native.Vector(
            game,
            rows=None if num_envs is None else whole("num_envs", num_envs, 1, _MOST_ROWS),
            matches=None if matches is None else whole("matches", matches, 1, _MOST_ROWS),
            seats=None if players is None else whole("players", players, 1, _MOST_ROWS),
            autoreset=mode.name.lower(),
            threads=whole("threads", threads, 1, _MOST_THREADS),
            options=rules_as_json(rules),
            copy=_flag("copy", copy),
            named=observation == "dict",
            masks=_flag("masks", masks),
            bad_action=one_of("bad_action", bad_action, BAD_ACTIONS),
            opponents=asked,
            seat=learner,
            exact=one_of("reward", reward, REWARDS) == "exact",
            memory=memory(),
        )
        # The pools among the opponents, whose members are rated by the results.
        self._draws = list({id(one): one for one in asked or () if isinstance(one, Draws)}.values())
        self.players = self._native.seats
        self.num_matches = self._native.matches
        self.num_envs = self._native.rows
        self._made: dict[str, Any] = {
            "num_envs": self.num_envs,
            "players": self.players,
            "autoreset_mode": mode,
            "observation": observation,
            "copy": copy,
            "masks": masks,
            "bad_action": bad_action,
            "threads": threads,
            "opponent": opponent,
            "opponents": opponents,
            "seat": seat,
            "reward": reward,
            **rules,
        }
        self.layout = Layout.from_json(self._native.fields(), self._native.dtype.type)
        self.single_action_space = spaces.Discrete(self._native.actions)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        if observation == "dict":
            self.single_observation_space = self.layout.dict_space()
        else:
            self.single_observation_space = self.layout.vector_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._seeded = False
        if seed is not None:
            self._seed(seed)
        # The native method itself: nothing between the caller and the kernel.
        if not self._draws:
            self.step = self._native.step  # type: ignore[method-assign]

    def _seed(self, seed: int | Sequence[int | None], marks: list[bool] | None = None) -> None:
        """Starts the chance of all matches anew, or with `marks` only that of the marked ones."""
        if isinstance(seed, (int, float, np.integer, np.floating)):
            number = checked_seed(seed)
            self._native.seed(number, marks)
            seeds: list[int | None] = [number] * self.num_matches
        else:
            seeds = checked_seeds(seed, self.num_matches)
            if marks is not None:
                seeds = [one if marked else None for one, marked in zip(seeds, marks)]
            self._native.seed_each(seeds)
        for draws in self._draws:
            marked = marks or [True] * self.num_matches
            draws.seed({row: one for row, one in enumerate(seeds) if one is not None and marked[row]})
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

        The mask has a boolean for each of the `num_envs` rows. In Last Bullet, where a match has many rows, all of them are
        marked or none. With a seed the chance of these matches begins anew; without one it goes on.
        """
        marks = self._marked(options)
        if seed is not None:
            self._seed(seed, marks if self._seeded else None)
        elif not self._seeded:
            self._seed(secrets.randbits(64))
        return self._native.reset(marks)

    def step(self, actions: Any) -> _Step:
        """Plays an action in each row."""
        # The match that a row is in now is the one that can end in this step: others may have begun after it.
        matches = self._native.learners()[1]
        told = self._native.step(actions)
        self._tell_pools(matches, told[1], told[-1])
        return told

    def _tell_pools(
        self, matches: npt.NDArray[np.int64], rewards: npt.NDArray[np.float32], infos: dict[str, Any]
    ) -> None:
        """Rates the members of pools whose matches have ended; `infos["opponent"]` has their names."""
        if "_final_rewards" not in infos:
            return
        rows = np.flatnonzero(infos["_final_rewards"])
        matches = matches[rows]
        rewards = infos.get("game_reward", rewards)[rows]
        names = np.full(self.num_envs, None, dtype=object)
        # With several pools, the first is named.
        names[rows] = [draws.ended(rows, matches, rewards) for draws in self._draws][0]
        infos["opponent"], infos["_opponent"] = names, infos["_final_rewards"]

    def learner_seats(self) -> npt.NDArray[np.uint8]:
        """The learner's seat in each row, where opponents play."""
        return self._native.learners()[0]

    def observations(self) -> Any:
        """The observations now, as the last `reset` or `step` returned them."""
        return self._native.observations()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions now: a row of flags for each row."""
        return self._native.masks()

    def to_act(self) -> npt.NDArray[np.uint8]:
        """The seat that decides in each row."""
        return self._native.to_act()

    def final_rewards(self) -> npt.NDArray[np.float32]:
        """The rewards of each seat in the last match that ended, for each row."""
        return self._native.final_rewards().reshape(self.num_envs, self.players)

    def save(self) -> bytes:
        """The whole state, including the coming dice. Keep it from agents: it reveals the future."""
        state = bytes(self._native.save())
        if not self._draws:
            return state
        drawn = json.dumps([draws.save() for draws in self._draws]).encode()
        return len(drawn).to_bytes(8, "little") + drawn + state

    def restore(self, saved: bytes) -> None:
        """Restores what `save` returned for an environment of the same shape and rules."""
        if not isinstance(saved, (bytes, bytearray, memoryview)):
            raise TypeError(f"expected the bytes that save gave, got {type(saved).__name__}")
        state, drawn = bytes(saved), []
        if self._draws:
            length = int.from_bytes(state[:8], "little")
            try:
                drawn = json.loads(state[8 : 8 + length])
            except ValueError:
                raise ValueError("not a save of an environment with a pool of opponents") from None
            state = state[8 + length :]
        before = [draws.save() for draws in self._draws]
        restore_draws(self._draws, drawn)
        try:
            self._native.restore(state)
        except ValueError:
            restore_draws(self._draws, before)
            raise
        self._seeded = True

    def clone(self, *, seed: int | Sequence[int | None] | None = None) -> Self:
        """An independent copy that continues exactly as this one would.

        With seeds it continues with other dice, for a search that must not know the coming ones.
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


def _opponents(
    game: str,
    opponent: AnyOpponent,
    opponents: Sequence[AnyOpponent] | None,
    seat: int | str,
    players: int | None,
    rules: dict[str, Option],
) -> tuple[list[Any] | None, int | None]:
    """The opponent in each of the other seats, and the seat of the learner (None if it changes)."""
    if opponent is None and opponents is None:
        if isinstance(seat, str) or seat != 0:
            raise ValueError(f"seat {seat!r}: only with opponent or opponents, or all seats are yours")
        return None, None
    if isinstance(seat, str) and seat != "rotate":
        raise ValueError(f"seat {seat!r}: expected a number, or 'rotate'")
    others = line_up(opponent, opponents, players, game)
    table = Table(game, rules_as_json(rules), len(others) + 1)
    # One that has several seats is asked once for all of them.
    known = {id(one): one for one in others}
    asked = {number: seated(one, table) for number, one in known.items()}
    return [asked[id(one)] for one in others], None if isinstance(seat, str) else whole("seat", seat, 0, len(others))


def _mode(mode: AutoresetMode | str) -> AutoresetMode:
    if isinstance(mode, AutoresetMode):
        return mode
    for known in AutoresetMode:
        if isinstance(mode, str) and mode.lower() in (known.name.lower(), str(known.value).lower()):
            return known
    names = ", ".join(repr(known.name.lower()) for known in AutoresetMode)
    error = ValueError if isinstance(mode, str) else TypeError
    raise error(f"autoreset_mode {mode!r}: expected an AutoresetMode or one of {names}")


def _flag(name: str, value: bool) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(f"{name} {value!r}: expected True or False")
