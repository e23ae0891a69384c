"""The names that players of godzilla-v2 import: its constants, the state of a player, and the base class of players."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from enum import Enum
from typing import Any

MAX_HEALTH = 10
VICTORY_PTS_WIN = 20
DIE_COUNT = 6
ENTER_TOKYO_PTS = 1
START_TOKYO_PTS = 2
MAX_ROLLS = 3


class DIESIDE(str, Enum):
    """The sides of a die."""

    ATTACK = "Attack"
    HEAL = "Heal"
    ONE = "1"
    TWO = "2"
    THREE = "3"


@dataclass
class PlayerState:
    """The public state of a player."""

    health: int = MAX_HEALTH
    victory_points: int = 0
    in_tokyo: bool = False

    def model_dump(self) -> dict[str, Any]:
        """The fields as a dict."""
        return asdict(self)

    def model_copy(self, *, update: dict[str, Any] | None = None, deep: bool = False) -> PlayerState:
        """A copy, with some fields changed."""
        return replace(self, **(update or {}))


#: What is known of the other players: by name, the index and the state.
Others = dict[str, tuple[int, PlayerState]]


class Player(ABC):
    """The base class of players."""

    def __init__(self, idx: int, name: str) -> None:
        self.idx = idx
        self._name = name
        self.min_health, self.max_health = 0, MAX_HEALTH
        self.min_victory_points, self.max_victory_points = 0, VICTORY_PTS_WIN
        self.reset()

    @property
    def name(self) -> str:
        """The name of the player."""
        return self._name

    @property
    def state(self) -> PlayerState:
        """A copy of the player's state: changes to it have no effect."""
        return copy.copy(self._state)

    def reset(self) -> None:
        """Resets the state to the start of a game."""
        self._state = PlayerState()

    def set_health(self, n: int) -> None:
        """Sets the health that the player sees, within bounds."""
        self._state.health = max(self.min_health, min(self.max_health, n))

    def set_victory_points(self, n: int) -> None:
        """Sets the points that the player sees, within bounds."""
        self._state.victory_points = max(self.min_victory_points, min(self.max_victory_points, n))

    def set_tokyo(self, in_tokyo: bool) -> None:
        """Sets whether the player sees itself in Tokyo."""
        self._state.in_tokyo = in_tokyo

    def increment_health(self, n: int) -> None:
        """Adds to the health that the player sees."""
        self.set_health(self._state.health + n)

    def increment_victory_points(self, n: int) -> None:
        """Adds to the points that the player sees."""
        self.set_victory_points(self._state.victory_points + n)

    @abstractmethod
    def keep_dice(self, dice_results: list[DIESIDE], other_player_states: Others, roll_counter: int) -> Any:
        """The mask of the dice to keep, alone or with a reason."""

    @abstractmethod
    def yield_tokyo(self, other_player_states: Others) -> Any:
        """Whether to leave Tokyo, alone or with a reason."""

    def construct_gamestate(self, other_player_states: Others) -> dict[str, Any]:
        """Describes the game as this player knows it."""
        others = other_player_states.items()
        return {
            "ego_agent": {"name": self.name, "idx": self.idx, "state": self.state.model_dump()},
            "other_agents": [{"name": name, "idx": idx, "state": state} for name, (idx, state) in others],
        }

    def llm_call(self, *_: Any, **__: Any) -> Any:
        """Only the program's own player asks a model."""
        raise RuntimeError(
            "llm_call needs the program's own player.py and llm folder above this file, and what they import (litellm, pydantic)"
        )

    def __str__(self) -> str:
        return f"p{self.idx}_{self.name}"
