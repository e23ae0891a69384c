"""Zombies to play against, with the names and arguments of those that come with the ``zombiedice`` module."""

from __future__ import annotations

import random
import time

from . import BRAINS, ICON, SHOTGUN, roll, rollDie

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class _Named:
    def __init__(self, name: str) -> None:
        self.name = name


class RandomCoinFlipZombie(_Named):
    """Rolls, then tosses a coin to decide whether to roll again."""

    def turn(self, gameState: Mapping[str, Any]) -> None:
        while roll() is not None and random.random() < 0.5:
            pass


class MinNumShotgunsThenStopsZombie(_Named):
    """Rolls until it has this many shotguns."""

    def __init__(self, name: str, minShotguns: int = 2) -> None:
        super().__init__(name)
        self.minShotguns = minShotguns

    def turn(self, gameState: Mapping[str, Any]) -> None:
        self.roll_until_shot()

    def roll_until_shot(self) -> bool:
        """Whether the turn can go on."""
        shotguns = 0
        while shotguns < self.minShotguns:
            rolled = roll()
            if rolled is None:
                return False
            shotguns += rolled[SHOTGUN]
        return True


class MinNumShotgunsThenStopsOneMoreZombie(MinNumShotgunsThenStopsZombie):
    """Rolls until it has this many shotguns, then once more."""

    def turn(self, gameState: Mapping[str, Any]) -> None:
        if self.roll_until_shot():
            roll()


class HumanPlayerZombie(_Named):
    """Asks a person at the terminal."""

    def turn(self, gameState: Mapping[str, Any]) -> None:
        for name, score in gameState["SCORES"].items():
            print(f"{score:>5}  {name}")
        brains = shotguns = 0
        while (rolled := roll()) is not None:
            brains, shotguns = brains + rolled[BRAINS], shotguns + rolled[SHOTGUN]
            print(", ".join(f"{die.color} {die.icon}" for die in rolled["rolls"]))
            print(f"brains {brains}, shotguns {shotguns}")
            if shotguns >= 3 or input("Enter to roll, s to stop: ").lower().startswith("s"):
                return


class RollsUntilInTheLeadZombie(_Named):
    """Rolls until it leads by more than this many points; if it leads already, it stops at two shotguns."""

    def __init__(self, name: str, plusLead: int = 0) -> None:
        super().__init__(name)
        self.plusLead = plusLead
        self.altZombieStrategy = MinNumShotgunsThenStopsZombie(f"{name}_alt", 2)

    def turn(self, gameState: Mapping[str, Any]) -> None:
        me = gameState["CURRENT_ZOMBIE"]
        wanted = max(score for name, score in gameState["SCORES"].items() if name != me) + self.plusLead
        score = gameState["SCORES"][me]
        if score > wanted:
            self.altZombieStrategy.turn(gameState)
            return
        while score <= wanted and (rolled := roll()) is not None:
            score += rolled[BRAINS]


class MonteCarloZombie(_Named):
    """Rolls again while few of its experiments with a full cup end with the third shotgun."""

    def __init__(self, name: str, riskiness: float = 50, numExperiments: int = 100) -> None:
        super().__init__(name)
        self.riskiness = riskiness
        self.numExperiments = numExperiments

    def turn(self, gameState: Mapping[str, Any]) -> None:
        shotguns = 0
        while (rolled := roll()) is not None:
            shotguns += rolled[SHOTGUN]
            if shotguns >= 3 or not self.dares(shotguns, gameState["CURRENT_CUP"]):
                return

    def dares(self, shotguns: int, cup: list[str]) -> bool:
        """Whether the share of experiments that end the turn is below its riskiness, in percent."""
        deaths = 0
        for _ in range(self.numExperiments):
            dice = [rollDie(die) for die in random.sample(cup, 3)]
            deaths += shotguns + sum(die is not None and die[ICON] == SHOTGUN for die in dice) >= 3
        return deaths / self.numExperiments * 100 < self.riskiness


class CrashZombie(_Named):
    """Raises an error, for testing."""

    def turn(self, gameState: Mapping[str, Any]) -> None:
        raise ZeroDivisionError("an error on purpose")


class SlowZombie(_Named):
    """Takes two seconds, for testing."""

    def turn(self, gameState: Mapping[str, Any]) -> None:
        time.sleep(2)
        roll()


class AlwaysRollsTwiceZombie(_Named):
    """Rolls twice."""

    def turn(self, gameState: Mapping[str, Any]) -> None:
        roll()
        roll()
