"""Tells Gymnasium of the environments: every module in this folder has the `ENVIRONMENTS` of one game.

Importing `necrodome.envs` does it, and importing `necrodome` where Gymnasium is there already: a bot need not wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeAlias

#: What Gymnasium's `register` takes besides the id.
Registration: TypeAlias = dict[str, Any]

#: Gymnasium makes these environments without wrappers, which would hide `action_masks`, `save`, `restore` and `clone`. They check
#: themselves what its wrappers would check: actions, and that `reset` comes first.
BARE: Registration = {"disable_env_checker": True, "order_enforce": False}


def register() -> None:
    """Enters the environments into Gymnasium's list, once."""
    from gymnasium.envs.registration import register, registry

    for module in iter_modules(__path__, f"{__name__}."):
        environments: dict[str, Registration] = import_module(module.name).ENVIRONMENTS
        for name, registration in environments.items():
            if f"necrodome/{name}" not in registry:
                register(f"necrodome/{name}", **registration)


def against_bots(game: str, opponents: Sequence[str]) -> Registration:
    """One seat against built-in bots, unless others are given.

    They belong to the version of the environment. Those of the game's card may change with what suits people.
    """
    kwargs = {"game": game, "usual": opponents}
    return {**BARE, "entry_point": "necrodome.envs.versus:VersusEnv", "kwargs": kwargs}
