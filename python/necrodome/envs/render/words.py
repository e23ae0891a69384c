"""Any game, in words: the view of the seat that decides."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from .canvas import PAPER, Canvas, Image

_COLUMNS = 60


def _lines(view: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    to_act = [names[seat] for seat in view["to_act"]]
    who = f"{', '.join(to_act)} to decide" if to_act else "over"
    return [who, *textwrap.wrap(view["situation"], _COLUMNS)]


def text(view: Mapping[str, Any], names: Sequence[str]) -> str:
    """A few lines of text."""
    return "\n".join(_lines(view, names)) + "\n"


def picture(view: Mapping[str, Any], names: Sequence[str]) -> Image:
    """The same lines as a picture."""
    lines = _lines(view, names)
    canvas = Canvas(640, 40 + 24 * len(lines))
    for place, line in enumerate(lines):
        canvas.text(20, 20 + 24 * place, line, PAPER)
    return canvas.image()
