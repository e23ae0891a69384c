"""Matches as text and as pictures.

>>> cup = {"green": 6, "yellow": 4, "red": 3}
>>> view = {"turn": {"brains": 0, "shotguns": 0, "hand": None, "cup": cup}}
>>> print(text("zombie-dice-solo", view, ["you"]).splitlines()[0])
hand      not rolled yet
>>> picture("zombie-dice-solo", view, ["you"]).shape
(320, 440, 3)

What is shown is a view, as a seat has it, in the games that hide nothing (Zombie Dice, Tokyo). Infection and
Last Bullet are shown as the judge sees them, so they take the whole state. The key `to_act`, a list of seats,
marks who decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import infection, last_bullet, tokyo, words, zombie_dice
from .canvas import Image

__all__ = ["Image", "picture", "text"]

_Text = Callable[[Mapping[str, Any], Sequence[str]], str]
_Picture = Callable[[Mapping[str, Any], Sequence[str]], Image]

_GAMES: dict[str, tuple[_Text, _Picture]] = {
    "infection": (infection.text, infection.picture),
    "last-bullet": (last_bullet.text, last_bullet.picture),
    "tokyo": (tokyo.text, tokyo.picture),
    "zombie-dice": (zombie_dice.text, zombie_dice.picture),
    "zombie-dice-race": (zombie_dice.text, zombie_dice.picture),
    "zombie-dice-solo": (zombie_dice.text, zombie_dice.picture),
}
# A game without a picture of its own is shown in words: the key `situation`.
_WORDS = (words.text, words.picture)


def text(game: str, view: Mapping[str, Any], names: Sequence[str]) -> str:
    """A match in a few lines of text."""
    return _GAMES.get(game, _WORDS)[0](view, names)


def picture(game: str, view: Mapping[str, Any], names: Sequence[str]) -> Image:
    """A match as a picture: height, width and three colours, each from 0 to 255."""
    return _GAMES.get(game, _WORDS)[1](view, names)
