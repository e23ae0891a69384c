"""Infection, as the judge sees it: the roles, the contacts, and the player who is asked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .canvas import INK, LIGHT, LINE, PALE, PANEL, PAPER, Canvas, Colour, Image, shorten

_ROLES: dict[str, Colour] = {
    "human": (86, 180, 233),
    "infected": (230, 189, 70),
    "zombie": (112, 160, 70),
}
# Names fit beside the circles of so many players.
_NAMED = 24


def _met(state: Mapping[str, Any], one: int, other: int) -> bool:
    met = state["party"]["met"]
    words = (met["players"] + 63) // 64
    return bool(met["bits"][one * words + other // 64] >> other % 64 & 1)


def _stock(player: Mapping[str, Any]) -> int:
    return int(player["viruses"] if player["role"] == "zombie" else player["antibodies"])


def _doing(state: Mapping[str, Any], names: Sequence[str]) -> str:
    party = state["party"]
    ending, turn = party["ending"], f"turn {party['turns'] + 1} of {party['rules']['max_turns']}"
    if ending is not None:
        if ending["type"] == "survivor_wins":
            return f"{names[ending['seat']]} survives and wins"
        return "the zombies win" if ending["type"] == "zombies_win" else "the humans win"
    mover, pending = names[state["order"][state["asked"]]], state["pending"]
    if pending is not None:
        return f"{turn}: {mover} meets {names[pending['with']]}"
    return f"{turn}: {mover} is asked"


def text(state: Mapping[str, Any], names: Sequence[str]) -> str:
    """A few lines of text."""
    width = max(map(len, names))
    to_act = state.get("to_act", ())
    lines = [_doing(state, names)]
    for seat, (name, player) in enumerate(zip(names, state["party"]["players"])):
        what = "viruses" if player["role"] == "zombie" else "antibodies"
        met = [names[other] for other in range(len(names)) if _met(state, seat, other)]
        mark, ended = ">" if seat in to_act else " ", "ended" if player["ended"] else ""
        line = f"{mark} {name:{width}}  {player['role']:8}  {_stock(player):2} {what:10}  {ended:5}"
        lines.append(f"{line}  {'met ' + ', '.join(met) if met else ''}".rstrip())
    return "\n".join(lines) + "\n"


def picture(state: Mapping[str, Any], names: Sequence[str]) -> Image:
    """Draws the players in a circle; a line joins players who have met in this turn."""
    canvas = Canvas(760, 560)
    canvas.text(20, 18, shorten(_doing(state, names), 720), PAPER)
    players = state["party"]["players"]
    count = len(players)
    size = max(min(30.0, 420 / count), 4.0)
    angles = [2 * math.pi * seat / count - math.pi / 2 for seat in range(count)]
    places = [(380 + 215 * math.cos(angle), 285 + 185 * math.sin(angle)) for angle in angles]
    for one in range(count):
        for other in range(one):
            if _met(state, one, other):
                _join(canvas, places[one], places[other], LINE, 2)
    if state["pending"] is not None and state["party"]["ending"] is None:
        mover = state["order"][state["asked"]]
        _join(canvas, places[mover], places[state["pending"]["with"]], LIGHT, 4)
    to_act = state.get("to_act", ())
    for seat, (player, (x, y)) in enumerate(zip(players, places)):
        if seat in to_act:
            canvas.circle(x, y, size + 5, LIGHT)
        canvas.circle(x, y, size, _ROLES[player["role"]])
        if player["ended"]:
            canvas.circle(x, y, size * 0.82, PANEL)
        if size >= 12:
            ink = PAPER if player["ended"] else INK
            canvas.text(x + 1, y - 7, str(_stock(player)), ink, align=0.5)
        if count <= _NAMED:
            # Outward from the circle.
            out_x, out_y = math.cos(angles[seat]), math.sin(angles[seat])
            align = 0 if out_x > 0.3 else 1 if out_x < -0.3 else 0.5
            name_x, name_y = x + (size + 10) * out_x, y + (size + 16) * out_y - 7
            canvas.text(name_x, name_y, shorten(names[seat], 120), PALE, align=align)
    for place, (role, colour) in enumerate(_ROLES.items()):
        canvas.circle(30, 486 + place * 26, 8, colour)
        canvas.text(48, 479 + place * 26, role, PALE)
    return canvas.image()


def _join(
    canvas: Canvas, one: tuple[float, float], other: tuple[float, float], colour: Colour, width: float
) -> None:
    canvas.line(one[0], one[1], other[0], other[1], colour, width)
