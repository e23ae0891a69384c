"""The interface of the ``zombiedice`` module (0.1.6), on the referee of the arena.

Classes that were written for it run unchanged::

    import zombiedice

    class Careful:
        name = "Careful"

        def turn(self, gameState):
            while zombiedice.GAME_STATE["SHOTGUNS_ROLLED"] == 0 and zombiedice.roll() is not None:
                pass

- ``python -m necrodome.compat.zombiedice my_bots.py`` plays a tournament of the classes in a file. ``import zombiedice`` in that
  file finds this module.
- ``compat:zombiedice:my_bots.py:Careful`` is a bot of any match or tournament of ``zombie-dice``, ``zombie-dice-race`` and
  ``zombie-dice-solo``.
- :func:`runGame` and :func:`runTournament` are called as before.

A zombie has ``turn(gameState)`` and may have ``name``, ``newGame()`` and ``endGame(gameState)``. In its turn it calls :func:`roll`, which
gives ``{"shotgun": 1, "footsteps": 0, "brains": 2, "rolls": [DieRoll(color="green", icon="brains"), ...]}``, and ``None`` after
the third shotgun. To return is to stop.

The rules are those of the arena (``docs/rules/zombie-dice.md``). Where the old module differs:

- The first roll of a turn is mandatory at a table. A zombie that returns without rolling banks the brains of that roll, or
  loses the turn to it. As it was: ``first_roll="free"``.
- When fewer than three dice are left the turn ends and its brains are banked: the roll before is the last one, and
  ``roll()`` gives ``None``. As it was, the brains go back into the cup: ``out_of_dice="recycle_brains"``. (The old
  module looks at this before a roll, the arena after one; the dice that come are the same.)
- Nobody plays more than 1000 rounds: ``max_rounds=None`` for no limit.
- A zombie with an error that loses the game (``EXCEPTIONS_LOSE_GAME``) has a score of -1, whatever it had rolled before.
- ``roll()`` outside of a turn is a ``TypeError`` at any time, not only before the first game.
- There is no page: :func:`runWebGui` plays in the terminal. ``necrodome serve`` has pages.

The options above are keywords of :func:`runGame` and :func:`runTournament`.
"""

from __future__ import annotations

import logging
import random
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NoReturn

from ...bot import Wire, View
from ..load import NoBot, classes, find, load, make, standing_in
from .dice import BRAINS, COLOR, FOOTSTEPS, GREEN, ICON, RED, SHOTGUN, YELLOW, DieRoll, Roll, rollDie
from .seat import Abandoned, Seat, new_state

__all__ = [
    "BRAINS",
    "COLOR",
    "EXCEPTIONS_LOSE_GAME",
    "FOOTSTEPS",
    "GAME_STATE",
    "GREEN",
    "ICON",
    "MAX_TURN_TIME",
    "RED",
    "SHOTGUN",
    "TOURNAMENT_STATE",
    "YELLOW",
    "DieRoll",
    "assignUniqueZombieName",
    "demo",
    "examples",
    "roll",
    "rollDie",
    "runGame",
    "runTournament",
    "runWebGui",
]

#: The version whose interface this is.
__version__ = "0.1.6"

#: Whether a zombie with an error loses its game. If not, the error ends the tournament, so that it can be found.
EXCEPTIONS_LOSE_GAME = False
#: Seconds that a turn may take, if there is a limit; looked at with each roll.
MAX_TURN_TIME: float | None = None

#: The game that is played now. Zombies may look, but what they change here has no effect on the dice.
GAME_STATE: dict[str, Any] = new_state()
#: ``GAME_NUMBER``, ``WINS`` and ``TIES`` of the tournament.
TOURNAMENT_STATE: dict[str, Any] | None = None

#: While a file is loaded for its zombies, those that it would have let play.
_collected: list[Any] | None = None


def roll() -> Roll | None:
    """Rolls for the zombie whose turn it is. None if the turn is over: three shotguns, or too few dice."""
    seat = Seat.current
    if seat is None:
        raise TypeError("roll() outside of a turn: it is for zombies, in their turn()")
    if MAX_TURN_TIME is not None and time.time() - GAME_STATE["TURN_START_TIME"] > MAX_TURN_TIME:
        logging.warning("%s has taken too long.", GAME_STATE["CURRENT_ZOMBIE"])
        raise Exception(f"the turn has taken more than {MAX_TURN_TIME} seconds")
    return seat.roll()


def assignUniqueZombieName(zombies: Iterable[Any]) -> None:
    """Names those who have no name after their class, and gives numbers to names that are there twice."""
    zombies = list(zombies)
    for zombie in zombies:
        name = getattr(zombie, "name", None)
        if not isinstance(name, str):
            zombie.name = type(zombie).__name__ if name is None else str(name)
    for zombie in zombies:
        others = [other.name for other in zombies if other is not zombie]
        if zombie.name in others:
            number = 2
            while f"{zombie.name}{number}" in others:
                number += 1
            zombie.name = f"{zombie.name}{number}"


def runGame(zombies: Iterable[Any], **options: Any) -> dict[str, Any] | None:
    """Plays a game, and gives its state, with ``SCORES`` by name. None if there are too few zombies.

    The order of the zombies is that of their turns. Keywords are options of the rules.
    """
    zombies = list(zombies)
    assignUniqueZombieName(zombies)
    if len(zombies) < 2:
        logging.error("Expected at least two zombies, got %s.", len(zombies))
        return None
    for zombie in zombies:
        if not callable(getattr(zombie, "turn", None)):
            logging.error("%s has no method turn(gameState).", zombie.name)
    from .table import play

    play(zombies, GAME_STATE, random.getrandbits(53), options, lambda: EXCEPTIONS_LOSE_GAME)
    return GAME_STATE


def runTournament(zombies: Iterable[Any], numGames: int, **options: Any) -> None:
    """Plays games in random orders and prints who has won how many. The zombies stay the same, and can remember.

    The numbers are also in ``TOURNAMENT_STATE``. ``random.seed`` makes it repeatable.
    """
    global TOURNAMENT_STATE
    zombies = list(zombies)
    if _collected is not None:
        _collected.extend(zombies)
        return
    assignUniqueZombieName(zombies)
    names = [zombie.name for zombie in zombies]
    wins, ties = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    TOURNAMENT_STATE = {"GAME_NUMBER": 0, "WINS": wins, "TIES": ties}
    print(f"Tournament of {numGames} games started...")
    for number in range(numGames):
        TOURNAMENT_STATE["GAME_NUMBER"] = number
        random.shuffle(zombies)
        ended = runGame(zombies, **options)
        if ended is None:
            sys.exit("The game could not be played.")
        best = max(ended["SCORES"].values())
        winners = [name for name, score in ended["SCORES"].items() if score == best]
        for winner in winners:
            (wins if len(winners) == 1 else ties)[winner] += 1
    TOURNAMENT_STATE["GAME_NUMBER"] = numGames
    print("Tournament results:")
    for title, counts in (("Wins:", wins), ("Ties:", ties)):
        print(title)
        width, digits = max(map(len, names), default=0), len(str(numGames))
        for name, count in sorted(counts.items(), key=lambda item: -item[1]):
            print(f"    {name:>{width}} {count:>{digits}}")


def runWebGui(zombies: Iterable[Any], numGames: int) -> None:
    """Plays a tournament in the terminal: the pages are those of ``necrodome serve``."""
    if _collected is None:
        print("This module has no page of its own (necrodome serve has pages), so here is the tournament:")
    runTournament(zombies, numGames)


def demo() -> None:
    """Plays a tournament of the example zombies."""
    runTournament(
        [
            examples.RandomCoinFlipZombie(name="Random"),
            examples.MonteCarloZombie(name="Monte Carlo", riskiness=40, numExperiments=20),
            examples.RollsUntilInTheLeadZombie(name="Until Leading"),
            examples.MinNumShotgunsThenStopsZombie(name="Stop at 2 Shotguns", minShotguns=2),
            examples.MinNumShotgunsThenStopsZombie(name="Stop at 1 Shotgun", minShotguns=1),
            examples.AlwaysRollsTwiceZombie(name="Roll Twice"),
        ],
        100,
    )


def stand_ins() -> dict[str, ModuleType]:
    """The modules that a file of zombies imports."""
    return {"zombiedice": sys.modules[__name__], "zombiedice.examples": examples}


@contextmanager
def _collecting() -> Iterator[list[Any]]:
    """While this lasts, tournaments are not played: their zombies are collected."""
    global _collected
    collected: list[Any] = []
    _collected = collected
    try:
        yield collected
    finally:
        _collected = None


def zombie_of(file: str, name: str | None) -> Any:
    """The zombie of a file: a class, an object, or one that the file would have let play, by its name."""
    with _collecting() as collected:
        module = load(file)
    for zombie in collected:
        if name is not None and not hasattr(module, name) and getattr(zombie, "name", None) == name:
            return zombie
    own = name or (None if classes(module, ["turn"]) else _only(collected))
    if isinstance(own, str) or own is None:
        return find(module, own, ["turn"], name=own or "zombie")
    return own


def _only(collected: list[Any]) -> Any:
    return collected[0] if len(collected) == 1 else None


def serve(wire: Wire, file: str, name: str | None) -> None:
    """Plays for a zombie of a file, as a process of the arena."""
    # For as long as the process lives: the file may import it anywhere.
    sys.modules.update(stand_ins())
    zombie = zombie_of(file, name)
    messages: Iterator[View] = iter(wire)

    def pump() -> None:
        message = next(messages, None)
        if message is None:
            raise Abandoned
        seat.take(message)

    seat = Seat(zombie, GAME_STATE, pump, wire.send)
    try:
        while True:
            pump()
            seat.handle_all()
    except Abandoned:
        pass  # The arena has no more matches.


def main(words: list[str]) -> None:
    """Plays a tournament of the zombies in a file."""
    if not 1 <= len(words) <= 2 or (len(words) == 2 and not words[1].isdecimal()):
        _usage("expected python -m necrodome.compat.zombiedice FILE.py [GAMES]")
    with standing_in(stand_ins()):
        try:
            with _collecting() as collected:
                module = load(words[0])
            zombies = collected or [make(cls, name=cls.__name__) for cls in classes(module, ["turn"])]
        except NoBot as error:
            _usage(f"{words[0]}: {error}")
        if len(zombies) < 2:
            _usage(f"{words[0]}: expected at least two classes with turn(gameState), found {len(zombies)}")
        runTournament(zombies, int(words[1]) if len(words) == 2 else 1000)


def _usage(why: str) -> NoReturn:
    print(why, file=sys.stderr)
    sys.exit(2)


from . import examples  # noqa: E402  (it uses what is above)
