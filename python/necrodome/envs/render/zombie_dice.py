"""Zombie Dice: the hand, the dice set aside, the cup, the scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .canvas import INK, LIGHT, LINE, PALE, PANEL, PAPER, Canvas, Colour, Image, shorten

COLOURS: dict[str, Colour] = {"green": (70, 160, 94), "yellow": (226, 178, 60), "red": (200, 70, 62)}
DICE = {"green": 6, "yellow": 4, "red": 3}
GOAL = 13
SHOTGUNS = 3

# Beside the dice are the scores of so many; a larger table is told in numbers only for those who lead.
_ROWS = 9


def _scores(view: Mapping[str, Any]) -> list[int] | None:
    """The banked scores by seat, none in solo. In a race the view counts as that of the first seat."""
    if "scores" in view:
        return list(view["scores"])
    if "score" in view:
        return [view["score"], view["opponent_score"]]
    return None


def _mover(view: Mapping[str, Any]) -> int | None:
    if view.get("to_act"):
        return int(view["to_act"][0])
    if "playing" in view and "to_act" not in view:
        return int(view["playing"][view["played"]])
    return None


def text(view: Mapping[str, Any], names: Sequence[str]) -> str:
    """A few lines of text."""
    turn = view["turn"]
    hand = turn["hand"]
    shown = "  ".join(f"{die['colour']} {die['face']}" for die in hand) if hand else "not rolled yet"
    cup = ", ".join(f"{turn['cup'][colour]} {colour}" for colour in DICE)
    lines = [
        f"hand      {shown}",
        f"brains    {turn['brains']}",
        f"shotguns  {turn['shotguns']}",
        f"cup       {cup}",
    ]
    if (scores := _scores(view)) is not None:
        mover = _mover(view)
        width = max(map(len, names))
        for seat, (name, score) in enumerate(zip(names, scores)):
            lines.append(f"{'>' if seat == mover else ' '} {name:{width}}  {score}")
    return "\n".join(lines) + "\n"


def picture(view: Mapping[str, Any], names: Sequence[str]) -> Image:
    """Draws the dice, and the scores to their right if the game has any."""
    scores = _scores(view)
    canvas = Canvas(720 if scores else 440, 320)
    _draw_turn(canvas, view["turn"])
    if scores:
        _draw_scores(canvas, 440, names, scores, _mover(view))
    return canvas.image()


def _draw_turn(canvas: Canvas, turn: Mapping[str, Any]) -> None:
    for place in range(3):
        x, y, size = 28 + place * 132, 28, 120
        if turn["hand"]:
            die = turn["hand"][place]
            draw_die(canvas, x, y, size, die["colour"], die["face"])
        else:
            canvas.frame(x, y, size, size, LINE, radius=22, line=3)
            canvas.text(x + size / 2, y + 46, "?", LINE, scale=4, align=0.5)

    brains = turn["brains"]
    canvas.text(28, 176, "BRAINS", PALE)
    _brain(canvas, 150, 184, 15, (240, 150, 165), INK)
    canvas.text(178, 174, str(brains), PAPER, scale=3)

    canvas.text(236, 176, "SHOTGUNS", PALE)
    shown = max(SHOTGUNS, turn["shotguns"])
    step = min(26, 66 // (shown - 1))
    for place in range(shown):
        shot = place < turn["shotguns"]
        _blast(canvas, 354 + place * step, 184, 13, LIGHT if shot else PANEL, INK if shot else LINE)

    canvas.text(28, 218, "CUP", PALE)
    for row, (colour, count) in enumerate(DICE.items()):
        for place in range(count):
            x, y = 88 + place * 30, 214 + row * 30
            if place < turn["cup"][colour]:
                canvas.rectangle(x, y, 24, 24, COLOURS[colour], radius=6)
            else:
                canvas.frame(x, y, 24, 24, LINE, radius=6)


def _draw_scores(
    canvas: Canvas, x: int, names: Sequence[str], scores: Sequence[int], mover: int | None
) -> None:
    canvas.rectangle(x, 20, 260, 280, PANEL, radius=12)
    seats = list(range(len(scores)))
    if len(seats) > _ROWS:
        # Those who lead, and whoever plays.
        seats = sorted(seats, key=lambda seat: (-scores[seat], seat))[:_ROWS]
        if mover is not None and mover not in seats:
            seats[-1] = mover
    for row, seat in enumerate(seats):
        y = 34 + row * 29
        colour = LIGHT if seat == mover else PAPER
        if seat == mover:
            canvas.polygon([(x + 10, y), (x + 10, y + 14), (x + 20, y + 7)], LIGHT)
        canvas.text(x + 28, y, shorten(names[seat], 168), colour)
        canvas.text(x + 246, y, str(scores[seat]), colour, align=1)
        full = 218 * min(scores[seat], GOAL) / GOAL
        canvas.rectangle(x + 28, y + 18, 218, 4, LINE, radius=2)
        if full:
            canvas.rectangle(x + 28, y + 18, full, 4, (240, 150, 165), radius=2)


def draw_die(canvas: Canvas, x: float, y: float, size: float, colour: str, face: str) -> None:
    """A die that shows a face."""
    body = COLOURS[colour]
    shade: Colour = (body[0] * 3 // 5, body[1] * 3 // 5, body[2] * 3 // 5)
    canvas.rectangle(x, y + size * 0.04, size, size, shade, radius=size * 0.18)
    canvas.rectangle(x, y, size, size, body, radius=size * 0.18)
    middle_x, middle_y = x + size / 2, y + size / 2
    if face == "brain":
        _brain(canvas, middle_x, middle_y, size * 0.3, PAPER, shade)
    elif face == "shotgun":
        _blast(canvas, middle_x, middle_y, size * 0.38, PAPER, shade)
    else:
        _foot(canvas, middle_x - size * 0.19, middle_y + size * 0.08, size * 0.26, PAPER, -1)
        _foot(canvas, middle_x + size * 0.19, middle_y - size * 0.08, size * 0.26, PAPER, 1)


def _brain(canvas: Canvas, x: float, y: float, radius: float, colour: Colour, fold: Colour) -> None:
    """Two halves of round folds, and the lines between them."""
    for side in (-1, 1):
        for turn in (-1.25, -0.6, 0.05, 0.7, 1.3):
            reach = radius * 0.72
            canvas.circle(
                x + side * (0.12 * radius + reach * math.cos(turn)),
                y + reach * math.sin(turn) * 0.85,
                radius * 0.36,
                colour,
            )
        canvas.ellipse(x + side * radius * 0.45, y, radius * 0.5, radius * 0.75, colour)
    line = max(radius * 0.08, 1)
    canvas.line(x, y - radius * 0.85, x, y + radius * 0.85, fold, line)
    for side in (-1, 1):
        for height in (-0.42, 0.05, 0.5):
            canvas.line(
                x + side * radius * 0.28,
                y + height * radius,
                x + side * radius * 0.72,
                y + (height - 0.16) * radius,
                fold,
                line,
            )


def _blast(canvas: Canvas, x: float, y: float, radius: float, colour: Colour, core: Colour) -> None:
    """A star with nine rays."""
    rays = 9
    points = []
    for corner in range(2 * rays):
        reach = radius if corner % 2 == 0 else radius * 0.55
        angle = math.pi * corner / rays - math.pi / 2
        points.append((x + reach * math.cos(angle), y + reach * math.sin(angle)))
    canvas.polygon(points, colour)
    canvas.circle(x, y, radius * 0.26, core)


def _foot(canvas: Canvas, x: float, y: float, size: float, colour: Colour, side: int) -> None:
    """A sole and four toes; `side` is where the great toe is not."""
    canvas.ellipse(x, y + size * 0.15, size * 0.42, size * 0.68, colour)
    canvas.ellipse(x, y + size * 0.62, size * 0.32, size * 0.4, colour)
    for toe in range(4):
        across = side * (toe - 1.3) * 0.27
        up = -0.86 + 0.09 * toe * toe * 0.8
        canvas.circle(x + across * size, y + up * size, size * (0.17 - 0.018 * toe), colour)
