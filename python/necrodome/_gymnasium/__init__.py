"""Registers the environments with Gymnasium: every module in this folder has the `ENVIRONMENTS` of one game.

Importing `necrodome.envs` does so, and importing `necrodome` if Gymnasium is already loaded: a bot need not wait for it.
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
    """Registers the environments with Gymnasium, once."""
    from gymnasium.envs.registration import register, registry

    for module in iter_modules(__path__, f"{__name__}."):
        environments: dict[str, Registration] = import_module(module.name).ENVIRONMENTS
        for name, registration in environments.items():
            if f"necrodome/{name}" not in registry:
                register(f"necrodome/{name}", **registration)


def against_bots(game: str, opponents: Sequence[str]) -> Registration:
    """Makes the registration of an environment: one seat against built-in bots, unless other opponents are given.

    These opponents belong to the version of the environment. Those of the game's card may change to suit people.
    """
    kwargs = {"game": game, "usual": opponents}
    return {**BARE, "entry_point": "necrodome.envs.versus:VersusEnv", "kwargs": kwargs}
