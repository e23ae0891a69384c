"""The interface of the ``zombiedice`` module (0.1.6), on the referee of the arena.

Classes written for it run unchanged::

    import zombiedice

    class Careful:
        name = "Careful"

        def turn(self, gameState):
            while zombiedice.GAME_STATE["SHOTGUNS_ROLLED"] == 0 and zombiedice.roll() is not None:
                pass

- ``python -m necrodome.compat.zombiedice my_bots.py`` runs a file, and plays a tournament of its classes if it starts none itself. Before each
  tournament it says who takes part. ``import zombiedice`` in that file finds this module. The number of games and options can follow
  the file, and hold for all its tournaments.
- ``compat:zombiedice:my_bots.py:Careful`` is a bot for any match or tournament of ``zombie-dice``, ``zombie-dice-race`` and
  ``zombie-dice-solo``. Instead of a class you can name an object of the file, or a zombie of a tournament that it starts, by its name
  (``demo.py:Monte Carlo``) or by its number from 1. Such tournaments are not played then: all results are zero, and an error after the
  first one just ends the file.
- :func:`runGame` and :func:`runTournament` are called as before.

A zombie has ``turn(gameState)`` and may have ``name``, ``newGame()`` and ``endGame(gameState)``. In its turn it calls :func:`roll`, which
returns ``{"shotgun": 1, "footsteps": 0, "brains": 2, "rolls": [DieRoll(color="green", icon="brains"), ...]}``, and ``None`` after
the third shotgun. It stops by returning.

:func:`runGame`, :func:`runTournament` and ``python -m necrodome.compat.zombiedice`` play by the rules of the old module: nobody has to
roll, and when fewer than three dice are left the brains go back into the cup. Options of the rules (``docs/rules/zombie-dice.md``) are
keywords, or ``--set NAME=VALUE`` on the command line. As an entry of the arena a zombie plays by the rules of the match; the old rules are
``--set first_roll=free --set out_of_dice=recycle_brains``. If the rules end a turn that would go on in the old module, ``roll()`` does not
return: the zombie's turn is over at that moment. A mandatory first roll is the first one that the zombie asks for.

Differences from the old module:

- Games end after 1000 rounds: ``max_rounds=None`` for no limit. A game in which all zombies have crashed is over.
- The dice come from the referee: zombies may change ``GAME_STATE``, without effect.
- ``roll()`` outside of a turn is a ``TypeError`` at any time, not only before the first game.
- :func:`runWebGui` opens the pages of the arena. Of the names of the old module only those of its own page are missing.
"""

from __future__ import annotations

import random
import sys
import time
from importlib import import_module

from ..load import standing_in
from . import lineup, turn
from .dice import BRAINS, COLOR, FOOTSTEPS, GREEN, ICON, RED, SHOTGUN, YELLOW, DieRoll, rollDie

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType
    from typing import Any

    from .dice import Roll

#: Modules that come with the old one: ``from zombiedice import *`` gives them, too. Imported when somebody asks: a process of
#: the arena should start quickly.
_MODULES = ("copy", "logging", "os", "platform", "re", "threading", "webbrowser")

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
    "namedtuple",
    "random",
    "roll",
    "rollDie",
    "runGame",
    "runTournament",
    "runWebGui",
    "sys",
    "time",
    *_MODULES,
]

#: The version whose interface this is.
__version__ = "0.1.6"

#: The rules of the old module, where they are not those of the arena.
OLD_RULES = {"first_roll": "free", "out_of_dice": "recycle_brains"}

#: Whether a zombie with an error loses its game. If not, the error ends the tournament, so that it can be found.
EXCEPTIONS_LOSE_GAME = False
#: Seconds that a turn may take, if there is a limit; looked at with each roll.
MAX_TURN_TIME: float | None = None

#: The game that is played now. Zombies may look, but what they change here has no effect on the dice.
GAME_STATE: dict[str, Any] = turn.new_state()
#: ``GAME_NUMBER``, ``WINS`` and ``TIES`` of the tournament.
TOURNAMENT_STATE: dict[str, Any] | None = None


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(name)
    if name == "namedtuple":
        return import_module("collections").namedtuple
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def roll() -> Roll | None:
    """Rolls for the zombie whose turn it is. Returns None after the third shotgun."""
    rolls = turn.rolls
    if rolls is None:
        raise TypeError("roll() outside of a turn: it is for zombies, in their turn()")
    if MAX_TURN_TIME is not None and time.time() - GAME_STATE["TURN_START_TIME"] > MAX_TURN_TIME:
        _log().warning("%s has taken too long.", GAME_STATE["CURRENT_ZOMBIE"])
        raise Exception(f"the turn has taken more than {MAX_TURN_TIME} seconds")
    return rolls()


def _log() -> Any:
    return import_module("logging")


def assignUniqueZombieName(zombies: Iterable[Any]) -> None:
    """Names zombies without a name after their class, and numbers names that occur twice."""
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
    """Plays a game, and returns its state, with ``SCORES`` by name. Returns None if there are too few zombies.

    Zombies take turns in the given order. Keywords are options of the rules; the defaults are those of the old module.
    """
    zombies = list(zombies)
    assignUniqueZombieName(zombies)
    if len(zombies) < 2:
        _log().error("Expected at least two zombies, got %s.", len(zombies))
        return None
    for zombie in zombies:
        if not callable(getattr(zombie, "turn", None)):
            _log().error("%s has no method turn(gameState).", zombie.name)
    from .table import play

    play(zombies, GAME_STATE, random.getrandbits(53), {**OLD_RULES, **options}, lambda: EXCEPTIONS_LOSE_GAME)
    return GAME_STATE


def _begin(zombies: list[Any], games: int, options: dict[str, Any]) -> tuple[range, int, dict[str, Any]] | None:
    """Begins a tournament. Returns the numbers of its zombies, the number of games, and the options, or None if it is not to be played."""
    global TOURNAMENT_STATE
    assignUniqueZombieName(zombies)
    names = [zombie.name for zombie in zombies]
    TOURNAMENT_STATE = {"GAME_NUMBER": 0, "WINS": dict.fromkeys(names, 0), "TIES": dict.fromkeys(names, 0)}
    numbers = lineup.enter(zombies)
    if numbers is None:
        return None
    if _command is None:
        return numbers, games, options
    print(f"{_command.file}: {_command.origin}: {', '.join(names)}")
    return numbers, games if _command.games is None else _command.games, {**options, **_command.options}


def _play(zombies: list[Any], games: int, options: dict[str, Any]) -> None:
    """Plays a tournament that was begun."""
    assert TOURNAMENT_STATE is not None
    wins, ties = TOURNAMENT_STATE["WINS"], TOURNAMENT_STATE["TIES"]
    print(f"Tournament of {games} games started...")
    for number in range(games):
        TOURNAMENT_STATE["GAME_NUMBER"] = number
        random.shuffle(zombies)
        ended = runGame(zombies, **options)
        if ended is None:
            sys.exit("The game could not be played.")
        best = max(ended["SCORES"].values())
        winners = [name for name, score in ended["SCORES"].items() if score == best]
        for winner in winners:
            (wins if len(winners) == 1 else ties)[winner] += 1
    TOURNAMENT_STATE["GAME_NUMBER"] = games
    print("Tournament results:")
    for title, counts in (("Wins:", wins), ("Ties:", ties)):
        print(title)
        width, digits = max(map(len, counts), default=0), len(str(games))
        for name, count in sorted(counts.items(), key=lambda item: -item[1]):
            print(f"    {name:>{width}} {count:>{digits}}")


def runTournament(zombies: Iterable[Any], numGames: int, verbose: bool = False, **options: Any) -> None:
    """Plays games in random orders and prints how many each zombie has won. The zombies stay the same, and can remember.

    The numbers are also in ``TOURNAMENT_STATE``. ``random.seed`` makes it repeatable. Keywords are options of the rules; ``verbose``
    is accepted for old files, and changes nothing.
    """
    zombies = list(zombies)
    begun = _begin(zombies, numGames, options)
    if begun is not None:
        _play(zombies, *begun[1:])


def runWebGui(zombies: Iterable[Any], numGames: int, verbose: bool = False, **options: Any) -> None:
    """Shows a tournament in the browser: standings while it is played, and every match to watch. Ctrl-C ends it.

    The arena's program, ``necrodome``, plays it in the background, and ends with this one. Each zombie has a process there that loads its
    file, so zombies must come from a file. Otherwise the tournament is played in the terminal, after a line that says why.
    """
    zombies = list(zombies)
    begun = _begin(zombies, numGames, options)
    if begun is None:
        return
    from . import page

    numbers, numGames, options = begun
    try:
        file = _command.file if _command else page.file_of_main()
        names = {number: zombie.name for number, zombie in zip(numbers, zombies)}
        page.show(file, names, numGames, {**OLD_RULES, **options})
    except page.NoPage as why:
        print(f"No page: {why}. So here is the tournament:")
        _play(zombies, numGames, options)


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


def serve(file: str, name: str | None) -> None:
    """Plays for a zombie of a file, as a process of the arena."""
    from ... import _arena

    _arena.need()
    from ..._native import ZombieSeat
    from ...streams import hide_standard_streams
    from . import seat

    # Before anything of the file is run: what it prints must not come between the lines.
    at_table = ZombieSeat(GAME_STATE, DieRoll)
    hide_standard_streams()
    # For as long as the process lives: the file may import it anywhere.
    sys.modules.update(stand_ins())
    seat.play(lineup.zombie_of(file, name), at_table, GAME_STATE)


class _Command:
    """The settings of a command line for all tournaments of its file."""

    def __init__(self, file: str, games: int | None, options: dict[str, str]) -> None:
        self.file, self.games, self.options = file, games, options
        self.origin = "the zombies of its tournament"


#: The command line, where a file is run by one.
_command: _Command | None = None


def main(words: list[str]) -> None:
    """Runs a file, and plays its tournaments."""
    global _command
    from argparse import ArgumentParser

    from .table import table_of

    parser = ArgumentParser(
        "python -m necrodome.compat.zombiedice", description="A tournament of the zombies in a file, by the rules of the old module."
    )
    parser.add_argument("file", metavar="FILE.py", help="a file of zombies")
    parser.add_argument("games", metavar="GAMES", nargs="?", type=int, help="how many; those of the file, or 1000")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="an option of the rules")
    args = parser.parse_args(words)
    _command = _Command(args.file, args.games, dict(setting.partition("=")[::2] for setting in args.set))
    try:
        table_of({**OLD_RULES, **_command.options}, GAME_STATE)
    except ValueError as error:
        parser.error(f"--set: {error}")
    sys.argv = [args.file]
    with standing_in(stand_ins()):
        try:
            module = lineup.run(args.file)
            if TOURNAMENT_STATE is None:
                _command.origin = "its classes, since it starts no tournament"
                runTournament(lineup.of_classes(module), 1000)
        except lineup.NoBot as error:
            parser.error(f"{args.file}: {error}")


from . import examples  # noqa: E402  (it uses what is above)
