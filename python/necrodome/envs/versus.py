"""One seat of a match as a Gymnasium environment: opponents play the other seats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from .. import _native
from ..opponents import AnyOpponent, Draws, Table, answer, line_up, restore_draws, seated
from .arguments import checked_seed, not_begun, whole
from .base import RENDER_MODES, Option, RefereeEnv
from .spaces import Layout

# The only row.
_FIRST = np.zeros(1, dtype=np.int64)


class VersusEnv(RefereeEnv, gymnasium.Env[Any, int]):
    """A match against opponents, as one agent sees it.

    >>> env = VersusEnv("zombie-dice-race", opponent="stop-at:brains=5")
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(1)

    `opponents` are names of built-in bots, as `necrodome bots` lists them (`"optimal"` is the perfect player), or any other
    opponents of `necrodome.opponents`: functions, policies, objects, programs, pools. A single one
    can be given as `opponent`. Some games have a name for `gymnasium.make`, with default opponents.

    A step plays the action and then all actions of the others until this seat is asked again. Actions,
    observations and rewards are those of the PettingZoo environments; `info["action_mask"]` and
    `action_masks()` mark the legal actions. An illegal one is played by the game's rule for a bad
    action, and `info["bad_action"]` is true; with `bad_action="raise"` it is a `ValueError`. The same holds for an
    illegal action of an opponent and `info["opponent_bad_action"]`.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}

    def __init__(
        self,
        game: str,
        opponents: Sequence[AnyOpponent] | None = None,
        seat: int = 0,
        *,
        opponent: AnyOpponent = None,
        observation: str = "vector",
        render_mode: str | None = None,
        bad_action: str = "play",
        usual: Sequence[AnyOpponent] | None = None,
        **rules: Option,
    ) -> None:
        if opponent is None and opponents is None:
            if usual is None:
                raise ValueError(f"the other seats of {game}: expected either opponents or opponent, got none")
            opponents = usual
        opponents = line_up(opponent, opponents, None, game)
        seats = len(opponents) + 1
        seat = whole("seat", seat, 0, seats - 1)
        names = [f"bot_{other}" for other in range(seats)]
        names[seat] = "you"
        super().__init__(game, names, rules, observation, render_mode, bad_action)
        if len(self._referee.to_act()) > 1:
            raise ValueError(
                f"{game}: everybody decides at once, expected a game in turns: use necrodome.make_vec({game!r}, opponent=...)"
            )
        self._seat = seat
        # The bot of each seat; the own one's is never asked.
        self._bots = [*opponents[:seat], "", *opponents[seat:]]
        table = Table(game, self._options, seats)
        # One that has several seats is asked for all of them.
        asked = {id(bot): seated(bot, table) for bot in opponents}
        self._asked = [asked.get(id(bot), "") for bot in self._bots]
        self._draws = [bot for bot in asked.values() if isinstance(bot, Draws)]
        self._matches = 0
        # Whether an opponent has chosen an illegal action since the last step of this seat.
        self._opponent_bad = False
        for bot in self._asked:
            if bot != "" and isinstance(bot, str):
                self._referee.bot_action(bot, self._referee.to_act()[0], 0)
        self.layout = Layout.from_json(self._referee.fields())
        named = observation == "dict"
        self.observation_space = self.layout.dict_space() if named else self.layout.vector_space()
        self.action_space = spaces.Discrete(self._referee.actions())  # type: ignore[assignment]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins a new match, and plays up to the first decision of this seat."""
        gymnasium.Env.reset(self, seed=None if seed is None else checked_seed(seed), options=options)
        self._random = self.np_random
        while True:
            self._begin(None)
            self._matches += 1
            self._let_others_play(self._referee)
            if self._referee.to_act():
                break
        if self.render_mode == "human":
            self.render()
        return self._observe(), self._info()

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Plays an action, and lets the others play."""
        if self._random is None:
            raise not_begun()
        if not self._referee.to_act():
            raise ResetNeeded("the match is over: call reset")
        if self._referee.to_act() != [self._seat]:
            raise ResetNeeded("an opponent has raised an error in the middle of a step: call reset")
        legal = self._play(action, self._seat)
        reward = self._referee.rewards()[self._seat] + self._let_others_play(self._referee)
        if not self._referee.to_act():
            for draws in self._draws:
                draws.ended(_FIRST, np.array([self._matches]), np.array([reward], dtype=np.float32))
        if self.render_mode == "human":
            self.render()
        info = self._info() if legal else {**self._info(), "bad_action": True}
        return self._observe(), reward, not self._referee.to_act(), False, info

    def _let_others_play(self, referee: _native.Referee) -> float:
        """Plays on until this seat is asked or the match is over; returns this seat's reward meanwhile."""
        reward = 0.0
        self._opponent_bad = False
        while (to_act := referee.to_act()) and to_act[0] != self._seat:
            seat, seed = to_act[0], int(self.np_random.integers(2**63))
            action = answer(self._asked[seat], referee, seat, seed, self._matches)
            if not isinstance(self._asked[seat], str) and not referee.is_legal(action):
                if self._raises:
                    raise ValueError(f"seat {seat}: an opponent has chosen an action that is illegal now: {action}")
                action, self._opponent_bad = "null", True
            referee.apply(f"[{action}]")
            reward += referee.rewards()[self._seat]
        return reward

    def _observe(self) -> Any:
        vector = self._referee.observe(self._seat)
        return self.layout.named(vector) if self._observation == "dict" else vector

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": self.action_masks().astype(np.int8)}
        return {**info, "opponent_bad_action": True} if self._opponent_bad else info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions."""
        return self._referee.mask(self._seat)

    def _agent_keys(self) -> tuple[str, ...]:
        return ("matches", "drawn")

    def _save_agents(self) -> dict[str, Any]:
        return {"matches": self._matches, "drawn": [draws.save() for draws in self._draws]}

    def _restore_agents(self, parts: Mapping[str, Any], referee: _native.Referee) -> None:
        if referee.to_act() not in ([], [self._seat]):
            raise ValueError(f"a saved environment: seat {self._seat} is not to act in it")
        restore_draws(self._draws, parts["drawn"])
        self._matches = int(parts["matches"])

    def restore(self, saved: bytes) -> None:
        """Restores what `save` returned; a damaged save is a `ValueError`, and changes nothing."""
        super().restore(saved)
        assert self._random is not None
        self.np_random = self._random

    def _reseed(self, seed: int) -> None:
        super()._reseed(seed)
        assert self._random is not None
        self.np_random = self._random
