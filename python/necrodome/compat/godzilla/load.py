"""Loads a file of players, with the modules that it imports: those of the program, if it has them, or stand-ins."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from ..load import classes, find, load
from . import player as ours

_CONSTANTS = ("DIESIDE", "MAX_HEALTH", "VICTORY_PTS_WIN", "DIE_COUNT", "ENTER_TOKYO_PTS", "START_TOKYO_PTS", "MAX_ROLLS")
_METHODS = ["keep_dice", "yield_tokyo"]


def stand_ins() -> dict[str, ModuleType]:
    """The modules that a file of players imports."""
    constants = ModuleType("constants")
    for name in _CONSTANTS:
        setattr(constants, name, getattr(ours, name))
    player = ModuleType("player")
    vars(player).update(Player=ours.Player, PlayerState=ours.PlayerState)
    helpers = ModuleType("helpers")
    vars(helpers).update(constants=constants)
    return {"constants": constants, "helpers": helpers, "helpers.constants": constants, "player": player}


def program_of(file: str) -> Path | None:
    """The folder of the program that a file belongs to: the nearest above it that has the program's ``player.py``."""
    above = Path(file).resolve().parents
    return next((folder for folder in above[:3] if (folder / "player.py").is_file() and _has_constants(folder)), None)


def _has_constants(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("constants.py", "helpers/constants.py"))


def prepare(file: str) -> None:
    """Lets a file import what it needs, for the life of the process, since it may import anywhere."""
    program = program_of(file)
    if program is not None:
        sys.path.insert(0, str(program))
        # The program reads its own files from where it is.
        os.chdir(program)
        try:
            import_module("player")
            return
        except ModuleNotFoundError as missing:
            print(f"{program / 'player.py'} needs {missing.name}, which is not installed: without it, llm_call is an error", file=sys.stderr)
    sys.modules.update(stand_ins())


def player_of(file: str, name: str | None) -> Any:
    """The class of a file, or an object that it makes."""
    module = load(file)
    found = classes(module, _METHODS)
    if name is None and len(found) == 1:
        return found[0]
    value = getattr(module, name, None) if name else None
    return value if value in found else find(module, name, _METHODS)
