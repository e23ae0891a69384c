"""Zombie Dice, solo: one turn as a decision problem (Gymnasium).

>>> import gymnasium
>>> env = gymnasium.make("necrodome/ZombieDiceSolo-v0", out_of_dice="recycle_brains")
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(1)
"""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from .. import _native
from .arguments import BAD_ACTIONS, checked_seed, one_of, rules_as_json
from .base import RENDER_MODES, Option, Rendered
from .spaces import Layout, check_observation
from .vector import ArenaVectorEnv, make_vec

if TYPE_CHECKING:
    from typing_extensions import Self


class SoloEnv(Rendered, gymnasium.Env[Any, Any]):
    """One turn of Zombie Dice: roll (1) for more brains, or stop (0) and keep them.

    An observation is a vector of whole numbers: brains and shotguns of this turn, dice left in the cup (green,
    yellow, red), footsteps that will be rolled again (green, yellow, red); with `out_of_dice="recycle_brains"` also the
    brain dice set aside by colour, which can come back. `layout.fields` describes each field, and
    `observation="dict"` gives the same numbers by name.

    The reward of a step is the change of what stopping now would bank: a bust takes everything back, so rewards sum to the
    final score. `info["action_mask"]` and `action_masks()` mark the legal actions: both, except that with
    `first_roll="mandatory"` the first one must be to roll. If it is not, it is played as a roll, and `info["bad_action"]` is
    true; with `bad_action="raise"` it is a `ValueError`.

    The same seed and actions give the same turns here and in a match of a vector environment. `save`, `restore` and
    `clone` keep the whole state, chance included, for search.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}
    game = "zombie-dice-solo"

    def __init__(
        self,
        render_mode: str | None = None,
        observation: str = "vector",
        bad_action: str = "play",
        **rules: Option,
    ) -> None:
        check_observation(observation)
        super().__init__(render_mode)
        raises = one_of("bad_action", bad_action, BAD_ACTIONS) == "raise"
        self._turn = _native.Solo(rules_as_json(rules), raises)
        self._seeded = False
        self._observation = observation
        self._made: dict[str, Any] = {
            "render_mode": render_mode,
            "observation": observation,
            "bad_action": bad_action,
            **rules,
        }
        self.names = ["you"]
        self.layout = Layout.from_json(self._turn.fields())
        self.observation_space = (
            self.layout.dict_space() if observation == "dict" else self.layout.vector_space()
        )
        self.action_space = spaces.Discrete(2)
        if observation == "vector" and render_mode != "human":
            # The native method itself: nothing between the caller and the dice.
            self.step = self._turn.step  # type: ignore[method-assign]

    @property
    def rules(self) -> dict[str, Option]:
        """All options of the rules."""
        return dict(json.loads(self._turn.rules))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins a turn."""
        if seed is not None:
            gymnasium.Env.reset(self, seed=checked_seed(seed))
            self._seed(seed)
        elif not self._seeded:
            self._seed(secrets.randbits(64))
        observation, info = self._turn.reset()
        if self.render_mode == "human":
            self.render()
        return self._shaped(observation), info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Rolls (1) or stops (0)."""
        observation, *rest = self._turn.step(action)
        if self.render_mode == "human":
            self.render()
        return self._shaped(observation), *rest

    def _seed(self, seed: int) -> None:
        self._turn.seed(checked_seed(seed))
        self._seeded = True

    def _shaped(self, vector: npt.NDArray[np.int16]) -> Any:
        return self.layout.named(vector) if self._observation == "dict" else vector

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions."""
        return self._turn.mask()

    def outcome(self) -> dict[str, Any] | None:
        """Place and score, once the turn is over."""
        outcome = self._turn.outcome()
        return None if outcome is None else dict(json.loads(outcome))

    def _shown(self) -> dict[str, Any]:
        to_act = [] if self._turn.over else [0]
        return {**json.loads(self._turn.view()), "to_act": to_act, "situation": self._turn.situation()}

    def save(self) -> bytes:
        """The whole state, including the coming dice. Keep it from agents: it reveals the future."""
        return bytes(self._turn.save())

    def restore(self, saved: bytes) -> None:
        """Restores what `save` returned for an environment of the same rules.

        A damaged save is a `ValueError`, and changes nothing.
        """
        self._turn.restore(saved)
        self._seeded = True

    def clone(self, *, seed: int | None = None) -> Self:
        """An independent copy that continues exactly as this one would.

        With a seed it continues with other dice, for a search that must not know the coming ones.
        """
        other = type(self)(**self._made)
        # What it was made as, and the generator that Gymnasium keeps for wrappers.
        other.spec = self.spec
        if self._np_random is not None:
            other.np_random = np.random.Generator(type(self._np_random.bit_generator)())
            other.np_random.bit_generator.state = self._np_random.bit_generator.state
        if self._turn.begun:
            other.restore(self.save())
        if seed is not None:
            other._seed(seed)
        return other

    def __deepcopy__(self, memo: Any) -> Self:
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._made, self.save() if self._turn.begun else None, self.spec)


def _rebuild(
    made: dict[str, Any], saved: bytes | None, spec: gymnasium.envs.registration.EnvSpec | None
) -> SoloEnv:
    env = SoloEnv(**made)
    env.spec = spec
    if saved is not None:
        env.restore(saved)
    return env


def solo_vec(num_envs: int = 1, **options: Any) -> ArenaVectorEnv:
    """Makes the environments of `gymnasium.make_vec("necrodome/ZombieDiceSolo-v0", vectorization_mode="vector_entry_point")`."""
    return make_vec("zombie-dice-solo", num_envs, **options)
