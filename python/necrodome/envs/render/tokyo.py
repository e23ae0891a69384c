"""Tokyo: six dice, the monsters, and the one in the city."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .canvas import INK, LIGHT, LINE, PALE, PANEL, PAPER, Canvas, Colour, Image, shorten

HEALTH = 10
GOAL = 20
_SIGNS = {"one": "1", "two": "2", "three": "3", "heal": "heal", "attack": "attack"}
_HEART: Colour = (226, 84, 92)
_POINTS: Colour = (120, 190, 120)
_NIGHT: Colour = (46, 40, 70)


def _doing(view: Mapping[str, Any], names: Sequence[str]) -> str:
    phase, current = view["phase"], names[view["current"]]
    if phase["type"] == "rolling":
        return f"turn {view['turn']}: {current} may reroll {phase['rerolls_left']}x"
    if phase["type"] == "yielding":
        holder = names[view["in_tokyo"]]
        return f"turn {view['turn']}: {current} hits {holder} for {phase['damage']}"
    return f"over after {view['turn']} turns"


def text(view: Mapping[str, Any], names: Sequence[str]) -> str:
    """A few lines of text."""
    lines = [_doing(view, names), "dice  " + "  ".join(_SIGNS[face] for face in view["dice"])]
    width = max(map(len, names))
    for seat, (name, monster) in enumerate(zip(names, view["monsters"])):
        mark = ">" if seat == view["current"] else " "
        place = "  in Tokyo" if seat == view["in_tokyo"] else "" if monster["health"] else "  out"
        lines.append(
            f"{mark} {name:{width}}  health {monster['health']:2}  points {monster['points']:2}{place}"
        )
    return "\n".join(lines) + "\n"


def picture(view: Mapping[str, Any], names: Sequence[str]) -> Image:
    """Draws the dice above, a card for each monster below."""
    rows = (len(names) + 1) // 2
    canvas = Canvas(640, 168 + rows * 112)
    for place, face in enumerate(view["dice"]):
        _draw_die(canvas, 24 + place * 101, 20, 88, face)
    canvas.text(24, 130, shorten(_doing(view, names), 592), PALE)
    for seat, name in enumerate(names):
        _draw_monster(canvas, 20 + seat % 2 * 304, 160 + seat // 2 * 112, seat, name, view)
    return canvas.image()


def _draw_die(canvas: Canvas, x: float, y: float, size: float, face: str) -> None:
    canvas.rectangle(x, y + 4, size, size, (96, 90, 80), radius=16)
    canvas.rectangle(x, y, size, size, PAPER, radius=16)
    middle_x, middle_y = x + size / 2, y + size / 2
    if face == "heal":
        draw_heart(canvas, middle_x, middle_y, size * 0.3, _HEART)
    elif face == "attack":
        _draw_claw(canvas, middle_x, middle_y, size * 0.3)
    else:
        canvas.text(middle_x + 3, middle_y - 28, _SIGNS[face], INK, scale=8, align=0.5)


def draw_heart(canvas: Canvas, x: float, y: float, size: float, colour: Colour) -> None:
    """A heart around a middle."""
    for side in (-1, 1):
        canvas.circle(x + side * size * 0.48, y - size * 0.3, size * 0.55, colour)
    canvas.polygon(
        [(x - size * 0.96, y - size * 0.02), (x + size * 0.96, y - size * 0.02), (x, y + size)], colour
    )


def _draw_claw(canvas: Canvas, x: float, y: float, size: float) -> None:
    """Three scratches."""
    for across in (-0.62, 0.0, 0.62):
        top_x, bottom_x = x + (across + 0.32) * size, x + (across - 0.32) * size
        canvas.polygon(
            [
                (top_x, y - size * 1.1),
                (top_x + size * 0.12, y - size * 0.1),
                (bottom_x, y + size * 1.1),
                (top_x - size * 0.42, y + size * 0.05),
            ],
            (60, 110, 70),
        )


def _draw_monster(canvas: Canvas, x: int, y: int, seat: int, name: str, view: Mapping[str, Any]) -> None:
    monster = view["monsters"][seat]
    in_tokyo, current = seat == view["in_tokyo"], seat == view["current"]
    alive = monster["health"] > 0
    canvas.rectangle(x, y, 294, 100, LIGHT if current else _NIGHT if in_tokyo else PANEL, radius=12)
    canvas.rectangle(x + 3, y + 3, 288, 94, _NIGHT if in_tokyo else PANEL, radius=10)
    if in_tokyo:
        _draw_city(canvas, x + 196, y + 97)
    colour = (LIGHT if current else PAPER) if alive else LINE
    canvas.text(x + 16, y + 14, shorten(name, 170 if in_tokyo else 220), colour)
    canvas.text(
        x + 278, y + 14, "TOKYO" if in_tokyo else "" if alive else "OUT", LIGHT if alive else LINE, align=1
    )
    for point in range(HEALTH):
        draw_heart(canvas, x + 24 + point * 17, y + 49, 7, _HEART if point < monster["health"] else LINE)
    canvas.rectangle(x + 16, y + 72, 170, 10, LINE, radius=5)
    if points := min(monster["points"], GOAL):
        canvas.rectangle(x + 16, y + 72, 170 * points / GOAL, 10, _POINTS if alive else LINE, radius=5)
    canvas.text(x + 278, y + 70, str(monster["points"]), colour, align=1)


def _draw_city(canvas: Canvas, x: int, y: int) -> None:
    """A skyline with lit windows, standing on `y`."""
    for left, width, height in ((0, 16, 34), (15, 12, 52), (26, 18, 26), (43, 11, 44)):
        canvas.rectangle(x + left, y - height, width, height, (72, 62, 108))
        for up in range(8, height - 4, 9):
            for across in range(3, width - 3, 6):
                if (left + up + across) % 4:
                    canvas.rectangle(x + left + across, y - height + up - 3, 2.5, 3.5, LIGHT)
