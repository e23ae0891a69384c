"""A zombie at a table of the arena.

The arena asks, and waits for an answer; a zombie is called once a turn, and calls ``roll()`` itself. So ``roll()`` answers "go" to
the question that waits, and reads on until it knows what came of it. There is no thread, so nothing can hang or leak.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from ...bot import PROTOCOL, View
from .dice import BRAINS, FOOTSTEPS, FULL_CUP, SHOTGUN, Roll, rolled


class Abandoned(BaseException):
    """The match goes on without the turn. No ``Exception``, so that a zombie that catches those does not catch it."""


def new_state() -> dict[str, Any]:
    """The state of a game before there is one."""
    turn = ("CUP", "HAND")
    names = ["CURRENT_ZOMBIE", *(f"CURRENT_{part}" for part in turn), "SHOTGUNS_ROLLED", "BRAINS_ROLLED"]
    return dict.fromkeys([*names, "ROLLED_BRAINS_DETAILS", "TURN_START_TIME"])


def copied(state: dict[str, Any]) -> dict[str, Any]:
    """A copy for a zombie to do with as it likes. It is made each turn, so it knows what there is to copy."""
    return {key: value.copy() if isinstance(value, (list, dict)) else value for key, value in state.items()}


class Seat:
    """Turns messages of the bot protocol into calls of a zombie's methods."""

    #: Whose turn it is: the one for whom ``roll()`` rolls.
    current: Seat | None = None

    def __init__(
        self,
        zombie: Any,
        state: dict[str, Any],
        pump: Callable[[], None],
        send: Callable[[Mapping[str, Any]], None],
        names: list[str] | None = None,
    ) -> None:
        """``pump`` waits until something has come for somebody, ``send`` answers, ``names`` are used instead of the arena's."""
        self.zombie = zombie
        self.state = state
        self.pump = pump
        self.send = send
        self.names = names
        self.queue: deque[View] = deque()
        self.number = 0
        self.turns = 0
        self.recycles = False
        self._forget_turn()

    def _forget_turn(self) -> None:
        #: The question that waits for an answer.
        self.asked: int | None = None
        #: A roll that has been made, and that roll() has not given yet.
        self.fresh: Roll | None = None
        self.over = False
        #: The score after the turn, as soon as it is known.
        self.banked: int | None = None

    def take(self, message: View) -> None:
        """Keeps a message until it is time for it; events one by one."""
        self.queue.extend(message["events"] if message.get("type") == "events" else [message])

    def handle_all(self) -> None:
        """Handles what has come. Not while the zombie is in its turn: then roll() does it."""
        while self.queue and Seat.current is None:
            self._handle(self.queue.popleft())

    def _handle(self, item: View) -> None:
        kind = item.get("type")
        if kind == "rolled" and item["seat"] == self.number:
            # The first roll of a turn is mandatory at a table: it was made before the zombie could ask for it.
            self.fresh = rolled(item["hand"])
        elif kind == "turn_ended":
            self._end_turn(item)
        elif kind == "decide":
            self.asked = item["id"]
            self._play_turn(item["view"]["turn"])
        elif kind == "start":
            self._start(item)
        elif kind == "end":
            self._scored(item["outcome"]["scores"])
            if hasattr(self.zombie, "endGame"):
                self.zombie.endGame(copied(self.state))
        elif kind == "hello":
            self.recycles = item["options"].get("out_of_dice") == "recycle_brains"
            self.send({"type": "ready", "protocol": PROTOCOL, "events": True})

    def _start(self, message: View) -> None:
        self.number, self.turns = message["seat"], 0
        self._forget_turn()
        if self.names is None:
            names = list(message["names"])
            # It looks for itself by its name in the scores.
            try:
                self.zombie.name = names[self.number]
            except AttributeError:
                names[self.number] = str(self.zombie.name)
            random.seed(message.get("seed"))
        else:
            names = self.names
        self.state.update(ORDER=list(names), SCORES=dict.fromkeys(names, 0), ROUND=0)
        if hasattr(self.zombie, "newGame"):
            self.zombie.newGame()

    def _scored(self, scores: list[int]) -> None:
        self.state["SCORES"].update(zip(self.state["ORDER"], scores))

    def _end_turn(self, event: View) -> None:
        if event["seat"] != self.number:
            self.state["SCORES"][self.state["ORDER"][event["seat"]]] = event["score"]
            return
        self.over, self.banked = True, event["score"]
        if self.fresh is None:
            self._bank()
        else:
            # The mandatory roll was the last one. The zombie is to have its turn all the same, and to see it.
            self._play_turn(None)

    def _bank(self) -> None:
        if self.banked is not None:
            self.state["SCORES"][self.state["ORDER"][self.number]] = self.banked
        self.turns += 1
        self._forget_turn()

    def _play_turn(self, turn: View | None) -> None:
        cup = list(FULL_CUP)
        random.shuffle(cup)
        self.state.update(
            CURRENT_ZOMBIE=self.state["ORDER"][self.number],
            CURRENT_CUP=cup,
            CURRENT_HAND=[],
            SHOTGUNS_ROLLED=0,
            BRAINS_ROLLED=0,
            ROLLED_BRAINS_DETAILS=[],
            TURN_START_TIME=time.time(),
            ROUND=self.turns + 1,
        )
        if turn is not None and turn["hand"] is not None and self.fresh is None:
            self._join(turn)
        Seat.current = self
        try:
            self.zombie.turn(copied(self.state))
            self._stop()
        except Abandoned:
            self._forget_turn()
        finally:
            Seat.current = None

    def _join(self, turn: View) -> None:
        """A turn that has begun before the zombie came: its process was started again, or nobody told it of the first roll."""
        hand = rolled(turn["hand"])
        if (hand["brains"], hand["shotgun"]) == (turn["brains"], turn["shotguns"]):
            self.fresh = hand
            return
        self.state.update(
            CURRENT_CUP=[colour for colour, count in turn["cup"].items() for _ in range(count)],
            CURRENT_HAND=[die.color for die in hand["rolls"] if die.icon == FOOTSTEPS],
            SHOTGUNS_ROLLED=turn["shotguns"],
            BRAINS_ROLLED=turn["brains"],
            ROLLED_BRAINS_DETAILS=[colour for colour, n in turn["brain_dice"].items() for _ in range(n)],
        )

    def roll(self) -> Roll | None:
        """Rolls for the zombie; None when its turn is over."""
        if self.fresh is None and not self.over:
            self._go()
        roll, self.fresh = self.fresh, None
        if roll is not None:
            self._show(roll)
        return roll

    def _go(self) -> None:
        self._wait_for_question()
        self._answer("go")
        while self.fresh is None and not self.over:
            item = self._next()
            kind = item.get("type")
            if kind == "rolled" and item["seat"] == self.number:
                self.fresh = rolled(item["hand"])
            elif kind == "decide":  # Whoever tells of no events shows the hand.
                self.asked, self.fresh = item["id"], rolled(item["view"]["turn"]["hand"] or [])
            elif kind == "turn_ended" and item["seat"] == self.number:
                self.over, self.banked = True, item["score"]
        # The end of the turn, if this was it, is told together with the roll.
        ended = self.queue[0] if self.queue else View()
        if ended.get("type") == "turn_ended" and ended["seat"] == self.number:
            self.over, self.banked = True, self.queue.popleft()["score"]

    def _stop(self) -> None:
        if not self.over:
            self._wait_for_question()
            self._answer("stop")
            # That the turn has ended is told in time.
            self.fresh = None
        else:
            self._bank()

    def _wait_for_question(self) -> None:
        while self.asked is None:
            item = self._next()
            if item.get("type") == "decide":
                self.asked = item["id"]

    def _answer(self, action: str) -> None:
        answer = {"id": self.asked, "action": {"type": action}}
        self.asked = None
        self.send(answer)

    def _next(self) -> View:
        """What comes next in the turn."""
        while not self.queue:
            self.pump()
        if self.queue[0].get("type") in ("start", "end"):
            raise Abandoned
        return self.queue.popleft()

    def _show(self, roll: Roll) -> None:
        """Moves the dice in the state that everybody can look at."""
        state = self.state
        kept, cup, brains = state["CURRENT_HAND"], state["CURRENT_CUP"], state["ROLLED_BRAINS_DETAILS"]
        for colour, icon in roll["rolls"]:
            # Footsteps were in the hand already, all else was drawn.
            source = kept if colour in kept else cup
            if colour in source:
                source.remove(colour)
            if icon == BRAINS:
                brains.append(colour)
        hand = [colour for colour, icon in roll["rolls"] if icon == FOOTSTEPS]
        if self.recycles and len(cup) + len(hand) < 3:
            cup, brains = cup + brains, []
        state.update(CURRENT_CUP=cup, CURRENT_HAND=hand, ROLLED_BRAINS_DETAILS=brains)
        state["BRAINS_ROLLED"] += roll[BRAINS]
        state["SHOTGUNS_ROLLED"] += roll[SHOTGUN]
