"""A game between zombies in this process, on the referee of the arena."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from ... import _native
from ...bot import read, write
from ...play import order
from .seat import Abandoned, Seat


def play(
    zombies: list[Any],
    state: dict[str, Any],
    seed: int,
    options: Mapping[str, Any],
    errors_lose: Callable[[], bool],
) -> None:
    """Plays one game; the state is that of its end."""
    # The arena is choosy about names, and the zombies are not: it knows them by their seats.
    entries = [{"name": f"seat {n}", "text": "zombie", "is_object": True} for n in range(len(zombies))]
    playing = _native.play(order("zombie-dice", entries, seed, None, options, None))
    try:
        _Table(playing, zombies, state, errors_lose).run()
    finally:
        playing.close()
        Seat.current = None


class _Table:
    def __init__(
        self,
        playing: _native.Playing,
        zombies: list[Any],
        state: dict[str, Any],
        errors_lose: Callable[[], bool],
    ) -> None:
        names = [zombie.name for zombie in zombies]
        self.playing = playing
        self.state = state
        self.errors_lose = errors_lose
        self.seats = [Seat(zombie, state, self.pump, self.send, names) for zombie in zombies]
        self.crashed: set[int] = set()
        self.done = False

    def run(self) -> None:
        while not self.done:
            self.pump()
            for number, seat in enumerate(self.seats):
                self.handle(number, seat)
        # Who has crashed has lost, whatever it had banked.
        self.state["SCORES"].update((self.state["ORDER"][number], -1) for number in self.crashed)

    def pump(self) -> None:
        """Takes what comes next to the one it is for."""
        if self.done:
            raise Abandoned
        kind, number, text = self.playing.next()
        if kind == "done":
            self.done = True
        elif kind in ("ask", "tell"):
            self.seats[number].take(read(text))
        # What is refused is what a crashed zombie did not say.

    def send(self, answer: Mapping[str, Any]) -> None:
        self.playing.answer(write(answer))

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
                    self.playing.fault("an error")
        while seat.queue:
            if seat.queue.popleft().get("type") == "decide":
                self.playing.fault("an error before")
