"""The dice of the ``zombiedice`` module: its words, and the form in which it shows a roll."""

from __future__ import annotations

import random
from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypedDict

    class Roll(TypedDict):
        """The return value of ``roll()``: the number of each icon, and the three dice."""

        shotgun: int
        footsteps: int
        brains: int
        rolls: list[DieRoll]


#: Places in a :class:`DieRoll`.
COLOR: Final = 0
ICON: Final = 1

RED: Final = "red"
GREEN: Final = "green"
YELLOW: Final = "yellow"
SHOTGUN: Final = "shotgun"
BRAINS: Final = "brains"
FOOTSTEPS: Final = "footsteps"

_SIDES = {
    GREEN: [BRAINS] * 3 + [FOOTSTEPS] * 2 + [SHOTGUN],
    YELLOW: [BRAINS] * 2 + [FOOTSTEPS] * 2 + [SHOTGUN] * 2,
    RED: [BRAINS] + [FOOTSTEPS] * 2 + [SHOTGUN] * 3,
}


#: A die on the table.
DieRoll = namedtuple("DieRoll", ["color", "icon"])


def rollDie(die: str) -> DieRoll | None:
    """Rolls one die of a colour, for experiments: it is not part of the match. Returns None for an unknown colour."""
    sides = _SIDES.get(die)
    return DieRoll(die, random.choice(sides)) if sides else None
