"""Players of godzilla-v2, for ``tokyo``.

Players run unchanged as ``compat:godzilla:my_player.py:MyPlayer``::

    from constants import DIESIDE
    from player import Player, PlayerState

    class MyPlayer(Player):
        def keep_dice(self, dice_results, other_player_states, roll_counter):
            return [die == DIESIDE.ATTACK for die in dice_results], "attack is all that counts"

        def yield_tokyo(self, other_player_states):
            return self.state.health <= 5

``keep_dice`` gives a mask of the dice to keep, ``yield_tokyo`` a bool; both may give a pair with a reason, which is kept in the
replay. ``roll_counter`` is 0 after the first roll and 1 after the second. ``other_player_states`` maps a name to the index of
the player and its state, with ``health``, ``victory_points`` and ``in_tokyo``; those who are out have no health. The player itself
has ``state``, ``name`` and ``idx``. It is made as ``MyPlayer(idx, name)``, anew if its seat changes; what it remembers in itself is gone
then, what it remembers in its class stays.

A file can import ``constants``, ``helpers.constants`` and ``player``, which are found here. It need not derive from ``Player``.
"""

from __future__ import annotations

import copy
import sys
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from enum import Enum
from types import ModuleType
from typing import Any

from ..bot import Action, Bot, Talk, View, Wire
from .load import NoBot, classes, find, load, make

__all__ = ["DIESIDE", "MAX_HEALTH", "VICTORY_PTS_WIN", "Monster", "Player", "PlayerState", "serve"]

MAX_HEALTH = 10
VICTORY_PTS_WIN = 20
DIE_COUNT = 6
ENTER_TOKYO_PTS = 1
START_TOKYO_PTS = 2


class DIESIDE(str, Enum):
    """The sides of a die."""

    ATTACK = "Attack"
    HEAL = "Heal"
    ONE = "1"
    TWO = "2"
    THREE = "3"


_SIDES = {
    "attack": DIESIDE.ATTACK,
    "heal": DIESIDE.HEAL,
    "one": DIESIDE.ONE,
    "two": DIESIDE.TWO,
    "three": DIESIDE.THREE,
}


@dataclass
class PlayerState:
    """What everybody knows of a player."""

    health: int = MAX_HEALTH
    victory_points: int = 0
    in_tokyo: bool = False

    def model_dump(self) -> dict[str, Any]:
        """The fields as a dict."""
        return asdict(self)

    def model_copy(self, *, update: dict[str, Any] | None = None, deep: bool = False) -> PlayerState:
        """A copy, with some fields changed."""
        return replace(self, **(update or {}))


class Player(ABC):
    """What players derive from."""

    def __init__(self, idx: int, name: str) -> None:
        self.idx = idx
        self._name = name
        self.reset()

    @property
    def name(self) -> str:
        """The name of the player."""
        return self._name

    @property
    def state(self) -> PlayerState:
        """A copy of the player's state: to change it changes nothing."""
        return copy.copy(self._state)

    def reset(self) -> None:
        """Back to the start of a game."""
        self._state = PlayerState()

    @abstractmethod
    def keep_dice(
        self, dice_results: list[DIESIDE], other_player_states: dict[str, tuple[int, PlayerState]], roll_counter: int
    ) -> Any:
        """The mask of the dice to keep, alone or with a reason."""

    @abstractmethod
    def yield_tokyo(self, other_player_states: dict[str, tuple[int, PlayerState]]) -> Any:
        """Whether to leave Tokyo, alone or with a reason."""

    def __str__(self) -> str:
        return f"p{self.idx}_{self.name}"


class Monster(Bot):
    """A player of godzilla-v2 as a bot."""

    def __init__(self, player: Any) -> None:
        """``player`` is a class, or an object for all seats."""
        self.source = player
        self.player: Any = None

    def start(self) -> None:
        if self.game != "tokyo":
            raise NoBot(f"players of godzilla-v2 play tokyo, not {self.game}")
        if not isinstance(self.source, type):
            self.player = self.source
        elif self.player is None or self.player.idx != self.seat:
            self.player = make(self.source, idx=self.seat, name=self.names[self.seat])
        self._set(idx=self.seat, name=self.names[self.seat])
        self._set_state(PlayerState())

    def _set(self, **values: Any) -> None:
        """Tells the player what it is, as far as it can be told: some of it may be fixed in its class."""
        for name, value in values.items():
            try:
                setattr(self.player, name, value)
            except AttributeError:
                pass

    def _set_state(self, state: PlayerState) -> None:
        if isinstance(self.player, Player):
            self.player._name = self.names[self.seat]
            self.player._state = state
        else:
            self._set(state=state)

    def act(self, view: View) -> Action:
        states = [
            PlayerState(monster["health"], monster["points"], view["in_tokyo"] == seat)
            for seat, monster in enumerate(view["monsters"])
        ]
        self._set_state(states[self.seat])
        others = {
            name: (seat, states[seat]) for seat, name in enumerate(self.names) if seat != self.seat
        }
        if view["phase"]["type"] == "yielding":
            yields, reason = _with_reason(self.player.yield_tokyo(others))
            if not isinstance(yields, (bool, int)) and not hasattr(yields, "item"):
                raise TypeError(f"yield_tokyo has returned {yields!r}: expected True or False, or a pair with a reason")
            return _answer({"type": "yield" if yields else "stay"}, reason)
        dice = [_SIDES[die] for die in view["dice"]]
        mask, reason = _with_reason(self.player.keep_dice(dice, others, 2 - view["phase"]["rerolls_left"]))
        kept = list(mask) if hasattr(mask, "__iter__") and not isinstance(mask, str) else []
        if len(kept) != DIE_COUNT:
            raise TypeError(f"keep_dice has returned {mask!r}: expected a mask of {DIE_COUNT}, or a pair with a reason")
        return _answer({"type": "keep", "dice": [bool(keeps) for keeps in kept]}, reason)


def _with_reason(answer: Any) -> tuple[Any, str | None]:
    """What a player has returned, and why."""
    if isinstance(answer, tuple) and len(answer) == 2:
        return answer[0], None if answer[1] is None else str(answer[1])
    return answer, None


def _answer(action: dict[str, Any], reason: str | None) -> Action:
    return action if reason is None else (action, reason)


def stand_ins() -> dict[str, ModuleType]:
    """The modules that a file of players imports."""
    constants = ModuleType("constants")
    for name in ("DIESIDE", "MAX_HEALTH", "VICTORY_PTS_WIN", "DIE_COUNT", "ENTER_TOKYO_PTS", "START_TOKYO_PTS"):
        setattr(constants, name, globals()[name])
    player = ModuleType("player")
    vars(player).update(Player=Player, PlayerState=PlayerState)
    helpers = ModuleType("helpers")
    vars(helpers).update(constants=constants)
    return {"constants": constants, "helpers": helpers, "helpers.constants": constants, "player": player}


def player_of(file: str, name: str | None) -> Any:
    """The class of a file, or an object that it makes."""
    methods = ["keep_dice", "yield_tokyo"]
    module = load(file)
    if name is None:
        found = classes(module, methods)
        if len(found) == 1:
            return found[0]
    value = getattr(module, name, None) if name else None
    return value if value in classes(module, methods) else find(module, name, methods)


def serve(wire: Wire, file: str, name: str | None) -> None:
    """Plays for a player of a file, as a process of the arena."""
    # For as long as the process lives: the file may import them anywhere.
    sys.modules.update(stand_ins())
    talk = Talk(Monster(player_of(file, name)))
    for message in wire:
        answer = talk.hear(message)
        if answer is not None:
            wire.send(answer)
