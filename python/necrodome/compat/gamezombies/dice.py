"""The dice of GameZombies, for scripts that roll their own: these dice are not the arena's."""

from __future__ import annotations

import random
from enum import IntEnum

__all__ = ["Dice", "DiceFace", "DiceFace_str", "DiceFace_weight", "DiceType", "DiceType_str"]


class DiceType(IntEnum):
    """The kinds of dice, and a mark for a place without one."""

    EASY = 0
    MEDIUM = 1
    HARD = 2
    UNDEF = 3


class DiceFace(IntEnum):
    """The faces of a die."""

    BRAIN = 0
    GUN = 1
    RUN = 2


#: The words for them in a state.
DiceType_str = ["EASY", "MEDI", "HARD", "UNDEF"]
DiceFace_str = ["Brain", "Gun", "Run"]
#: How many sides of each kind show a brain, a gun, and one that runs. What is no die only runs.
DiceFace_weight = [[3, 1, 2], [2, 2, 2], [1, 3, 2], [0, 0, 1]]


class Dice:
    """A place in the hand."""

    type = DiceType.UNDEF
    face = DiceFace.RUN

    def setType(self, type: DiceType) -> None:
        """Puts another die into the place."""
        self.type, self.face = type, DiceFace.RUN

    def random_face(self) -> DiceFace:
        """A random face of this die."""
        return random.choices(list(DiceFace), DiceFace_weight[self.type])[0]

    def roll(self) -> None:
        """Rolls the die, which may show another face then."""
        self.face = self.random_face()

    def __str__(self) -> str:
        if self.type == DiceType.UNDEF:
            return "UNDEFINED"
        return f"{DiceType_str[self.type]}({DiceFace_str[self.face]})"
