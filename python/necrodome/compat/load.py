"""Loading somebody's file as if the program it was written for were there, and finding the bot in it."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any


class NoBot(Exception):
    """There is no such bot in the file, or it cannot be made."""


@contextmanager
def standing_in(modules: Mapping[str, ModuleType]) -> Iterator[None]:
    """While this lasts, these modules are found under these names."""
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module


def load(path: str | Path) -> ModuleType:
    """Runs a file of Python, and gives what it has defined. It finds its neighbours, as a script does."""
    file = Path(path).resolve()
    if not file.is_file():
        raise NoBot(f"there is no file {str(path)!r}")
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    name = f"bots_of_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise NoBot(f"{str(path)!r} is no file of Python: expected one that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def classes(module: ModuleType, methods: Iterable[str]) -> list[type]:
    """The classes that the file itself defines and that have these methods."""
    wanted = list(methods)
    own = [value for value in vars(module).values() if isinstance(value, type)]
    found = [cls for cls in own if cls.__module__ == module.__name__ and not inspect.isabstract(cls)]
    return [cls for cls in found if all(callable(getattr(cls, method, None)) for method in wanted)]


def find(module: ModuleType, name: str | None, methods: Iterable[str], /, **offered: Any) -> Any:
    """The bot with this name: an object of the file, or made from a class with those of the arguments offered that it takes."""
    wanted = list(methods)
    candidates = classes(module, wanted)
    if name is None:
        if len(candidates) != 1:
            raise NoBot(f"expected the name of a class: {_listed(candidates, wanted)}")
        return make(candidates[0], **offered)
    found = getattr(module, name, None)
    if found is None:
        raise NoBot(f"there is no class {name!r} in the file: {_listed(candidates, wanted)}")
    missing = [method for method in wanted if not callable(getattr(found, method, None))]
    if missing:
        raise NoBot(f"{name} has no method {missing[0]}: expected a bot with {', '.join(wanted)}")
    return make(found, **offered) if isinstance(found, type) else found


def _listed(candidates: list[type], methods: list[str]) -> str:
    if not candidates:
        return f"the file has no class with {', '.join(methods)}"
    return "it has " + ", ".join(cls.__name__ for cls in candidates)


def make(cls: type, /, **offered: Any) -> Any:
    """An object of the class."""
    try:
        parameters = inspect.signature(cls).parameters.values()
    except ValueError:  # Some classes of C have no signature.
        return cls()
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    takes = {parameter.name: parameter for parameter in parameters if parameter.kind in named}
    missing = [name for name, it in takes.items() if it.default is it.empty and name not in offered]
    if missing:
        raise NoBot(
            f"{cls.__name__} cannot be made without {', '.join(missing)}: "
            f"make an object in the file, as in bot = {cls.__name__}(...), and give its name in place of the class"
        )
    return cls(**{name: value for name, value in offered.items() if name in takes})
