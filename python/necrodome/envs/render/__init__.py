"""Matches as text and as pictures.

>>> cup = {"green": 6, "yellow": 4, "red": 3}
>>> view = {"turn": {"brains": 0, "shotguns": 0, "hand": None, "cup": cup}}
>>> print(text("zombie-dice-solo", view, ["you"]).splitlines()[0])
hand      not rolled yet
>>> picture("zombie-dice-solo", view, ["you"]).shape
(320, 440, 3)

The module of its name in this folder draws a game; a variant (`zombie-dice-solo`) uses that of its game, and a game
without a module is shown in words. A game that hides nothing is drawn from the view of a seat. Other games are drawn as
the judge sees them, so they need the whole state. The key `to_act`, a list of seats, marks the seats that decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Protocol, cast

from . import words
from .canvas import Image

__all__ = ["Image", "picture", "text"]


class _Drawn(Protocol):
    """A module that draws a game."""

    def text(self, view: Mapping[str, Any], names: Sequence[str]) -> str: ...
    def picture(self, view: Mapping[str, Any], names: Sequence[str]) -> Image: ...


@cache
def _module(game: str) -> _Drawn:
    """The module with the longest name that the id of the game begins with."""
    there = {module.name for module in iter_modules(__path__)}
    parts = game.split("-")
    for length in range(len(parts), 0, -1):
        if (name := "_".join(parts[:length])) in there:
            return cast(_Drawn, import_module(f".{name}", __name__))
    return words


def text(game: str, view: Mapping[str, Any], names: Sequence[str]) -> str:
    """A match in a few lines of text."""
    return _module(game).text(view, names)


def picture(game: str, view: Mapping[str, Any], names: Sequence[str]) -> Image:
    """A match as a picture: height, width and three colours, each from 0 to 255."""
    return _module(game).picture(view, names)
