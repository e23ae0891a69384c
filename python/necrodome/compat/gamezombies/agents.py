"""Agents that come with GameZombies, with their names and methods."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from .state import DESCRIPTOR

__all__ = ["AbsAgent", "HumanAgent", "SimplePlayer"]


class AbsAgent:
    """A base class for agents: it keeps the state and splits it into fields."""

    def __init__(self, sep: str = "-") -> None:
        self.separator = sep

    def wakeUp(self, initialStateStr: str, stateDsc: list[str], actionSpace: list[str]) -> None:
        """Called when a game begins."""
        self.state, self.descriptor, self.score = initialStateStr, stateDsc, 0

    def perceive(self, reachedStateStr: str, reward: float) -> None:
        """Called with the result of the last action."""

    def decide(self, isValidAction: Callable[[object], bool]) -> str | None:
        """Returns the next action."""
        return None

    def sleep(self, score: int) -> None:
        """Called when the game is over."""
        self.score = score

    def stateStr(self) -> str:
        """The state."""
        return self.state

    def stateVector(self) -> list[str]:
        """The fields of the state."""
        return self.state.split(self.separator)

    def stateDico(self) -> dict[str, str]:
        """The fields of the state by name."""
        return dict(zip(self.descriptor, self.stateVector()))


class HumanAgent(AbsAgent):
    """Asks a person at the terminal."""

    def wakeUp(self, initialStateStr: str, stateDsc: list[str], actionSpace: list[str]) -> None:
        super().wakeUp(initialStateStr, stateDsc, actionSpace)
        print(f"A new game: {initialStateStr}\nType one of {', '.join(actionSpace)}.")

    def perceive(self, reachedStateStr: str, reward: float) -> None:
        self.state = reachedStateStr
        print(f"{reachedStateStr}   reward {reward}")

    def decide(self, isValidAction: Callable[[object], bool]) -> str:
        action = input("> ")
        while not isValidAction(action):
            action = input("> ")
        return action

    def sleep(self, score: int) -> None:
        super().sleep(score)
        print(f"The score is {score}.")


class SimplePlayer(AbsAgent):
    """Goes on until it has a brain, and then as long as a coin toss says so."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "SimpleAI"
        #: How likely it is to go on.
        self.told = 0.5

    def stateDico(self) -> dict[str, Any]:
        """The fields of a state for two, by the engine's names."""
        fields = self.state.split(self.separator)
        names = (*(name.lower() for name in DESCRIPTOR), "score", "oponent")
        return {name: int(text) if text.isdecimal() else text for name, text in zip(names, fields[:8] + fields[9:])}

    def perceive(self, reachedStateStr: str, reward: float) -> None:
        self.state = reachedStateStr

    def decide(self, isValidAction: Callable[[object], bool]) -> str:
        return "go" if self.state.startswith("0-") or random.random() < self.told else "stop"
