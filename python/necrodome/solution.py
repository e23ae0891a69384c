"""Solved games: the value of every position, the best action, whole tables as numpy arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _html, _native
from .bot import Bot

#: What an option of the rules can be; ``None`` switches a limit off.
Option: TypeAlias = str | int | float | bool | None
#: A position: a view as bots get it, a dict of named numbers, an observation, or a batch of observations.
State: TypeAlias = "Mapping[str, Any] | npt.ArrayLike"


def solve(game: str, *, seats: int | None = None, **rules: Option) -> Solution:
    """Solve a game exactly.

    The ``ValueError`` for a game that is not solved lists those that are; some are solved only for two seats.
    ``rules`` are the options of the game, as on the command line. The second call with the same rules costs
    nothing.

    >>> import necrodome
    >>> necrodome.solve("zombie-dice-solo").value
    2.258550969970581
    >>> race = necrodome.solve("zombie-dice-race", out_of_dice="recycle_brains")
    >>> round(race.value, 6)
    0.565681
    """
    if not isinstance(game, str):
        raise TypeError(f"game: expected the id of a game, such as 'zombie-dice-race', got {game!r}")
    if seats is not None and (isinstance(seats, bool) or not isinstance(seats, int | np.integer)):
        raise TypeError(f"seats: expected a whole number, got {seats!r}")
    if seats is not None and seats < 1:
        raise ValueError(f"seats: expected at least 1, got {seats}")
    return Solution(_native.Solution(game, options(rules), None if seats is None else int(seats)))


def options(rules: Mapping[str, Option]) -> str:
    """Writes options of the rules as JSON, for the native module."""
    try:
        return json.dumps(dict(rules))
    except TypeError as error:
        raise TypeError(f"options of the rules are text, numbers, booleans or None: {error}") from None


class Solution:
    """A solved game. Made by :func:`solve`.

    A value is the expected score in a game for one, and otherwise the chance to win (a shared win counts one
    half), always for the player who is to act, with perfect play on both sides from there on.

    A *state* is one of these; in games for two it is what the player who is to act sees:

    - a view, as bots get it: ``{"turn": {...}, "score": 3, "opponent_score": 5}``;
    - a dict of named numbers: every name of ``fields``, each a number;
    - an observation: as many integers as there are ``fields``, in their order;
    - a batch of observations: a 2-d array of integers, one row each.
    """

    def __init__(self, native: _native.Solution) -> None:
        self._native = native

    def __repr__(self) -> str:
        return f"<{self.game} solved: value {self.value:.6f}, {self.positions} positions>"

    def _repr_html_(self) -> str:
        """For notebooks: the value, and the fields of an observation."""
        rules = ", ".join(f"{name}={value}" for name, value in self.rules.items())
        title = f"{self.game} solved: value {self.value:.6f}, {self.positions} positions ({rules})"
        rows = [{"observation": field["name"], "meaning": field["about"]} for field in self._fields]
        return _html.table(title, rows, ("observation", "meaning"))

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process solves it again: that is cheaper than to send it.
        return _again, (self.game, self.rules)

    @property
    def game(self) -> str:
        """The id of the game."""
        return self._native.game

    @cached_property
    def rules(self) -> dict[str, Option]:
        """All options of the rules with their values."""
        rules: dict[str, Option] = json.loads(self._native.rules)
        return rules

    @property
    def value(self) -> float:
        """The value of a match to the first player before it begins."""
        return self._native.value

    @property
    def positions(self) -> int:
        """The number of positions with a value of their own."""
        return self._native.positions

    @property
    def actions(self) -> int:
        """The number of actions, numbered as in the environments of the game."""
        return self._native.actions

    @cached_property
    def _fields(self) -> list[dict[str, Any]]:
        fields: list[dict[str, Any]] = json.loads(self._native.fields())
        return fields

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The names of the numbers of an observation, in their order."""
        return tuple(field["name"] for field in self._fields)

    @cached_property
    def tables(self) -> Mapping[str, npt.NDArray[Any]]:
        """The whole solution as read-only arrays: those of ``necrodome solve GAME --policy
        FILE.npz``."""
        tables = {}
        for name, shape, data in self._native.tables():
            table = data.reshape(shape)
            table.flags.writeable = False
            tables[name] = table
        return MappingProxyType(tables)

    @cached_property
    def policy(self) -> Policy:
        """The perfect player: see :class:`Policy`."""
        return Policy(self)

    def observation(self, state: State) -> npt.NDArray[np.int16]:
        """Converts a state into an observation; a batch of observations stays a batch.

        >>> solve("zombie-dice-solo").observation({"brains": 2, "shotguns": 1, "cup_green": 4,
        ...     "cup_yellow": 3, "cup_red": 2, "feet_green": 0, "feet_yellow": 1, "feet_red": 0})
        array([2, 1, 4, 3, 2, 0, 1, 0], dtype=int16)
        """
        if not isinstance(state, Mapping):
            return integers(state)
        # A view has parts within parts, named numbers have not.
        if any(isinstance(part, (Mapping, list, tuple)) for part in state.values()):
            return self._native.observe(_view(state))
        return self._named(state)

    def _named(self, state: Mapping[str, Any]) -> npt.NDArray[np.int16]:
        missing = [name for name in self.fields if name not in state]
        unknown = [name for name in state if name not in self.fields]
        if missing or unknown:
            what = (
                f"{', '.join(missing)} missing" if missing else f"there is no {', '.join(map(str, unknown))}"
            )
            raise ValueError(f"a state of {self.game} has {', '.join(self.fields)}: {what}")
        return integers([state[name] for name in self.fields])

    def action_values(self, state: State) -> npt.NDArray[np.float64]:
        """The value of each action: an array of ``actions`` numbers, or such a row for each row of a batch.

        Illegal actions are NaN, and so is a whole row without a decision (the
        last observation of an episode). A state that can never come up is a ``ValueError``.

        >>> stop, go = solve("zombie-dice-solo").action_values([2, 1, 4, 3, 2, 0, 1, 0])
        >>> float(stop), round(float(go), 6)
        (2.0, 2.611785)
        """
        rows = self.observation(state)
        values = self._native.action_values(np.atleast_2d(rows))
        return values.reshape(*rows.shape[:-1], self.actions)

    def regret(self, view: Mapping[str, Any], action: Mapping[str, Any] | None) -> float:
        """The cost of an action with a view: the value of the best action minus its own.

        ``None`` stands for no usable action: its value is that of the move that the game's rule for a bad action makes.

        >>> view = {"turn": {"brains": 0, "shotguns": 0, "hand": None, "cup": {"green": 6, "yellow": 4, "red": 3},
        ...     "brain_dice": {"green": 0, "yellow": 0, "red": 0}}}
        >>> solo = solve("zombie-dice-solo")
        >>> solo.regret(view, {"type": "go"}), round(solo.regret(view, None), 6)
        (0.0, 2.258551)
        """
        value, best = self._native.price(_view(view), json.dumps(action))
        return best - value


def _again(game: str, rules: dict[str, Option]) -> Solution:
    return Solution(_native.Solution(game, options(rules)))


class Policy(Bot):
    """The perfect player of a :class:`Solution`.

    - ``policy(state)`` is the number of the best action; of a batch an array of them. Where nothing can be
      decided it is 0.
    - ``policy.act(view)`` is the best action with a view, as bots give it: the policy is a bot.
    - ``policy.tables`` are the arrays that say what to do.
    """

    deterministic = True
    name = "optimal"

    def __init__(self, solution: Solution) -> None:
        self.solution = solution

    def __call__(self, state: State) -> Any:
        """The number of the best action: an ``int``, or for a batch an array of ``int64``."""
        rows = self.solution.observation(state)
        best = self.solution._native.best_actions(np.atleast_2d(rows)).astype(np.int64)
        return best if rows.ndim == 2 else int(best[0])

    def act(self, view: Mapping[str, Any]) -> dict[str, Any]:
        """The best action with a view.

        >>> solve("zombie-dice-solo").policy.act({"turn": {"brains": 0, "shotguns": 0, "hand": None,
        ...     "cup": {"green": 6, "yellow": 4, "red": 3},
        ...     "brain_dice": {"green": 0, "yellow": 0, "red": 0}}})
        {'type': 'go'}
        """
        action: dict[str, Any] = json.loads(self.solution._native.act(_view(view)))
        return action

    @property
    def tables(self) -> Mapping[str, npt.NDArray[Any]]:
        """The tables of the solution without the values."""
        values = {name: table for name, table in self.solution.tables.items() if table.dtype != np.float64}
        return MappingProxyType(values)


def _view(view: Mapping[str, Any]) -> str:
    """Writes a view as JSON."""
    if not isinstance(view, Mapping):
        raise TypeError(f"expected a view, the dict that bots get, got {view!r}")
    try:
        return json.dumps(view)
    except TypeError as error:
        raise TypeError(f"expected a view of plain numbers, text, lists and dicts: {error}") from None


def integers(state: npt.ArrayLike) -> npt.NDArray[np.int16]:
    """Converts observations into the form of the native module: 16 bits, row by row."""
    if state is None or isinstance(state, str | bytes):
        raise TypeError(f"expected a state (a view, named numbers or observations), got {state!r}")
    try:
        rows = np.asarray(state)
    except ValueError:
        raise ValueError("expected observations of the same length: these rows differ") from None
    if rows.ndim not in (1, 2):
        raise ValueError(
            f"expected an observation or a batch of them (1 or 2 dimensions), got {rows.ndim} dimensions"
        )
    if rows.shape == (0,):
        raise ValueError("expected an observation, got an empty list")
    if not np.issubdtype(rows.dtype, np.integer):
        raise TypeError(f"expected whole numbers, got an array of {rows.dtype}")
    if rows.dtype != np.int16 and rows.size and (rows.max() > 32767 or rows.min() < -32768):
        raise ValueError(
            f"expected numbers of 16 bits, got {rows.max() if rows.max() > 32767 else rows.min()}"
        )
    return np.ascontiguousarray(rows, dtype=np.int16)
