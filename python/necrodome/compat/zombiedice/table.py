"""A game between zombies in this process, on the referee of the arena."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from ..._native import ZombieTable
from . import turn
from .dice import DieRoll

#: A table for each set of options, with the state that it shows.
_tables: dict[str, tuple[ZombieTable, dict[str, Any]]] = {}


def play(
    zombies: list[Any],
    state: dict[str, Any],
    seed: int,
    options: Mapping[str, Any],
    errors_lose: Callable[[], bool],
) -> None:
    """Plays one game. The state is then that of its end."""
    if turn.rolls is not None:
        raise RuntimeError("a game within a turn: the dice are on the table, finish the turn first")
    table = table_of(options, state)
    table.start(len(zombies), seed)
    names = [zombie.name for zombie in zombies]
    scores = dict.fromkeys(names, 0)
    state.update(ORDER=list(names), SCORES=scores, ROUND=0)
    for zombie in zombies:
        turn.begin_game(zombie)
    turns = [0] * len(zombies)
    #: What those who had an error end with. They are not asked again.
    crashed: dict[str, int] = {}
    while len(crashed) < len(zombies) and (seat := table.begin()) is not None:
        name = names[seat]
        if name not in crashed:
            turns[seat] += 1
            state["CURRENT_ZOMBIE"], state["ROUND"] = name, turns[seat]
            try:
                turn.take_turn(zombies[seat], state, table.roll)
            except Exception:
                if not errors_lose():
                    raise
                logging.warning("%s has lost the game by an error.", name)
                # As the module counts it: what was rolled in this turn stays.
                crashed[name] = -1 + (state["BRAINS_ROLLED"] if state["SHOTGUNS_ROLLED"] < 3 else 0)
        scores.update(zip(names, table.stop(name in crashed)))
        scores.update(crashed)
    for zombie in zombies:
        turn.end_game(zombie, state)


def table_of(options: Mapping[str, Any], state: dict[str, Any]) -> ZombieTable:
    """Returns a table with these options, made once, since all games of a tournament share them. A wrong option is a ValueError."""
    text = json.dumps(options)
    table, shown = _tables.get(text, (None, None))
    if table is None or shown is not state:
        table = ZombieTable(text, state, DieRoll)
        _tables[text] = (table, state)
    return table
