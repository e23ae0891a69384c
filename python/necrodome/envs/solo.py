"""Zombie Dice, solo: one turn as a decision problem (Gymnasium).

>>> import gymnasium
>>> env = gymnasium.make("necrodome/ZombieDiceSolo-v0", out_of_dice="recycle_brains")
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(1)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from .. import _native
from .base import Option, RefereeEnv
from .spaces import Layout
from .vector import ArenaVectorEnv, make_vec

_STOP, _GO = 0, 1


class SoloEnv(RefereeEnv, gymnasium.Env[Any, Any]):
    """One turn of Zombie Dice: roll (1) for more brains, or stop (0) and keep them.

    An observation is a vector of whole numbers: brains and shotguns of this turn, dice left in the cup (green,
    yellow, red), footsteps that will be rolled again (green, yellow, red); with `out_of_dice="recycle_brains"` also the
    brain dice set aside by colour, which can come back. `layout.fields` says it field by field, and
    `observation="dict"` gives the same numbers by name.

    The reward of a step is the change of what stopping now would bank: a bust takes all back, so rewards sum to the final
    score. `info["action_mask"]` and `action_masks()` mark the legal actions: all, but with `first_roll="mandatory"` the
    first one must be to roll.

    `save`, `restore` and `clone` keep the whole state, chance included, for search.
    """

    metadata: dict[str, Any] = {"render_modes": ["human", "ansi", "rgb_array"], "render_fps": 2}

    def __init__(self, render_mode: str | None = None, observation: str = "vector", **rules: Option) -> None:
        # The referee makes a mandatory first roll at once, and a turn can be lost with it. As an episode, a turn begins
        # before it, so that nothing is left out: the one legal action is to roll.
        self._mandatory = rules.get("first_roll") == "mandatory"
        if self._mandatory:
            rules = {**rules, "first_roll": "free"}
        RefereeEnv.__init__(self, "zombie-dice-solo", ["you"], rules, observation, render_mode)
        self.layout = Layout.from_json(self._referee.fields())
        self.observation_space = (
            self.layout.dict_space() if observation == "dict" else self.layout.vector_space()
        )
        self.action_space = spaces.Discrete(2)
        self._begun = False

    @property
    def rules(self) -> dict[str, Option]:
        """All options of the rules."""
        rules = super().rules
        return {**rules, "first_roll": "mandatory"} if self._mandatory else rules

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins a turn."""
        gymnasium.Env.reset(self, seed=seed)
        self._begin(seed)
        self._begun = False
        if self.render_mode == "human":
            self.render()
        return self._observe(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Rolls (1) or stops (0)."""
        if self._random is None:
            raise gymnasium.error.ResetNeeded("call reset before the first step")
        if not self._referee.to_act():
            raise gymnasium.error.ResetNeeded("the turn is over: call reset")
        if not self.action_space.contains(action):
            raise ValueError(f"expected an action, 0 (stop) or 1 (roll), got {action!r}")
        if not self.action_masks()[int(action)]:
            raise ValueError("the first roll is mandatory: expected 1 (roll), got 0 (stop)")
        self._referee.step([int(action)])
        self._begun = True
        over = not self._referee.to_act()
        if self.render_mode == "human":
            self.render()
        return self._observe(), float(self._referee.rewards()[0]), over, False, self._info()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions are legal."""
        return np.array([self._begun or not self._mandatory, True])

    def _observe(self) -> Any:
        vector = self._referee.observe(0)
        return self.layout.named(vector) if self._observation == "dict" else vector

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks().astype(np.int8)}

    def _agent_keys(self) -> tuple[str, ...]:
        return ("begun",)

    def _save_agents(self) -> dict[str, Any]:
        return {"begun": self._begun}

    def _restore_agents(self, parts: Mapping[str, Any], referee: _native.Referee) -> None:
        self._begun = bool(parts["begun"])


def solo_vec(num_envs: int = 1, **options: Any) -> ArenaVectorEnv:
    """What `gymnasium.make_vec("necrodome/ZombieDiceSolo-v0", vectorization_mode="vector_entry_point")` gives."""
    return make_vec("zombie-dice-solo", num_envs, **options)
