"""Exact values of policies: no simulation, no error bar."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _native
from .bot import Bot, View, read
from .solution import Option, Policy, Solution, options

#: A way to play: a function, an object with ``act(view)``, or the name of a built-in bot.
Player: TypeAlias = "Callable[..., Any] | Any | str"

#: Games in which policies have an exact value.
EVALUATED = ("zombie-dice-solo", "zombie-dice-race")

#: Of a policy that is called row by row, every so many rows are shown again.
AGAIN = 8


@dataclass(frozen=True)
class Chance:
    """A chance to win the race."""

    first: float
    """Moving first."""
    second: float
    """Moving second."""
    mean: float
    """When seats are changed."""


@dataclass(frozen=True)
class Evaluation:
    """What a policy is worth exactly. Made by :func:`evaluate`."""

    game: str
    """The id of the game."""
    value: float
    """The expected score of solo; in the race the chance to win, on average of both seats."""
    best: float
    """The most that anybody can get: in the race, the chance of the best response to the opponent."""
    distribution: npt.NDArray[np.float64] | None
    """Solo: the probability of each final score."""
    chance: Chance | None
    """Race: the chance to win by seat."""
    best_response: Chance | None
    """Race: the chance of whoever knows exactly how this policy plays and makes the best of it."""
    states: int
    """How many states the policy was asked for."""

    @property
    def regret(self) -> float:
        """What is missing to the best."""
        return self.best - self.value


def evaluate(
    policy: Player,
    game: str = "zombie-dice-solo",
    *,
    opponent: Player | None = None,
    vectorized: bool = False,
    sees: Literal["observation", "view"] = "observation",
    **rules: Option,
) -> Evaluation:
    """The exact value of a policy in ``zombie-dice-solo`` or ``zombie-dice-race``, without simulation.

    A policy is

    - a function of an observation, an array of integers as the environments give it (see
      :attr:`Solution.fields <necrodome.solution.Solution.fields>`); with ``vectorized=True`` of many at once,
      as an array of shape ``(N, fields)``, and then it returns ``N`` answers;
    - with ``sees="view"`` a function of a view, the dict that bots get;
    - an object with a method ``act(view)``, such as a :class:`necrodome.Bot`, or the class of one;
    - the name of a built-in bot, such as ``"greedy"`` or ``"stop-at:brains=3"``; or the policy of a solution.

    It answers with an action (0 or 1, ``False`` or ``True``, ``"stop"`` or ``"go"``, ``{"type": "go"}``), or
    with the probability of going. Nothing else may come into it: it is asked once for every state that can
    come up, some states twice, and if the answers differ that is an error. A policy that tosses coins returns
    its probability instead.

    In the race it plays against the perfect player, or against ``opponent``, which is given in the same way
    (``vectorized`` and ``sees`` hold for both functions).

    >>> import necrodome
    >>> careful = necrodome.evaluate(lambda obs: obs[0] < 2 and obs[1] < 2, "zombie-dice-solo")
    >>> round(careful.value, 6), round(careful.regret, 6)
    (1.629948, 0.628603)
    >>> round(necrodome.evaluate(lambda obs: 0.5).value, 6)
    0.693053
    """
    if game not in EVALUATED:
        raise ValueError(f"{game} cannot be evaluated: expected one of {', '.join(EVALUATED)}")
    solution = Solution(_native.Solution(game, options(rules)))
    ask = [_player(player, solution, vectorized, sees) for player in (policy, opponent) if player is not None]
    document = json.loads(_native.evaluate(game, options(rules), *ask))
    if game == "zombie-dice-solo":
        return Evaluation(
            game=game,
            value=document["score"],
            best=document["best"],
            distribution=np.array(document["distribution"]),
            chance=None,
            best_response=None,
            states=document["views"],
        )
    chance, best, response = (Chance(**document[key]) for key in ("chance", "best", "best_response"))
    return Evaluation(
        game=game,
        value=chance.mean,
        best=best.mean,
        distribution=None,
        chance=chance,
        best_response=response,
        states=document["views"],
    )


_Asked: TypeAlias = "str | tuple[str, Callable[..., Any]]"


def _player(player: Player, solution: Solution, vectorized: bool, sees: str) -> _Asked:
    """A player as the native module asks it."""
    if isinstance(player, str):
        return player
    if sees not in ("observation", "view"):
        raise ValueError(f"sees is 'observation' or 'view', not {sees!r}")
    if isinstance(player, Policy):
        return "observation", _Observer(player, solution.fields, vectorized=True)
    if isinstance(player, type) and issubclass(player, Bot):
        player = player()
    if isinstance(player, Bot):
        player.game, player.options = solution.game, View(solution.rules)
        player.legal = [View(type="stop"), View(type="go")]
    act: Any = getattr(player, "act", player)
    if not callable(act):
        raise TypeError(f"expected a function, an object with act(view) or the name of a bot, got {player!r}")
    if act is player and sees == "observation":
        return "observation", _Observer(player, solution.fields, vectorized)
    return "view", lambda text: _chance(act(read(text)), lambda: f"the view {text}")


class _Observer:
    """A function of observations: answers with probabilities of going, and is asked twice."""

    def __init__(self, policy: Callable[..., Any], names: tuple[str, ...], vectorized: bool) -> None:
        self._policy = policy
        self._names = names
        self._vectorized = vectorized

    def __call__(self, numbers: npt.NDArray[np.int16]) -> npt.NDArray[np.float64]:
        rows = numbers.reshape(-1, len(self._names))
        answers = self._answers(rows)
        # Backwards, so that who counts the questions is found out.
        again = slice(None, None, -1 if self._vectorized else -AGAIN)
        changed = np.flatnonzero(self._answers(rows[again]) != answers[again])
        if len(changed):
            row, first = rows[again][changed[0]], answers[again][changed[0]]
            raise ValueError(
                f"the policy answers differently when it is asked again: first it said {first:g} for "
                f"{self._told(row)}. A policy that leaves something to chance returns a probability"
            )
        return answers

    def _answers(self, rows: npt.NDArray[np.int16]) -> npt.NDArray[np.float64]:
        # A copy: what the policy does to it changes nothing.
        if not self._vectorized:
            return np.array([self._chance(self._policy(row), row) for row in rows.copy()])
        answers = np.asarray(self._policy(rows.copy()))
        if answers.shape != (len(rows),):
            raise ValueError(
                f"expected {len(rows)} answers for {len(rows)} states, got an array of {answers.shape}"
            )
        if answers.dtype.kind not in "biuf":
            return np.array([self._chance(answer, row) for answer, row in zip(answers, rows)])
        chances = answers.astype(np.float64)
        bad = np.flatnonzero(~((chances >= 0) & (chances <= 1)))
        if len(bad):
            self._chance(answers[bad[0]].item(), rows[bad[0]])
        return chances

    def _chance(self, answer: Any, row: npt.NDArray[np.int16]) -> float:
        return _chance(answer, lambda: self._told(row))

    def _told(self, row: npt.NDArray[np.int16]) -> str:
        return ", ".join(f"{name}={number}" for name, number in zip(self._names, row))


def _chance(answer: Any, state: Callable[[], str]) -> float:
    """The probability of going that an answer means; a bot may say why, too."""
    if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], str):
        return _chance(answer[0], state)
    if isinstance(answer, Mapping):
        words = {"stop": 0.0, "go": 1.0}.get(answer.get("type", ""))
    elif isinstance(answer, str):
        words = {"stop": 0.0, "go": 1.0}.get(answer)
    elif isinstance(answer, np.ndarray) and answer.size == 1:
        return _chance(answer.item(), state)
    else:
        words = float(answer) if isinstance(answer, bool | int | float | np.number | np.bool_) else None
    if words is None or not 0 <= words <= 1:
        raise ValueError(
            f"the policy returned {answer!r} for {state()}: "
            "expected 0 or 1, 'stop' or 'go', or the probability of going"
        )
    return words
