"""A game between zombies in this process, on the referee of the arena."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from ..._native import Referee
from ...bot import View
from .seat import Abandoned, Seat


def play(
    zombies: list[Any],
    state: dict[str, Any],
    seed: int,
    options: Mapping[str, Any],
    errors_lose: Callable[[], bool],
) -> None:
    """Plays one game; the state is that of its end."""
    if Seat.current is not None:
        raise RuntimeError("a game within a turn: the dice are on the table, finish the turn first")
    _Table(zombies, state, seed, options, errors_lose).run()


class _Table:
    """Speaks to each seat as the arena does, with the same messages."""

    def __init__(
        self,
        zombies: list[Any],
        state: dict[str, Any],
        seed: int,
        options: Mapping[str, Any],
        errors_lose: Callable[[], bool],
    ) -> None:
        names = [zombie.name for zombie in zombies]
        # The arena is choosy about names, and the zombies are not: it knows them by their seats.
        places = [f"seat {number}" for number in range(len(zombies))]
        self.referee = Referee("zombie-dice", places, seed, json.dumps(options))
        self.state = state
        self.errors_lose = errors_lose
        self.seats = [Seat(zombie, state, self.pump, self.send, names) for zombie in zombies]
        self.crashed: set[int] = set()
        self.decisions = 0

    def run(self) -> None:
        rules = View(json.loads(self.referee.rules))
        for number, seat in enumerate(self.seats):
            seat.take(View(type="hello", options=rules))
            seat.take(View(type="start", seat=number))
            self.handle(number, seat)
        self.tell()
        while any(seat.queue for seat in self.seats):
            for number, seat in enumerate(self.seats):
                self.handle(number, seat)
        # Who has crashed has lost, whatever it had banked.
        self.state["SCORES"].update((self.state["ORDER"][number], -1) for number in self.crashed)

    def tell(self) -> None:
        """Tells everybody what has happened, and asks who is to act."""
        events = json.loads(self.referee.events(), object_hook=View)
        for seat in self.seats:
            seat.take(View(type="events", events=events))
        outcome = self.referee.outcome()
        if outcome is not None:
            for seat in self.seats:
                seat.take(View(type="end", outcome=json.loads(outcome)))
            return
        self.decisions += 1
        [number] = self.referee.to_act()
        # Events have told all that there is to see.
        self.seats[number].take(View(type="decide", id=self.decisions, view=View(turn=View(hand=None))))

    def pump(self) -> None:
        """All that there is to hear has been heard with the answer."""
        raise Abandoned

    def send(self, answer: Mapping[str, Any] | None) -> None:
        """Takes an answer; None from who has none."""
        if answer is None or "action" in answer:
            self.referee.apply(json.dumps([answer and answer["action"]]))
            self.tell()

    def handle(self, number: int, seat: Seat) -> None:
        if number not in self.crashed:
            try:
                seat.handle_all()
                return
            except Exception:
                if not self.errors_lose():
                    raise
                logging.warning("%s has lost the game by an error.", seat.zombie.name)
                self.crashed.add(number)
                if seat.asked is not None:
                    self.send(None)
        while seat.queue:
            if seat.queue.popleft().get("type") == "decide":
                self.send(None)
