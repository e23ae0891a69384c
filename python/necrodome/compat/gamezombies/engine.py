"""The engines of GameZombies: they call agents in this process, and the arena's turn rolls the dice."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cached_property, lru_cache
from inspect import signature
from typing import Any, Literal

from ..._native import ZombieTurn
from .dice import Dice, DiceFace, DiceType
from .state import ACTIONS, DESCRIPTOR, FRESH, is_valid, state_of, with_scores

Rules = Literal["text", "program"]

#: The score that wins the game for two, and what the text gives for that.
GOAL, WIN = 13, 10
#: The cup of a new turn, and of one that is over.
STOCK, NO_DICE = (6, 4, 3), (0, 0, 0)
#: The dice of the arena's turn, by their number there.
_DICE = [(kind, face) for kind in list(DiceType)[:3] for face in (DiceFace.BRAIN, DiceFace.RUN, DiceFace.GUN)]
#: Nobody has more turns than this: two who never bank come to an end.
MOST_TURNS = 1000


class System:
    """The engine for one player: ``System().run(player)`` plays a game. ``score`` is its result.

    Between the calls of the player its state is in ``brain``, ``shot``, ``stock``, ``hand``, ``score`` and ``reward``, and as a text in
    :meth:`stateStr`. To try a state without a game, :meth:`initialize` it, or change a ``copy.deepcopy``, and
    :meth:`step`. ``random.seed`` makes everything repeatable.
    """

    #: The rules where nobody says which.
    usual_rules: str = "text"

    def __init__(
        self, nbDice: int = 3, stockEASY: int = 6, stockMEDIUM: int = 4, stockHARD: int = 3, rules: Rules | None = None
    ) -> None:
        if (nbDice, stockEASY, stockMEDIUM, stockHARD) != (3, *STOCK):
            raise ValueError(f"expected 3 dice from a stock of 6, 4 and 3, got {nbDice} from {stockEASY}, {stockMEDIUM}, {stockHARD}")
        chosen = rules or self.usual_rules
        if chosen not in ("text", "program"):
            raise ValueError(f"rules: expected 'text' or 'program', got {chosen!r}")
        self.as_program = chosen == "program"
        self.nbDice, self.stockEASY, self.stockMEDIUM, self.stockHARD = nbDice, stockEASY, stockMEDIUM, stockHARD
        self.initialize()

    @cached_property
    def _turn(self) -> ZombieTurn:
        return ZombieTurn("{}")

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the dice of the current game: a copy has a state to experiment with."""
        return {name: value for name, value in vars(self).items() if name != "_turn"}

    def initialize(self) -> None:
        """Begins a new game."""
        self.initializeTurn()
        self.score = 0

    def initializeTurn(self) -> None:
        """Begins a new turn."""
        self.brain = self.shot = 0
        self.reward: float = 0
        self.stock = list(STOCK)
        self.hand = [Dice() for _ in range(self.nbDice)]

    def step(self) -> None:
        """Rolls the dice that run, and new dice in the other places."""
        for die in self.hand:
            if die.type == DiceType.UNDEF or die.face != DiceFace.RUN:
                die.setType(self.pullRandomDie())
            die.roll()
            self.brain += die.face == DiceFace.BRAIN
            self.shot += die.face == DiceFace.GUN

    def pullRandomDie(self) -> DiceType:
        """Takes a random die out of the stock."""
        kind = self.randomType()
        self.stock[kind] -= 1
        return kind

    def randomType(self) -> DiceType:
        """The kind of a random die in the stock."""
        return random.choices(list(DiceType)[: len(self.stock)], self.stock)[0]

    def handDieType(self, idice: int) -> DiceType:
        """The kind of the die in a place, if it runs and will be rolled again."""
        die = self.hand[idice]
        return die.type if die.face == DiceFace.RUN else DiceType.UNDEF

    def remaining_dice(self) -> int:
        """The number of dice that can be rolled. A place with no die yet counts, as in the program."""
        return sum(self.stock) + sum(die.face == DiceFace.RUN for die in self.hand)

    def state(self) -> dict[str, Any]:
        """The state as named fields."""
        return dict(zip(DESCRIPTOR, self._fields()))

    def stateStr(self) -> str:
        """The state as text, as agents get it."""
        return "-".join(map(str, self._fields()))

    def _fields(self) -> tuple[Any, ...]:
        return (self.brain, self.shot, *map(str, self.hand), *self.stock)

    def __str__(self) -> str:
        return self.stateStr()

    def _land(self, brains: int, shotguns: int, dice: tuple[int, int, int], cup: tuple[int, int, int]) -> str:
        """Shows the arena's roll."""
        self.brain, self.shot, self.stock = brains, shotguns, list(cup)
        for die, number in zip(self.hand, dice):
            die.type, die.face = _DICE[number]
        return state_of(brains, shotguns, dice, cup)

    def valideAction(self, action: object) -> bool:
        """Whether an answer is an action."""
        return is_valid(action)

    def run(self, player: Any) -> None:
        """Plays a game."""
        turn, decide = self._turn, deciding(player)
        turn.start(random.getrandbits(53))
        turn.begin()
        self.initialize()
        state, over = FRESH, False
        player.wakeUp(state, list(DESCRIPTOR), list(ACTIONS))
        while not over:
            action = decide()
            if action == "go":
                dice, cup, (brains, shotguns), (is_out, is_lost) = turn.go()
                over = is_out or is_lost
                is_lost = is_lost and not (is_out and self.as_program)
                if self.as_program:
                    self.reward = -brains if is_lost else 0 if is_out else brains - self.score
                else:
                    self.reward = (0 if is_lost else brains) - self.score
                self.score = 0 if is_lost else brains
                state = self._land(brains, shotguns if is_lost or not over else 3, dice, NO_DICE if over else cup)
            elif action == "stop":
                self.reward, over = 0, True
                self.shot, self.stock = 3, list(NO_DICE)
                state = stopped(state)
            player.perceive(state, self.reward)
        falling_asleep(player)(self.score)


class Engine(System):
    """The engine for two players: ``Engine().run(first, second)`` plays a game. ``scores`` is its result.

    ``score`` and ``opScore`` are the scores of the current player and of the other.
    """

    def initialize(self) -> None:
        super().initialize()
        self.opScore = 0

    def state(self) -> dict[str, Any]:
        named = {name.lower(): value for name, value in super().state().items()}
        return {**named, "score": self.score, "oponent": self.opScore}

    def stateStr(self) -> str:
        return with_scores(super().stateStr(), self.score, self.opScore)

    def run(self, player1: Any, player2: Any) -> None:  # type: ignore[override]
        """Plays a game."""
        self._turn.start(random.getrandbits(53))
        players, deciders = (player1, player2), (deciding(player1), deciding(player2))
        scores = self.scores = [0, 0]
        mover, turns = 0, 0
        while True:
            player = players[mover]
            start = self._begin(scores[mover], scores[1 - mover])
            if turns < 2:
                player.wakeUp(start, list(DESCRIPTOR), list(ACTIONS))
            else:
                player.perceive(start, 0.0)
            scores[mover] += self._play_turn(player, deciders[mover], start)
            turns += 1
            if scores[mover] >= GOAL and not (self.as_program and turns < 2) or turns == 2 * MOST_TURNS:
                break
            mover = 1 - mover
        if turns < 2:
            # Who has had no turn has nothing to learn from.
            player2.wakeUp(self._begin(0, scores[0]), list(DESCRIPTOR), list(ACTIONS))
        winner = mover if scores[mover] >= GOAL else int(scores[1] > scores[0])
        for seat in (1 - winner, winner):
            own, other = scores[seat], scores[1 - seat]
            start = self._begin(own, other)
            given = (own if seat == winner else -1) if self.as_program else (WIN if seat == winner else -WIN)
            if seat < turns:
                players[seat].perceive(start, given)
            falling_asleep(players[seat])(own)

    def _begin(self, own: int, other: int) -> str:
        """Begins a turn of a player with this score."""
        self.initializeTurn()
        self.score, self.opScore = own, other
        return with_scores(FRESH, own, other)

    def _play_turn(self, player: Any, decide: Callable[[], str], state: str) -> int:
        """Plays a turn, and returns the brains that it banks."""
        self._turn.begin()
        brains = 0
        while (action := decide()) != "stop":
            if action == "go":
                dice, cup, (brains, shotguns), (is_out, is_lost) = self._turn.go()
                state = with_scores(self._land(brains, shotguns, dice, cup), self.score, self.opScore)
                if is_out and (self.as_program or not is_lost):
                    return brains
                if is_lost:
                    return 0
            player.perceive(state, 0.0)
        return brains


def stopped(state: str) -> str:
    """The state of a player who has stopped."""
    brains, _, *dice = state.split("-")[:5]
    return "-".join([brains, "3", *dice, "0-0-0"])


def deciding(player: Any) -> Callable[[], str]:
    """Asks the agent. Agents often keep their last choice as ``self.action``, so ``decide`` comes first."""
    method = player.decide if callable(getattr(player, "decide", None)) else player.action
    if _has_parameters(getattr(method, "__func__", method), hasattr(method, "__func__")):
        return lambda: method(is_valid)
    return method  # type: ignore[no-any-return]


@lru_cache
def _has_parameters(function: Callable[..., Any], is_method: bool) -> bool:
    return len(signature(function).parameters) > is_method


def falling_asleep(player: Any) -> Callable[[int], object]:
    """Tells the agent its score."""
    method = getattr(player, "sleep", None) or getattr(player, "kill", None)
    return method if callable(method) else lambda score: None
