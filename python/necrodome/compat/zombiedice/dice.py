"""The dice of the ``zombiedice`` module: its words, and the shapes in which it shows a roll."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, TypedDict

#: Places in a :class:`DieRoll`.
COLOR: Final = 0
ICON: Final = 1

RED: Final = "red"
GREEN: Final = "green"
YELLOW: Final = "yellow"
SHOTGUN: Final = "shotgun"
BRAINS: Final = "brains"
FOOTSTEPS: Final = "footsteps"

#: The dice of a full cup.
FULL_CUP = [RED] * 3 + [YELLOW] * 4 + [GREEN] * 6

_SIDES = {
    GREEN: [BRAINS] * 3 + [FOOTSTEPS] * 2 + [SHOTGUN],
    YELLOW: [BRAINS] * 2 + [FOOTSTEPS] * 2 + [SHOTGUN] * 2,
    RED: [BRAINS] + [FOOTSTEPS] * 2 + [SHOTGUN] * 3,
}
#: Faces of the arena's dice, as this module calls them.
_ICONS = {"brain": BRAINS, "footsteps": FOOTSTEPS, "shotgun": SHOTGUN}


class DieRoll(NamedTuple):
    """A die on the table."""

    color: str
    icon: str


class Roll(TypedDict):
    """What ``roll()`` gives: how many of each icon, and the three dice."""

    shotgun: int
    footsteps: int
    brains: int
    rolls: list[DieRoll]


def rollDie(die: str) -> DieRoll | None:
    """Rolls one die of a colour, for experiments: it is none of the match. Nothing for what is no colour."""
    sides = _SIDES.get(die)
    return DieRoll(die, random.choice(sides)) if sides else None


def rolled(hand: Iterable[Mapping[str, Any]]) -> Roll:
    """A hand of the arena as ``roll()`` gives it."""
    dice = [DieRoll(die["colour"], _ICONS[die["face"]]) for die in hand]
    icons = [die.icon for die in dice]
    return {
        "shotgun": icons.count(SHOTGUN),
        "footsteps": icons.count(FOOTSTEPS),
        "brains": icons.count(BRAINS),
        "rolls": dice,
    }
