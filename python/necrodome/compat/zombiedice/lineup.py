"""The players of a file: the zombies of the tournaments that it starts, or its classes."""

from __future__ import annotations

from ..load import NoBot, classes, find, load, make

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

__all__ = ["NoBot", "enter", "of_classes", "run", "zombie_of"]

#: Where relative imports of a file lead.
_PACKAGE = "zombiedice"

#: How many zombies the tournaments of this process have had: their numbers go on from one to the next.
_entered = 0
#: While a file is loaded for its zombies, those of the tournaments that it would have started.
_collected: list[Any] | None = None


def enter(zombies: list[Any]) -> range | None:
    """Returns the numbers of a new tournament's zombies, or None if it is not to be played, because only its zombies are wanted."""
    global _entered
    if _collected is not None:
        _collected.extend(zombies)
        return None
    first = _entered + 1
    _entered += len(zombies)
    return range(first, _entered + 1)


def run(file: str) -> ModuleType:
    """Runs a file as a program."""
    return load(file, package=_PACKAGE, as_main=True)


def of_classes(module: ModuleType) -> list[Any]:
    """Makes a zombie of each class in a file."""
    found = classes(module, ["turn"])
    if len(found) < 2:
        raise NoBot(f"expected a tournament, or at least two classes with turn(gameState), found {len(found)}")
    return [make(cls, name=cls.__name__) for cls in found]


def zombie_of(file: str, name: str | None) -> Any:
    """Finds the zombie of a file: one that it lets play, by name or number, a class, or an object."""
    if name is not None and name.isdecimal():
        return _numbered(_collect(file, as_main=True)[1], int(name))
    module, zombies = _collect(file)
    own = classes(module, ["turn"])
    if name is None and (own or len(zombies) != 1):
        return find(module, None, ["turn"], name=own[0].__name__ if own else "zombie")
    if name is not None and not hasattr(module, name) and _named(zombies, name) is None:
        # Perhaps it plays where the file is run, rather than imported.
        zombies = _collect(file, as_main=True)[1]
    zombie = _named(zombies, name)
    if zombie is not None:
        return zombie
    try:
        return find(module, name, ["turn"], name=name)
    except NoBot as error:
        playing = f"; in its tournaments play {', '.join(str(zombie.name) for zombie in zombies)}" if zombies else ""
        raise NoBot(f"{error}{playing}") from None


def _collect(file: str, *, as_main: bool = False) -> tuple[ModuleType, list[Any]]:
    """Loads a file without playing its tournaments, and returns their zombies, too.

    Results that are all zero may cause errors in the file, which do not matter.
    """
    global _collected
    zombies: list[Any] = []
    _collected = zombies
    try:
        return load(file, package=_PACKAGE, as_main=as_main, may_end=lambda: bool(zombies)), zombies
    finally:
        _collected = None


def _named(zombies: list[Any], name: str | None) -> Any:
    """The first zombie with this name; without a name, the first."""
    return next((zombie for zombie in zombies if name in (None, zombie.name)), None)


def _numbered(zombies: list[Any], number: int) -> Any:
    if not 1 <= number <= len(zombies):
        raise NoBot(f"there is no zombie number {number}: the file lets {len(zombies)} play")
    return zombies[number - 1]
