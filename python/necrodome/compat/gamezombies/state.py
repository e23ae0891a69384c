"""States as texts."""

from __future__ import annotations

from collections.abc import Sequence

#: The names of the fields of a state.
DESCRIPTOR = ["Brain", "Shoot", "D1", "D2", "D3", "EASY", "MEDIUM", "HARD"]
#: What an agent may answer.
ACTIONS = ["go", "stop"]

#: The words for a die, by its colour times three and its face.
DICE = [f"{colour}({face})" for colour in ("EASY", "MEDI", "HARD") for face in ("Brain", "Run", "Gun")]
#: The state of a turn before its first roll.
FRESH = "0-0-UNDEFINED-UNDEFINED-UNDEFINED-6-4-3"

COLOURS = ("green", "yellow", "red")
FACES = ("brain", "footsteps", "shotgun")


def is_valid(action: object) -> bool:
    """Whether an answer is an action."""
    return action in ACTIONS


def state_of(brains: int, shotguns: int, dice: Sequence[int], cup: Sequence[int]) -> str:
    """Writes a state after a roll; a die is its colour (0 easy, 1 medium, 2 hard) times three, plus 0 for a brain, 1 for running, 2 for a gun.

    >>> state_of(1, 1, (1, 0, 2), (3, 4, 3))
    '1-1-EASY(Run)-EASY(Brain)-EASY(Gun)-3-4-3'
    """
    one, two, three = dice
    easy, medium, hard = cup
    return f"{brains}-{shotguns}-{DICE[one]}-{DICE[two]}-{DICE[three]}-{easy}-{medium}-{hard}"


def with_scores(state: str, own: int, other: int) -> str:
    """Adds the scores to a state, for the game for two."""
    return f"{state}-score:-{own}-{other}"
