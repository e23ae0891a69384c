"""One seat of a match as a Gymnasium environment: the other seats are played by built-in bots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from .. import _native
from .base import RENDER_MODES, Option, RefereeEnv
from .spaces import Layout


class VersusEnv(RefereeEnv, gymnasium.Env[Any, int]):
    """A match against built-in bots, as one agent sees it.

    >>> env = VersusEnv("zombie-dice-race", opponent="stop-at:brains=5")
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(1)

    `opponents` are names of built-in bots, as `necrodome bots` lists them; `"optimal"` is the perfect player. A single one
    can be given as `opponent`. Some games have a name for `gymnasium.make`, with opponents to begin with.

    A step plays the action and then all that the others do until this seat is asked again. Actions,
    observations and rewards are those of the PettingZoo environments; `info["action_mask"]` and
    `action_masks()` tell which actions are legal. For an illegal one the game's rule for a bad action
    applies, and `info["bad_action"]` is true.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}

    def __init__(
        self,
        game: str,
        opponents: Sequence[str] | None = None,
        seat: int = 0,
        *,
        opponent: str | None = None,
        observation: str = "vector",
        render_mode: str | None = None,
        **rules: Option,
    ) -> None:
        if opponent is not None and opponents is None:
            opponents = [opponent]
        elif opponents is None or opponent is not None:
            came = "none" if opponents is None else "both"
            raise ValueError(f"the other seats of {game}: expected either opponents or opponent, got {came}")
        seats = len(opponents) + 1
        if not 0 <= seat < seats:
            raise ValueError(f"seat {seat}: expected a number from 0 to {seats - 1}")
        names = [f"bot_{other}" for other in range(seats)]
        names[seat] = "you"
        super().__init__(game, names, rules, observation, render_mode)
        self._seat = seat
        # The bot of each seat; the own one's is never asked.
        self._bots = [*opponents[:seat], "", *opponents[seat:]]
        for bot in opponents:
            self._referee.bot_action(bot, self._referee.to_act()[0], 0)
        self.layout = Layout.from_json(self._referee.fields())
        named = observation == "dict"
        self.observation_space = self.layout.dict_space() if named else self.layout.vector_space()
        self.action_space = spaces.Discrete(self._referee.actions())  # type: ignore[assignment]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins a new match, at the first decision of this seat."""
        gymnasium.Env.reset(self, seed=seed, options=options)
        self._random = self.np_random
        while True:
            self._begin(None)
            self._let_others_play(self._referee)
            if self._referee.to_act():
                break
        if self.render_mode == "human":
            self.render()
        return self._observe(), self._info()

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Plays an action, and lets the others play."""
        if not self._referee.to_act():
            raise ValueError("the match is over: call reset first")
        action = int(action)
        mask = self.action_masks()
        legal = not 0 <= action < len(mask) or bool(mask[action])
        if legal:
            self._referee.step([action])
        else:
            self._referee.apply("[null]")
        reward = self._referee.rewards()[self._seat] + self._let_others_play(self._referee)
        if self.render_mode == "human":
            self.render()
        info = self._info() if legal else {**self._info(), "bad_action": True}
        return self._observe(), reward, not self._referee.to_act(), False, info

    def _let_others_play(self, referee: _native.Referee) -> float:
        """Plays on until this seat is asked or the match is over; gives what this seat got meanwhile."""
        reward = 0.0
        while (to_act := referee.to_act()) and to_act[0] != self._seat:
            seed = int(self.np_random.integers(2**63))
            action = referee.bot_action(self._bots[to_act[0]], to_act[0], seed)
            referee.apply(f"[{action}]")
            reward += referee.rewards()[self._seat]
        return reward

    def _observe(self) -> Any:
        vector = self._referee.observe(self._seat)
        return self.layout.named(vector) if self._observation == "dict" else vector

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks().astype(np.int8)}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions are legal."""
        return self._referee.mask(self._seat)

    def _agent_keys(self) -> tuple[str, ...]:
        return ()

    def _save_agents(self) -> dict[str, Any]:
        return {}

    def _restore_agents(self, parts: Mapping[str, Any], referee: _native.Referee) -> None:
        if referee.to_act() not in ([], [self._seat]):
            raise ValueError(f"a saved environment: seat {self._seat} is not to act in it")

    def restore(self, saved: bytes) -> None:
        """Goes on from what `save` gave; a damaged save is a `ValueError`, and then nothing has changed."""
        super().restore(saved)
        assert self._random is not None
        self.np_random = self._random

    def _reseed(self, seed: int) -> None:
        super()._reseed(seed)
        assert self._random is not None
        self.np_random = self._random
