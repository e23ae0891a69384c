"""Checks of arguments: an error says what is wrong and what was expected."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Iterable, Mapping, Sized
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded

#: The largest seed.
MOST_SEED = 2**64 - 1

BAD_ACTIONS = ("play", "raise")


def whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Checks a whole number within bounds.

    >>> whole("threads", np.int64(3), 1)
    3
    >>> whole("threads", 0, 1)
    Traceback (most recent call last):
    ...
    ValueError: threads 0: expected a whole number of at least 1
    >>> whole("num_envs", 1.5, 1)
    Traceback (most recent call last):
    ...
    TypeError: num_envs: expected a whole number, got 1.5 (float)
    """
    if isinstance(value, (bool, np.bool_)):
        raise _not_whole(name, value)
    try:
        number = operator.index(value)
    except TypeError:
        raise _not_whole(name, value) from None
    if number < least or (most is not None and number > most):
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} {number}: expected a whole number {bounds}")
    return number


def _not_whole(name: str, value: Any) -> TypeError:
    return TypeError(f"{name}: expected a whole number, got {value!r} ({type(value).__name__})")


def checked_seed(seed: Any) -> int:
    """Checks a seed."""
    return whole("seed", seed, 0, MOST_SEED)


def checked_seeds(seeds: Any, count: int) -> list[int | None]:
    """Checks a seed for each match; `None` for a match whose chance goes on."""
    if isinstance(seeds, (str, bytes)) or not (isinstance(seeds, Iterable) and isinstance(seeds, Sized)):
        came = f"{seeds!r} ({type(seeds).__name__})"
        raise TypeError(f"seed: expected a whole number, or one for each of {count} matches, got {came}")
    if len(seeds) != count:
        raise ValueError(f"seed: expected one number, or {count}, one for each match, got {len(seeds)}")
    return [None if seed is None else checked_seed(seed) for seed in seeds]


def rules_as_json(rules: Mapping[str, Any]) -> str:
    """Writes options of the rules for the native module; numbers may be numpy's.

    >>> rules_as_json({"max_turns": np.int64(5)})
    '{"max_turns": 5}'
    """
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in rules.items()}
    for name, value in plain.items():
        if not isinstance(value, (str, int, float, type(None))) or value != value:
            raise TypeError(f"option {name}: expected a number, a word, True, False or None, got {value!r}")
    return json.dumps(plain)


def one_of(name: str, value: Any, known: tuple[str, ...]) -> str:
    """Checks that a value is one of some words."""
    if isinstance(value, str) and value in known:
        return value
    error = ValueError if isinstance(value, str) else TypeError
    raise error(f"{name} {value!r}: expected {' or '.join(map(repr, known))}")


def checked_action(action: Any, actions: int) -> int:
    """Checks the number of an action, which may be illegal.

    >>> checked_action(np.int64(1), 2)
    1
    >>> checked_action(1.0, 2)
    Traceback (most recent call last):
    ...
    TypeError: expected an action, a whole number from 0 to 1, got 1.0 (float)
    """
    expected = f"expected an action, a whole number from 0 to {actions - 1}, got"
    try:
        number = operator.index(action)
    except TypeError:
        raise TypeError(f"{expected} {action!r} ({type(action).__name__})") from None
    if not 0 <= number < actions:
        raise ValueError(f"{expected} {number}")
    return number


def not_begun() -> ResetNeeded:
    """Makes the error for a step before the first `reset`."""
    return ResetNeeded("call reset before the first step")


def memory() -> int | None:
    """The bytes of memory of this machine, or the most that this process may use; None if unknown."""
    sizes = []
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    try:
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as limit:
            sizes.append(int(limit.read()))
    except (OSError, ValueError):
        pass
    return min((size for size in sizes if size > 0), default=None)
