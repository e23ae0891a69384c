"""Bots in Python: a class with one method, and the function that turns it into a program of the arena.

>>> from necrodome import Bot
>>> class Careful(Bot):
...     def act(self, view):
...         return "stop" if view.turn.brains >= 2 else "go"

At the end of a file, ``necrodome.run(Careful)`` makes it a bot for ``necrodome match zombie-dice ./careful.py greedy``. The
same class plays in ``necrodome.match`` and ``necrodome.tournament`` without a process of its own.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, Union

from .streams import hide_standard_streams

if TYPE_CHECKING:
    from . import _native

__all__ = ["Action", "AnyBot", "Bot", "View", "run"]

#: What a bot may return: an action as a dict, or only its type as a text; both can come with a reason.
Action = Union[str, Mapping[str, Any], "tuple[str | Mapping[str, Any], str]"]

PROTOCOL = 1


class View(dict[str, Any]):
    """A JSON object of the protocol: a dict whose fields are attributes, too.

    >>> View(brains=2).brains
    2

    A field with the name of a method of ``dict`` (such as ``items``) must be written in brackets.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no field {name!r}, only {', '.join(self)}") from None


class Bot:
    """A bot. Only :meth:`act` is required; everything else is optional.

    >>> class Coin(Bot):
    ...     def act(self, view):
    ...         return self.rng.choice(self.legal)
    """

    #: Whether the bot promises the same answer to the same view.
    deterministic: bool = False

    #: The bot's name in this arena; what you set yourself is a wish.
    name: str = ""
    #: The id of the game, such as ``zombie-dice``.
    game: str = ""
    #: The options of its rules.
    options: View = View()
    #: How many seats each match has.
    seats: int = 0
    #: The bot's seat in this match, counted from 0.
    seat: int = 0
    #: The names of all, by seat.
    names: list[str] = []

    __seed: int | None = None
    __rng: random.Random | None = None
    __legal: list[View] | _native.Legal | None = None

    @property
    def rng(self) -> random.Random:
        """The bot's randomness, which is the same when a match is played again."""
        if self.__rng is None:
            self.__rng = random.Random(self.__seed)
        return self.__rng

    @rng.setter
    def rng(self, rng: random.Random) -> None:
        self.__rng = rng

    @property
    def legal(self) -> list[View] | None:
        """All legal actions of this decision, or ``None`` if there are too many to list."""
        # Inside the arena they are listed when somebody looks: in some games that takes longer than the decision.
        if self.__legal is not None and not isinstance(self.__legal, list):
            self.__legal = self.__legal.list()
        return self.__legal

    @legal.setter
    def legal(self, legal: list[View] | None) -> None:
        self.__legal = legal

    def act(self, view: View) -> Action:
        """Decides. ``view`` is everything that the seat knows; the rules of each game describe its fields.

        An action is a dict (``{"type": "go"}``), or just its type (``"go"``). With a reason, which is kept in the replay:
        ``return "go", "still many green dice"``.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method act(self, view)")

    def start(self) -> None:
        """Called when a match begins: ``seat``, ``names`` and ``rng`` are new."""

    def hear(self, event: View) -> None:
        """Called with an event that the seat may know of. Bots that do not override this are not told."""

    def end(self, outcome: View) -> None:
        """Called when the match is over; ``outcome`` has ``places``, ``scores`` and ``turns``."""

    def refused(self, why: str) -> None:
        """Called when the last action was against the rules. Only bots that are objects hear of it: a process is not told."""


#: Everything that can be a bot in Python: an object, its class, or a function from view to action.
AnyBot = Union[Bot, "type[Bot]", Callable[[View], Action]]


class _Function(Bot):
    """A plain function as a bot."""

    def __init__(self, function: Callable[[View], Action]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    def act(self, view: View) -> Action:
        return self.function(view)


def as_bot(bot: object) -> Bot:
    """Returns the bot for a value: an object as it is, a new object of a class, or a function wrapped as a bot."""
    if isinstance(bot, type):
        if issubclass(bot, Bot):
            return bot()
        raise TypeError(f"{bot.__name__} is no bot: expected a class that derives from necrodome.Bot")
    if isinstance(bot, Bot):
        return bot
    if callable(bot):
        return _Function(bot)
    raise TypeError(f"{bot!r} is no bot: expected a necrodome.Bot, its class, or a function from view to action")


def read(text: str | bytes) -> View:
    """Reads a message of the protocol."""
    message = json.loads(text, object_hook=View)
    if not isinstance(message, View):
        raise ValueError(f"expected a JSON object, got {text!r}")
    return message


def write(answer: Mapping[str, Any]) -> str:
    """Writes an answer of the protocol, in one line."""
    return json.dumps(answer, default=_plain, allow_nan=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    """Converts numbers and lists of numpy and similar libraries."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} cannot be a part of an action: expected texts, numbers, bools, lists and dicts")


class Talk:
    """A bot and its matches: messages become calls of its methods, and their return values become answers."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.wants_events = getattr(type(bot), "hear", None) is not Bot.hear or "hear" in vars(bot)

    def hear(self, message: View) -> dict[str, Any] | None:
        """Passes on a message. Returns the bot's answer, if the message asks for one. Unknown messages are ignored."""
        bot = self.bot
        kind = message.get("type")
        if kind == "decide":
            bot.legal = message.get("legal")
            return self._answer(message["id"], bot.act(message["view"]))
        if kind == "events":
            for event in message["events"]:
                bot.hear(event)
        elif kind == "start":
            bot.seat, bot.names = message["seat"], message["names"]
            # Private to the class Bot. To seed a generator takes as long as several decisions, so `rng` makes it when it is used.
            vars(bot).update(_Bot__seed=message.get("seed"), _Bot__rng=None)
            bot.start()
        elif kind == "end":
            bot.end(message["outcome"])
        elif kind == "hello":
            bot.game, bot.options = message["game"], message["options"]
            bot.seats, bot.name = message["seats"], message["name"]
            return {
                "type": "ready",
                "protocol": PROTOCOL,
                "events": self.wants_events,
                "deterministic": bool(bot.deterministic),
            }
        return None

    def line(self, number: int, choice: object) -> str:
        """Writes the answer to a decision in one line, or raises an error that says what is wrong with it."""
        return write(self._answer(number, choice))

    def _answer(self, number: int, choice: object) -> dict[str, Any]:
        came, reason = choice, None
        if isinstance(choice, tuple) and len(choice) == 2:
            choice, reason = choice
        action = {"type": choice} if isinstance(choice, str) else choice
        if not isinstance(action, Mapping) or not (reason is None or isinstance(reason, str)):
            who = self.bot.name or type(self.bot).__name__
            raise TypeError(
                f"{who} has returned {came!r}: expected an action of {self.bot.game}, such as "
                f"{self._example()}, alone or with a text as its reason"
            )
        answer = {"id": number, "action": action}
        return answer if reason is None else {**answer, "reason": reason}

    def _example(self) -> str:
        legal = self.bot.legal or []
        return " or ".join(repr(dict(action)) for action in legal[:2]) or "those in the rules of the game"


class Wire:
    """The lines between a bot's process and the arena.

    From here on only the arena uses the standard input and output: what the bot prints goes to standard error, which
    the arena shows as its log, and ``input()`` finds nothing.
    """

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self.source = source
        self.sink = sink

    @classmethod
    def take_over(cls) -> Wire:
        """Takes over the standard input and output of this process."""
        wire = cls(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
        hide_standard_streams()
        return wire

    def __iter__(self) -> Iterator[View]:
        """Yields messages until the arena has no more."""
        for line in self.source:
            if line.strip():
                yield read(line)

    def send(self, answer: Mapping[str, Any]) -> None:
        """Sends an answer."""
        self.sink.write(write(answer).encode() + b"\n")
        self.sink.flush()


def run(bot: AnyBot) -> None:
    """Makes this program a bot of the arena: speaks the bot protocol until the arena has no more matches.

    Call it at the end of a file. Printing is harmless: it goes to standard error, which the arena keeps as the bot's log. An
    exception ends the program and leaves its traceback there.

    >>> import necrodome
    >>> class Brave(necrodome.Bot):
    ...     def act(self, view):
    ...         return "go"
    >>> if __name__ == "__main__":  # doctest: +SKIP
    ...     necrodome.run(Brave)
    """
    wire = Wire.take_over()
    talk = Talk(as_bot(bot))
    try:
        for message in wire:
            answer = talk.hear(message)
            if answer is not None:
                wire.send(answer)
    except BrokenPipeError:
        pass  # The arena has seen enough.
    except KeyboardInterrupt:
        sys.exit(130)
