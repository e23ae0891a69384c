"""A player of godzilla-v2 as a bot of the arena."""

from __future__ import annotations

import sys
from typing import Any

from ...bot import Action, Bot, Talk, View, Wire
from ..load import NoBot, make
from . import player as ours
from .load import player_of, prepare

#: The arena's words for the sides of a die.
_SIDES = {"attack": "Attack", "heal": "Heal", "one": "1", "two": "2", "three": "3"}
#: Of the decisions of a turn, the number of the last.
_LAST_COUNTER = ours.MAX_ROLLS - 2


class WrongMask(TypeError):
    """A player has not said for each die whether it keeps it."""

    def __init__(self, mask: Any, answers: int) -> None:
        super().__init__(f"keep_dice has returned {mask!r}: expected a mask of {ours.DIE_COUNT}, or a pair with a reason")
        self.answers = answers


class Monster(Bot):
    """A player of godzilla-v2 as a bot."""

    def __init__(self, player: Any) -> None:
        """``player`` is a class, or an object for all games."""
        self.source = player
        self.player: Any = None if isinstance(player, type) else player

    def start(self) -> None:
        if self.game != "tokyo":
            raise NoBot(f"players of godzilla-v2 play tokyo, not {self.game}")
        #: Whether the player has had all its decisions of this turn.
        self.has_decided = False
        name = self.names[self.seat]
        if isinstance(self.source, type):
            self.player = make(self.source, idx=self.seat, name=name)
        # What the player's class fixes stays as it is.
        for field, value in (("idx", self.seat), ("_name" if hasattr(self.player, "_name") else "name", name)):
            try:
                setattr(self.player, field, value)
            except AttributeError:
                pass
        self._show(self._state(ours.MAX_HEALTH, 0, False))

    def _state(self, health: int, points: int, in_tokyo: bool) -> Any:
        """Makes a state of the class that the player imports."""
        known = getattr(sys.modules.get("player"), "PlayerState", ours.PlayerState)
        return known(health=health, victory_points=points, in_tokyo=in_tokyo)

    def _show(self, state: Any) -> None:
        """Shows the player its own state. Otherwise it would play on with the state of the start."""
        if hasattr(self.player, "_state"):
            self.player._state = state
        else:
            try:
                self.player.state = state
            except AttributeError:
                pass
        seen = self.player.state
        if (seen.health, seen.victory_points, seen.in_tokyo) != (state.health, state.victory_points, state.in_tokyo):
            raise NoBot(
                f"{type(self.player).__name__} cannot be told its state: expected a state that can be set, "
                "or one that reads _state, as that of Player does"
            )

    def act(self, view: View) -> Action:
        states = [
            self._state(monster["health"], monster["points"], view["in_tokyo"] == seat)
            for seat, monster in enumerate(view["monsters"])
        ]
        self._show(states[self.seat])
        others = {name: (seat, states[seat]) for seat, name in enumerate(self.names) if seat != self.seat}
        if view["phase"]["type"] == "yielding":
            yields, reason = _with_reason(self.player.yield_tokyo(others))
            if not isinstance(yields, (bool, int)) and not hasattr(yields, "item"):
                raise TypeError(f"yield_tokyo has returned {yields!r}: expected True or False, or a pair with a reason")
            return _answer({"type": "yield" if yields else "stay"}, reason)
        return self._roll(view["dice"], others, view["phase"]["rerolls_left"])

    def _roll(self, dice: list[str], others: Any, rerolls_left: int) -> Action:
        """The dice to keep. The program asks after each roll but the last; the arena stops asking once all dice are kept.

        A player that has kept all is asked again here. If it rolls then, the arena has one question more than the program.
        """
        had_all, self.has_decided = self.has_decided, False
        counter = ours.MAX_ROLLS - 1 - rerolls_left
        if had_all and counter == _LAST_COUNTER:
            return {"type": "keep", "dice": [True] * ours.DIE_COUNT}
        kept, reason = self._ask(dice, others, counter)
        while all(kept) and counter < _LAST_COUNTER:
            counter += 1
            kept, reason = self._ask(dice, others, counter)
            self.has_decided = not all(kept)
        return _answer({"type": "keep", "dice": kept}, reason)

    def _ask(self, dice: list[str], others: Any, counter: int) -> tuple[list[bool], str | None]:
        """Asks the player which dice it keeps, and why."""
        sides = _sides()
        mask, reason = _with_reason(self.player.keep_dice([sides(_SIDES[die]) for die in dice], dict(others), counter))
        kept = list(mask) if hasattr(mask, "__iter__") and not isinstance(mask, str) else []
        if len(kept) != ours.DIE_COUNT:
            raise WrongMask(mask, len(kept))
        return [bool(keeps) for keeps in kept], reason


def _sides() -> Any:
    """The sides of a die, as the player imports them."""
    known = getattr(sys.modules.get("constants"), "DIESIDE", ours.DIESIDE)
    return getattr(sys.modules.get("helpers.constants"), "DIESIDE", known)


def _with_reason(answer: Any) -> tuple[Any, str | None]:
    """Splits a player's return value into the answer and its reason."""
    if isinstance(answer, tuple) and len(answer) == 2:
        return answer[0], None if answer[1] is None else str(answer[1])
    return answer, None


def _answer(action: dict[str, Any], reason: str | None) -> Action:
    return action if reason is None else (action, reason)


def serve(file: str, name: str | None) -> None:
    """Plays for a player of a file, as a process of the arena."""
    # Before anything of the file is run: what it prints must not come between the lines.
    wire = Wire.take_over()
    prepare(file)
    talk = Talk(Monster(player_of(file, name)))
    for message in wire:
        try:
            answer = talk.hear(message)
        except EOFError:
            raise NoBot("it asks a person, and the arena has none for it: python -m necrodome.compat.godzilla does") from None
        if answer is not None:
            wire.send(answer)
