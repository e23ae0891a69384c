"""The turn of a zombie, which is called once per turn and calls ``roll()`` itself."""

from __future__ import annotations

import time

from ..._native import TurnOver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .dice import Roll

#: Rolls for the zombie whose turn it is; nothing outside of a turn.
rolls: Callable[[], Roll | None] | None = None


def new_state() -> dict[str, Any]:
    """The state of a game before there is one."""
    turn = ["CURRENT_ZOMBIE", "CURRENT_CUP", "CURRENT_HAND", "SHOTGUNS_ROLLED", "BRAINS_ROLLED"]
    return dict.fromkeys([*turn, "ROLLED_BRAINS_DETAILS", "TURN_START_TIME"])


def copied(state: dict[str, Any]) -> dict[str, Any]:
    """Copies the state for a zombie, which may change it. A copy is made each turn, so this copies only what a state contains."""
    return {key: value.copy() if isinstance(value, (list, dict)) else value for key, value in state.items()}


def begin_game(zombie: Any) -> None:
    """Tells a zombie that a game begins."""
    if hasattr(zombie, "newGame"):
        zombie.newGame()


def end_game(zombie: Any, state: dict[str, Any]) -> None:
    """Tells a zombie how the game has ended."""
    if hasattr(zombie, "endGame"):
        zombie.endGame(copied(state))


def take_turn(zombie: Any, state: dict[str, Any], roll: Callable[[], Roll | None]) -> None:
    """Lets a zombie take its turn. Its exceptions are raised here; a turn that is over before it returns is unwound."""
    global rolls
    shown = copied(state)
    state["TURN_START_TIME"] = time.time()
    rolls = roll
    try:
        zombie.turn(shown)
    except TurnOver:
        pass
    finally:
        rolls = None
