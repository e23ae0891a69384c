"""Tells Gymnasium of the environments, without importing it: a bot need not wait for it.

`gymnasium.make("necrodome/ZombieDiceSolo-v0")` works once `necrodome` has been imported, before Gymnasium or after it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType


def register() -> None:
    """Enters the environments into Gymnasium's list."""
    from gymnasium.envs.registration import register

    register(
        id="necrodome/ZombieDiceSolo-v0",
        entry_point="necrodome.envs.solo:SoloEnv",
        vector_entry_point="necrodome.envs.vector:solo_vec",
    )
    # One seat against built-in bots.
    register(id="necrodome/ZombieDiceRace-v0", entry_point="necrodome.envs.versus:race")
    register(id="necrodome/ZombieDiceTable-v0", entry_point="necrodome.envs.versus:table")
    register(id="necrodome/Tokyo-v0", entry_point="necrodome.envs.versus:tokyo")


def register_when_imported() -> None:
    """Registers now, or as soon as Gymnasium is imported."""
    if "gymnasium" in sys.modules:
        register()
    else:
        sys.meta_path.insert(0, _Watch())


class _Watch(MetaPathFinder):
    """Waits for Gymnasium to be imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _ThenRegister(spec.loader)
        return spec


class _ThenRegister(Loader):
    """Loads a module as another loader does, then registers."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        register()
