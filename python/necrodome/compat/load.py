"""Loads a file as if the program it was written for were there, and finds the bot in it."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import ModuleType
    from typing import Any


class NoBot(Exception):
    """The error for a bot that the file does not have, or that cannot be made."""


@contextmanager
def standing_in(modules: Mapping[str, ModuleType]) -> Iterator[None]:
    """Makes these modules importable under these names for a while."""
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


def load(
    path: str, *, package: str | None = None, as_main: bool = False, may_end: Callable[[], bool] = lambda: False
) -> ModuleType:
    """Runs a Python file, and returns what it has defined. It can import the files beside it, as a script can.

    Relative imports start from ``package``. ``as_main`` runs the part for ``__main__``, too. Once ``may_end`` says so, an error
    just ends the file.
    """
    file = os.path.realpath(path)
    if not os.path.isfile(file):
        raise NoBot(f"there is no file {path!r}")
    folder, stem = os.path.dirname(file), os.path.splitext(os.path.basename(file))[0]
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = f"{package}.bots_of_{stem}" if package else f"bots_of_{stem}"
    spec = spec_from_file_location(name, file)
    get_code = getattr(spec and spec.loader, "get_code", None)
    if spec is None or get_code is None:
        raise NoBot(f"{path!r} is no file of Python: expected one that ends in .py")
    module = module_from_spec(spec)
    if as_main:
        module.__name__ = "__main__"
    else:
        sys.modules[name] = module
    code = get_code(name)
    try:
        if code is not None:
            exec(code, vars(module))
    except (Exception, SystemExit) as error:
        if not may_end():
            raise
        if isinstance(error, Exception):
            print(f"{path}: nothing is read after {type(error).__name__}: {error}", file=sys.stderr)
    return module


def classes(module: ModuleType, methods: Iterable[str]) -> list[type]:
    """The classes that the file itself defines and that have these methods."""
    wanted = list(methods)
    own = [value for value in vars(module).values() if isinstance(value, type)]
    found = [cls for cls in own if cls.__module__ == module.__name__ and not getattr(cls, "__abstractmethods__", None)]
    return [cls for cls in found if all(callable(getattr(cls, method, None)) for method in wanted)]


def find(module: ModuleType, name: str | None, methods: Iterable[str], /, **offered: Any) -> Any:
    """Finds the bot with this name: an object of the file, or one made from a class with the offered arguments that it accepts."""
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
    """Makes an object of the class."""
    takes = _parameters(cls)
    missing = [name for name, has_default in takes.items() if not has_default and name not in offered]
    if missing:
        raise NoBot(
            f"{cls.__name__} cannot be made without {', '.join(missing)}: "
            f"make an object in the file, as in bot = {cls.__name__}(...), and give its name in place of the class"
        )
    return cls(**{name: value for name, value in offered.items() if name in takes})


def _parameters(cls: type) -> dict[str, bool]:
    """The named parameters for making an object of the class, and whether each has a default."""
    init, new = (getattr(cls, method) for method in ("__init__", "__new__"))
    is_plain = type(cls) is type and new is object.__new__
    if is_plain and init is object.__init__:
        return {}
    code = getattr(init, "__code__", None)
    if is_plain and code is not None and not code.co_posonlyargcount and not hasattr(init, "__wrapped__"):
        # As below, without a module that takes as long to import as Python takes to start.
        positional = code.co_varnames[: code.co_argcount]
        by_name = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        defaults = {*positional[len(positional) - len(init.__defaults__ or ()) :], *(init.__kwdefaults__ or {})}
        return {name: name in defaults for name in (*positional[1:], *by_name)}
    import inspect

    try:
        parameters = inspect.signature(cls).parameters.values()
    except ValueError:  # Some classes of C have no signature.
        return {}
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {it.name: it.default is not it.empty for it in parameters if it.kind in named}
