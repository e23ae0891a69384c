"""Agents of GameZombies, for one player (``zombie-dice-solo``) and for two (``zombie-dice-race``).

Agents run unchanged as ``compat:gamezombies:my_agent.py:MyAgent``::

    class MyAgent:
        def wakeUp(self, state, descriptor, actions): ...
        def perceive(self, state, reward): ...
        def decide(self, isValidAction): return "go"      # or action()
        def sleep(self, score): ...                       # or kill(score)

What they hear, in this order: ``wakeUp`` before the first decision of a game; then for each decision ``decide``, and ``perceive`` with
what came of it; at the end ``sleep`` with the score. ``isValidAction`` is False when the last answer was neither "go" nor "stop";
then the agent is asked once more.

A state is a text of eight fields: brains, shotguns, three dice, and what is left in the cup of EASY (green), MEDI (yellow)
and HARD (red) dice: ``0-0-UNDEFINED-UNDEFINED-UNDEFINED-6-4-3`` at the start, ``1-1-EASY(Run)-EASY(Brain)-EASY(Gun)-3-4-3`` after a
roll. The cup is ``0-0-0`` when the turn is over; who has lost the turn has no brains. For two players ``-score:-MINE-OPPONENT``
follows, and each turn but the first begins with ``perceive`` of a new start.

Rules and rewards are those of the arena. One player: the reward is the change of what could be banked, so that the rewards of
a game sum to its score. Two: +10 for who wins and -10 for who loses, at the end only.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ..bot import Action, Bot, Talk, View, Wire
from .load import NoBot, find, load

__all__ = ["ACTIONS", "DESCRIPTOR", "Agent", "state_of", "serve"]

#: The names of the fields of a state.
DESCRIPTOR = ["Brain", "Shoot", "D1", "D2", "D3", "EASY", "MEDIUM", "HARD"]
#: What an agent may answer.
ACTIONS = ["stop", "go"]
#: The reward for who wins; who loses has as much less.
WIN = 10

_COLOURS = {"green": "EASY", "yellow": "MEDI", "red": "HARD"}
_FACES = {"brain": "Brain", "footsteps": "Run", "shotgun": "Gun"}
_NO_HAND = ["UNDEFINED"] * 3
_EMPTY = {"green": 0, "yellow": 0, "red": 0}
_FULL = {"green": 6, "yellow": 4, "red": 3}


def state_of(
    brains: int,
    shotguns: int,
    hand: list[View] | None,
    cup: Mapping[str, int],
    scores: tuple[int, int] | None = None,
) -> str:
    """A state as text.

    >>> state_of(0, 0, None, {"green": 6, "yellow": 4, "red": 3}, (2, 5))
    '0-0-UNDEFINED-UNDEFINED-UNDEFINED-6-4-3-score:-2-5'
    """
    dice = _NO_HAND if hand is None else [f"{_COLOURS[die['colour']]}({_FACES[die['face']]})" for die in hand]
    fields = [brains, shotguns, *dice, *(cup[colour] for colour in _COLOURS)]
    if scores is not None:
        fields += ["score:", *scores]
    return "-".join(map(str, fields))


class Agent(Bot):
    """An agent of GameZombies as a bot."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent
        self.start_anew()

    def start_anew(self) -> None:
        """Before a game."""
        self.awake = False
        #: By seat; the second is not used by one player.
        self.scores = [0, 0]
        #: The end of a turn that the agent does not know of yet: brains, shotguns, hand and reward. It is told when it is
        #: clear whether it was the end of the game, too.
        self.ended: tuple[int, int, list[View] | None, int] | None = None
        self.begin_turn()

    def begin_turn(self) -> None:
        """Before a turn."""
        self.in_turn = False
        self.brains = 0
        self.shotguns = 0
        self.hand: list[View] | None = None

    def start(self) -> None:
        if self.game not in ("zombie-dice-solo", "zombie-dice-race"):
            raise NoBot(f"agents of GameZombies play zombie-dice-solo and zombie-dice-race, not {self.game}")
        self.start_anew()

    def act(self, view: View) -> Action:
        turn = view["turn"]
        if self.races:
            self.scores[self.seat], self.scores[1 - self.seat] = view["score"], view["opponent_score"]
        self._tell_end(0)
        state = self._state(turn["brains"], turn["shotguns"], turn["hand"], turn["cup"])
        if not self.awake:
            self._wake_up(state)
        else:
            self.agent.perceive(state, self._gain(turn["brains"]) if self.in_turn else 0)
        self.in_turn, self.brains = True, turn["brains"]
        choice = self._decide(True)
        return choice if choice in ACTIONS else self._decide(False)

    @property
    def races(self) -> bool:
        """Whether there is an opponent."""
        return self.game == "zombie-dice-race"

    def _state(self, brains: int, shotguns: int, hand: list[View] | None, cup: Mapping[str, int]) -> str:
        scores = (self.scores[self.seat], self.scores[1 - self.seat]) if self.races else None
        return state_of(brains, shotguns, hand, cup, scores)

    def _gain(self, brains: int) -> int:
        """The change of what could be banked, which is the reward of who plays alone."""
        return 0 if self.races else brains - self.brains

    def _wake_up(self, state: str) -> None:
        self.awake = True
        self.agent.wakeUp(state, list(DESCRIPTOR), list(ACTIONS))

    def _decide(self, valid: bool) -> str:
        # Agents often keep their last choice as self.action, so decide comes first.
        method = self.agent.decide if callable(getattr(self.agent, "decide", None)) else self.agent.action
        choice: str = method(valid) if inspect.signature(method).parameters else method()
        return choice

    def hear(self, event: View) -> None:
        if event["type"] == "turn_ended":
            self.scores[event["seat"]] = event["score"]
        if event.get("seat") != self.seat:
            return
        if event["type"] == "rolled":
            self.hand, self.shotguns = event["hand"], event["shotguns"]
        elif event["type"] == "turn_ended":
            self.ended = (event["banked"], self.shotguns, self.hand, self._gain(event["banked"]))
            self.begin_turn()

    def _tell_end(self, more: int) -> None:
        """Tells of the end of a turn."""
        if self.ended is not None and self.awake:
            brains, shotguns, hand, reward = self.ended
            self.agent.perceive(self._state(brains, shotguns, hand, _EMPTY), reward + more)
        self.ended = None

    def end(self, outcome: View) -> None:
        if not self.awake:
            self._wake_up(self._state(0, 0, None, _FULL))
        if self.races:
            self.ended = self.ended or (0, 0, None, 0)
            self._tell_end(WIN if outcome["places"][self.seat] == 1 else -WIN)
        else:
            self._tell_end(0)
        sleep = getattr(self.agent, "sleep", None) or getattr(self.agent, "kill", None)
        if callable(sleep):
            sleep(outcome["scores"][self.seat])


def serve(wire: Wire, file: str, name: str | None) -> None:
    """Plays for an agent of a file, as a process of the arena."""
    agent = find(load(file), name, ["wakeUp", "perceive"], name=name or "agent")
    talk = Talk(Agent(agent))
    for message in wire:
        answer = talk.hear(message)
        if answer is not None:
            wire.send(answer)
