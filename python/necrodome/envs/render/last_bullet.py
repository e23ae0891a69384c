"""Last Bullet, as the judge sees it: the whole board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .canvas import ENTRIES, LIGHT, PALE, PANEL, PAPER, Canvas, Colour, Image, shorten

_GROUND: Colour = (44, 52, 48)
_CHECK: Colour = (48, 57, 52)
_CORPSE: Colour = (110, 104, 100)
_ZOMBIE: Colour = (104, 190, 72)
_MARKS = "abcdefghijklmnopqrstuvwxyz"
_LISTED = 12


def _entry(piece: Mapping[str, Any]) -> int | None:
    """The entry of a living survivor."""
    kind = piece["kind"]
    return int(kind["player"]) if isinstance(kind, dict) else None


def _living(state: Mapping[str, Any], seats: int) -> list[int]:
    living = [0] * seats
    for piece in state["pieces"]:
        if (entry := _entry(piece)) is not None:
            living[entry] += 1
    return living


def text(state: Mapping[str, Any], names: Sequence[str]) -> str:
    """Writes the board, a sign for each square, and the number of survivors."""
    side = state["side"]
    board = [["."] * side for _ in range(side)]
    for piece in state["pieces"]:
        entry = _entry(piece)
        sign = _MARKS[entry % len(_MARKS)] if entry is not None else "Z" if piece["kind"] == "zombie" else "x"
        board[piece["square"]["y"]][piece["square"]["x"]] = sign
    lines = [f"clock {state['clock']}", *(" ".join(row) for row in board), "Z zombie  x corpse"]
    for entry, (name, living) in enumerate(zip(names, _living(state, len(names)))):
        lines.append(f"{_MARKS[entry % len(_MARKS)]} {name}: {living} alive")
    return "\n".join(lines) + "\n"


def picture(state: Mapping[str, Any], names: Sequence[str]) -> Image:
    """Draws the board to the left, the entries to the right."""
    side = state["side"]
    size = max(560 // side, 1)
    board = size * side
    canvas = Canvas(board + 40 + 240, max(board, 320) + 40)
    checks = np.indices((side, side)).sum(axis=0) % 2
    colours = np.where(checks[..., None] == 0, np.array(_GROUND), np.array(_CHECK)).astype(np.uint8)
    canvas.squares(20, 20, colours, size)
    for piece in state["pieces"]:
        x, y = 20 + size * piece["square"]["x"], 20 + size * piece["square"]["y"]
        _draw_piece(canvas, x, y, size, piece)

    left = board + 36
    canvas.rectangle(left, 20, 228, max(board, 320), PANEL, radius=12)
    canvas.text(left + 16, 36, f"CLOCK {state['clock']}", LIGHT)
    zombies = sum(piece["kind"] == "zombie" for piece in state["pieces"])
    canvas.rectangle(left + 16, 68, 14, 14, _ZOMBIE, radius=3)
    canvas.text(left + 40, 68, "zombies", PALE)
    canvas.text(left + 212, 68, str(zombies), PAPER, align=1)
    living = _living(state, len(names))
    for row, entry in enumerate(sorted(range(len(names)), key=lambda entry: -living[entry])[:_LISTED]):
        y = 100 + row * 28
        canvas.circle(left + 23, y + 7, 8, ENTRIES[entry % len(ENTRIES)])
        canvas.text(left + 40, y, shorten(names[entry], 130), PAPER if living[entry] else PALE)
        canvas.text(left + 212, y, str(living[entry]), PAPER if living[entry] else PALE, align=1)
    return canvas.image()


def _draw_piece(canvas: Canvas, x: int, y: int, size: int, piece: Mapping[str, Any]) -> None:
    entry = _entry(piece)
    middle_x, middle_y = x + size / 2, y + size / 2
    if entry is not None:
        canvas.circle(middle_x, middle_y, max(size * 0.42, 1), ENTRIES[entry % len(ENTRIES)])
        if size >= 12:
            for bullet in range(min(piece["bullets"], 3)):
                canvas.circle(middle_x + (bullet - 1) * size * 0.2, middle_y, size * 0.07, (24, 28, 33))
    elif piece["kind"] == "zombie":
        inset = size * 0.1
        canvas.rectangle(
            x + inset, y + inset, size - 2 * inset, size - 2 * inset, _ZOMBIE, radius=size * 0.22
        )
    else:
        arm, line = size * 0.28, max(size * 0.16, 1)
        canvas.line(middle_x - arm, middle_y - arm, middle_x + arm, middle_y + arm, _CORPSE, line)
        canvas.line(middle_x - arm, middle_y + arm, middle_x + arm, middle_y - arm, _CORPSE, line)
