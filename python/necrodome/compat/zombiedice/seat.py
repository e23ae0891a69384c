"""A zombie in a process of the arena."""

from __future__ import annotations

import random

from . import turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..._native import ZombieSeat


def play(zombie: Any, seat: ZombieSeat, state: dict[str, Any]) -> None:
    """Plays until the arena has no more matches."""
    names: list[str] = []
    turns = 0
    while (what := seat.next()) is not None:
        if what == "start":
            names, turns = _named(zombie, seat), 0
            state.update(ORDER=list(names), SCORES=dict.fromkeys(names, 0), ROUND=0)
            random.seed(seat.seed)
            turn.begin_game(zombie)
            continue
        state["SCORES"].update(zip(names, seat.scores))
        if what == "end":
            turn.end_game(zombie, state)
            continue
        turns += 1
        state["CURRENT_ZOMBIE"], state["ROUND"] = names[seat.number], turns
        turn.take_turn(zombie, state, seat.roll)
        seat.stop()


def _named(zombie: Any, seat: ZombieSeat) -> list[str]:
    """The names of all players. The zombie finds itself in the scores by its own name."""
    names = seat.names
    try:
        zombie.name = names[seat.number]
    except AttributeError:
        names[seat.number] = str(zombie.name)
    return names
