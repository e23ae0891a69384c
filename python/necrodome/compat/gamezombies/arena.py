"""An agent of GameZombies as a bot of the arena."""

from __future__ import annotations

import sys
from typing import Any

from ..._native import ZombieHand
from ...bot import Action, Bot, Talk, View, Wire
from ..load import NoBot, find, load
from .engine import NO_DICE, WIN, deciding, falling_asleep, stopped
from .state import ACTIONS, COLOURS, DESCRIPTOR, FACES, FRESH, is_valid, state_of, with_scores

#: How often an agent is asked for a valid action.
TRIES = 100


class Agent(Bot):
    """An agent of GameZombies as a bot."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent
        self.start_anew(0)

    def start_anew(self, seed: int) -> None:
        """Before a game."""
        self.awake = False
        #: By seat; the second is not used by one player.
        self.scores = [0, 0]
        #: What the agent was told last, and got for it.
        self.told = ("", 0)
        self.hand = ZombieHand(seed)
        self.begin_turn()

    def begin_turn(self) -> None:
        """Before a turn."""
        self.hand.clear()
        self.brains = 0
        #: Brains and shotguns after the last roll, and its dice in their places; nothing before the first.
        self.rolled: tuple[int, int, tuple[int, int, int]] | None = None
        self.in_turn = False

    def start(self) -> None:
        if self.game not in ("zombie-dice-solo", "zombie-dice-race"):
            raise NoBot(f"agents of GameZombies play zombie-dice-solo and zombie-dice-race, not {self.game}")
        self.start_anew(self.rng.getrandbits(53))

    @property
    def races(self) -> bool:
        """Whether there is an opponent."""
        return self.game == "zombie-dice-race"

    def act(self, view: View) -> Action:
        turn = view["turn"]
        if self.races:
            self.scores[self.seat], self.scores[1 - self.seat] = view["score"], view["opponent_score"]
        if turn["hand"] is not None and self.rolled is None:
            self._land(turn["hand"], turn["brains"], turn["shotguns"])
        cup = [turn["cup"][colour] for colour in COLOURS]
        state = FRESH if self.rolled is None else state_of(*self.rolled[:2], self.rolled[2], cup)
        # The first state of a game is what the agent wakes up to, that of a later turn is a new start.
        self._tell(state, turn["brains"] - self.brains if self.in_turn and not self.races else 0)
        self.in_turn, self.brains = True, turn["brains"]
        decide = deciding(self.agent)
        for _ in range(TRIES):
            choice = decide()
            if is_valid(choice):
                break
            self.agent.perceive(*self.told)
        return choice

    def _tell(self, state: str, reward: int) -> None:
        """Shows the agent a state, or wakes it up with it."""
        if self.races:
            state = with_scores(state, self.scores[self.seat], self.scores[1 - self.seat])
        self.told = (state, reward)
        if self.awake:
            self.agent.perceive(state, reward)
        else:
            self.awake = True
            self.agent.wakeUp(state, list(DESCRIPTOR), list(ACTIONS))

    def _land(self, hand: list[View], brains: int, shotguns: int) -> None:
        dice = [COLOURS.index(die["colour"]) * 3 + FACES.index(die["face"]) for die in hand]
        self.rolled = (brains, shotguns, self.hand.land(dice))

    def hear(self, event: View) -> None:
        if event["type"] == "turn_ended":
            self.scores[event["seat"]] = event["score"]
        if event.get("seat") != self.seat:
            return
        if event["type"] == "rolled":
            self._land(event["hand"], event["brains"], event["shotguns"])
        elif event["type"] == "turn_ended":
            if not self.races:
                self._tell_end(event)
            self.begin_turn()

    def _tell_end(self, event: View) -> None:
        """Shows a single player the end of the turn, since it is the end of the game."""
        if not self.awake:
            self._tell(FRESH, 0)
        if event["why"] == "stopped":
            state = stopped(self.told[0])
        elif self.rolled is None:
            state = stopped(FRESH)
        else:
            brains, shotguns, dice = self.rolled
            state = state_of(brains, shotguns if event["why"] == "busted" else 3, dice, NO_DICE)
        self._tell(state, event["banked"] - self.brains)

    def end(self, outcome: View) -> None:
        had_turn = self.awake
        if not had_turn:
            self._tell(FRESH, 0)
        # Who has had no turn has nothing to learn from.
        if self.races and had_turn:
            self._tell(FRESH, WIN if outcome["places"][self.seat] == 1 else -WIN)
        falling_asleep(self.agent)(outcome["scores"][self.seat])


def serve(file: str, name: str | None) -> None:
    """Plays for an agent of a file, as a process of the arena."""
    from . import stand_ins

    # Before anything of the file is run: what it prints must not come between the lines.
    wire = Wire.take_over()
    sys.modules.update(stand_ins())
    talk = Talk(Agent(find(load(file), name, ["wakeUp", "perceive"], name=name or "agent")))
    for message in wire:
        answer = talk.hear(message)
        if answer is not None:
            wire.send(answer)
