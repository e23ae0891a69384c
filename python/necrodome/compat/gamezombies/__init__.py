"""Agents of GameZombies, for one player (``zombie-dice-solo``) and for two (``zombie-dice-race``).

Agents run unchanged::

    class MyAgent:
        def wakeUp(self, state, descriptor, actions): ...
        def perceive(self, state, reward): ...
        def decide(self, isValidAction): return "go"      # or action()
        def sleep(self, score): ...                       # or kill(score)

- ``compat:gamezombies:my_agent.py:MyAgent`` is a bot of any match or tournament.
- ``python -m necrodome.compat.gamezombies my_script.py`` runs a script that trains or compares agents: ``import gameZombies`` and
  ``import gameZombies2`` find :class:`System` and :class:`Engine` here, with ``AbsAgent``, ``HumanAgent`` and ``SimplePlayer``, ``Dice`` and
  its tables, and ``main``. A script that samples transitions has ``initialize``, ``step``, ``stateStr`` and the fields of a ``System``.

Agents are called in this order: ``wakeUp`` before the first decision of a game; then for each decision ``decide``, and ``perceive`` with
the result; at the end ``sleep`` with the score. ``isValidAction`` says whether an answer is "go" or "stop". An answer that
is neither changes nothing: the agent perceives the same state, and is asked again.

A state is a text of eight fields: brains, shotguns, three dice, and the EASY (green), MEDI (yellow) and HARD (red) dice
left in the cup: ``0-0-UNDEFINED-UNDEFINED-UNDEFINED-6-4-3`` at the start, ``1-1-EASY(Run)-EASY(Brain)-EASY(Gun)-3-4-3`` after a
roll. Dice that run stay in their place. A single player perceives the end, too: the cup is ``0-0-0`` then, and the shotguns are 3, or more
if the turn was lost; the brains are those that were rolled, lost or not.

For two players ``-score:-MINE-OPPONENT`` follows. The end of a turn is not perceived; each turn but the first begins with
``perceive`` of a new start, and so does the end of the game.

Rules and rewards are those that the game's text describes. One player: the reward is the change of what could be banked, so that the
rewards of a game sum to its score. Two players: +10 for the winner and -10 for the loser, only at the end. ``System(rules="program")``, or
``--rules program`` before the script, plays as the program does, so that it reproduces the program's numbers:

- The program checks whether three dice are left before it checks for the third shotgun: a player who is out of dice banks, shot or not.
- One player: a player who loses the turn loses all its brains as reward, including those of the last roll, which were never given.
- Two players: both have a first turn before anybody can win; at the end the loser gets -1, the winner its score.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from enum import IntEnum
from types import ModuleType

from . import agents, dice
from .arena import Agent, serve
from .engine import Engine, System
from .state import ACTIONS, DESCRIPTOR, state_of

__all__ = ["ACTIONS", "DESCRIPTOR", "Agent", "Engine", "System", "serve", "stand_ins", "state_of"]


def stand_ins(rules: str = "text") -> dict[str, ModuleType]:
    """The modules that a file of agents imports."""
    one, two = ModuleType("gameZombies"), ModuleType("gameZombies2")
    for module, engine, others in ((one, System, []), (two, Engine, [agents.SimplePlayer])):
        ruled: type = type(engine.__name__, (engine,), {"usual_rules": rules})
        # The engine for two has had both names; the modules are there for import *.
        vars(module).update(System=ruled, Engine=ruled, main=_main(ruled, others), random=random, IntEnum=IntEnum)
        for source in (agents, dice):
            vars(module).update({name: getattr(source, name) for name in source.__all__})
    return {"gameZombies": one, "gameZombies2": two}


def _main(engine: type, others: Sequence[type]) -> Callable[[], None]:
    """Runs a module as a program: lets a person play, against an agent in the game for two."""
    return lambda: engine().run(agents.HumanAgent(), *(other() for other in others))
