"""Exact values of policies: no simulation, no error bar."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from . import _html, _native
from .bot import Bot, View, read
from .solution import Option, Policy, Solution, options

#: A way to play: a function, a ``torch.nn.Module``, an object with ``act(view)``, or the name of a built-in bot.
Player: TypeAlias = "Callable[..., Any] | Any | str"
#: What the numbers mean that a policy returns.
Meaning: TypeAlias = Literal["probabilities", "logits", "actions", "q"]

#: Games in which policies have an exact value.
EVALUATED = ("zombie-dice-solo", "zombie-dice-race", "zombie-dice", "tokyo")
#: Games in which that takes long enough to show how far it is.
LONG = ("zombie-dice", "tokyo")

#: A policy that is called row by row, or in a game with many rows, is shown one row in this many a second time.
AGAIN = 8
#: One state in this many may get another answer the second time, where the two highest numbers are nearly equal.
FLIPS = 1000


@dataclass(frozen=True)
class Chance:
    """A chance to win a match of two; a shared win counts one half."""

    first: float
    """Moving first."""
    second: float
    """Moving second."""
    mean: float
    """When seats are changed."""


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The exact value of a policy, made by :func:`evaluate`."""

    game: str
    """The id of the game."""
    value: float
    """The expected score of solo; elsewhere the chance to win, on average of both seats."""
    best: float
    """The most that anybody can get: in games for two, the chance of the best response to the opponent. NaN where
    it is not worked out: in ``zombie-dice`` against an ``opponent`` of your own."""
    distribution: npt.NDArray[np.float64] | None
    """Solo: the probability of each final score."""
    chance: Chance | None
    """Games for two: the chance to win by seat."""
    best_response: Chance | None
    """Race and Tokyo: the chance of whoever knows exactly how this policy plays and makes the best of it."""
    states: int
    """How many states the policy was asked for."""

    @property
    def regret(self) -> float:
        """The best value minus that of the policy."""
        return self.best - self.value

    def __repr__(self) -> str:
        regret = "" if np.isnan(self.best) else f", regret {self.regret:.6f}"
        return f"<{self.game} policy: value {self.value:.6f}{regret}, {self.states} states>"

    def _repr_html_(self) -> str:
        """For notebooks: the value, and the chances by seat."""
        rows: list[dict[str, Any]] = [{"": "value", "mean": self.value}, {"": "best", "mean": self.best}]
        if self.chance is not None:
            rows[0] |= vars(self.chance)
        if self.best_response is not None:
            rows.append({"": "best response", **vars(self.best_response)})
        title = f"{self.game} policy, {self.states} states"
        notes = "" if np.isnan(self.best) else f"regret {self.regret:.6f}"
        return _html.table(title, rows, ("", "mean", "first", "second"), notes)


def evaluate(
    policy: Player,
    game: str = "zombie-dice-solo",
    *,
    opponent: Player | None = None,
    answers: Meaning | None = None,
    vectorized: bool | None = None,
    sees: Literal["observation", "view"] = "observation",
    tolerance: float = 1e-4,
    progress: bool = True,
    **rules: Option,
) -> Evaluation:
    """Work out the exact value of a policy in solo, the race, a table for two or Tokyo for two, without simulation.

    A policy is

    - a function of an observation, an array of integers as the environments give it (see
      :attr:`Solution.fields <necrodome.solution.Solution.fields>`); with ``vectorized=True`` of many at once,
      as an array of shape ``(N, fields)``, and then it returns ``N`` answers;
    - a ``torch.nn.Module``: it is called without gradients, in evaluation mode, with a batch of observations as a
      tensor of the type and on the device of its parameters (``float32`` if it has none);
    - with ``sees="view"`` a function of a view, the dict that bots get (not in Tokyo, which has too many);
    - an object with a method ``act(view)``, such as a :class:`necrodome.Bot`, or the class of one;
    - the name of a built-in bot, such as ``"greedy"`` or ``"stop-at:brains=3"``; or the policy of a solution.

    An answer is an action (its number; of Zombie Dice also ``False`` or ``True``, ``"stop"`` or ``"go"``,
    ``{"type": "go"}``), in Zombie Dice the probability of going, or a number for each action, so that a batch of
    ``N`` observations gets ``(N, actions)``. Those are probabilities unless ``answers`` says otherwise:

    - ``"probabilities"``: each row sums to 1; in Zombie Dice ``N`` numbers are the probabilities of going;
    - ``"logits"``: the probabilities are their softmax (of ``N`` numbers in Zombie Dice: their sigmoid);
    - ``"q"``: the action with the highest number is played, the first of equals;
    - ``"actions"``: ``N`` whole numbers.

    Only legal actions count: the others are left out of the softmax and of the choice of the highest, and their
    probability goes to the legal ones in proportion.

    Answers may depend only on the state: the policy is asked about every state that can come up, some states twice, and
    different answers are an error. A policy that tosses coins returns its probabilities instead. Probabilities
    may differ by ``tolerance``, since the same network returns slightly different numbers in batches of another
    size; for the same reason one state in 1000 may get another action, if two are nearly as good. The first
    answers count.

    In games for two it plays against the perfect player, or against ``opponent``, which is given in the same way
    (``answers``, ``vectorized`` and ``sees`` hold for both).

    Tokyo shows about 34 million states, in batches of some ten thousand, with the dice sorted: a policy that looks
    at their order gets the value that it has with sorted dice. ``zombie-dice`` shows some 50 million states, since
    players see how many rounds are over. With ``progress`` a bar shows the progress of these two.

    >>> import necrodome
    >>> careful = necrodome.evaluate(lambda obs: obs[0] < 2 and obs[1] < 2, "zombie-dice-solo")
    >>> round(careful.value, 6), round(careful.regret, 6)
    (1.629948, 0.628603)
    >>> round(necrodome.evaluate(lambda obs: 0.5).value, 6)
    0.693053
    """
    _check(game, answers, vectorized, sees, tolerance)
    # For its fields and actions, on which a limit has no effect: with a short one the game may not be solved.
    solved = {name: value for name, value in rules.items() if name != "max_rounds"}
    solution = Solution(_native.Solution(game, options(solved), None))
    ask = [
        _player(player, solution, {**solution.rules, **rules}, answers, vectorized, sees, tolerance)
        for player in (policy, opponent)
        if player is not None
    ]
    if not ask or policy is None:
        raise TypeError("policy: expected a function, a module, an object with act(view) or the name of a bot, got None")
    with ExitStack() as stack:
        show = stack.enter_context(_bar(f"evaluate {game}")) if progress and game in LONG else _silent
        for player in (policy, opponent):
            if _is_module(player):
                stack.enter_context(_evaluation_mode(player))
        document = json.loads(_native.evaluate(game, options(rules), show, *ask))
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
    chance, best, response = (
        None if document[key] is None else Chance(**document[key])
        for key in ("chance", "best", "best_response")
    )
    return Evaluation(
        game=game,
        value=document["chance"]["mean"],
        best=np.nan if best is None else best.mean,
        distribution=None,
        chance=chance,
        best_response=response,
        states=document["views"],
    )


def _check(game: str, answers: Any, vectorized: Any, sees: Any, tolerance: Any) -> None:
    """Refuses wrong arguments, with errors in words."""
    if game not in EVALUATED:
        raise ValueError(f"{game} cannot be evaluated: expected one of {', '.join(EVALUATED)}")
    if answers is not None and answers not in get_args(Meaning):
        raise ValueError(f"answers: expected one of {', '.join(get_args(Meaning))}, got {answers!r}")
    if sees not in ("observation", "view"):
        raise ValueError(f"sees is 'observation' or 'view', not {sees!r}")
    if vectorized not in (None, True, False):
        raise TypeError(f"vectorized: expected True or False, got {vectorized!r}")
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance < 0.5:
        raise ValueError(f"tolerance: expected a number from 0 to 0.5, got {tolerance!r}")


def _silent(_: float) -> None:
    """Shows no progress."""


@contextmanager
def _bar(what: str) -> Iterator[Callable[[float], None]]:
    """Shows the progress as a bar."""
    from tqdm.auto import tqdm

    with tqdm(total=100, desc=what, unit="%", leave=False, bar_format="{l_bar}{bar}| {elapsed}<{remaining}") as bar:
        yield lambda share: bar.update(int(100 * share) - bar.n) and None


def _is_module(player: Any) -> bool:
    """Whether a value is a module of torch. If torch was never imported, nothing is."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(player, torch.nn.Module)


@contextmanager
def _evaluation_mode(module: Any) -> Iterator[None]:
    """Switches off dropout and the like for a while, then restores every part."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training


def _of_module(module: Any) -> Callable[[npt.NDArray[np.int16]], Any]:
    """Wraps a module as a function of a batch."""
    torch = sys.modules["torch"]
    like = next(iter(module.parameters()), None)
    dtype, device = (torch.float32, "cpu") if like is None else (like.dtype, like.device)

    def ask(rows: npt.NDArray[np.int16]) -> Any:
        with torch.no_grad():
            return module(torch.as_tensor(rows).to(device=device, dtype=dtype))

    return ask


_Asked: TypeAlias = "str | tuple[str, Callable[..., Any]]"


def _player(
    player: Player,
    solution: Solution,
    rules: dict[str, Option],
    answers: Meaning | None,
    vectorized: bool | None,
    sees: str,
    tolerance: float,
) -> _Asked:
    """Wraps a player in the form that the native module asks."""
    if isinstance(player, str):
        return player
    if isinstance(player, Policy):
        return "observation", _Observer(player, solution, "actions", True, tolerance)
    if _is_module(player):
        return "observation", _Observer(_of_module(player), solution, answers, True, tolerance)
    if isinstance(player, type) and issubclass(player, Bot):
        player = player()
    if isinstance(player, Bot):
        player.game, player.options = solution.game, View(rules)
        player.legal = [View(type="stop"), View(type="go")]
    act: Any = getattr(player, "act", player)
    if not callable(act):
        raise TypeError(
            f"expected a function, a module, an object with act(view) or the name of a bot, got {player!r}"
        )
    if act is player and sees == "observation":
        return "observation", _Observer(player, solution, answers, bool(vectorized), tolerance)
    if solution.game == "tokyo":
        raise ValueError(
            "tokyo has about 34 million states, too many to show one view after the other: "
            "give a function of observations, best with vectorized=True"
        )
    return "view", lambda text: _chance(act(read(text)), lambda: f"the view {text}")


class _Observer:
    """A function of observations in the form that the native module asks: with many at once, of which some are shown twice."""

    def __init__(
        self,
        policy: Callable[..., Any],
        solution: Solution,
        meaning: Meaning | None,
        vectorized: bool,
        tolerance: float,
    ) -> None:
        self._policy = policy
        self._names = solution.fields
        self._actions = solution.actions
        self._dice = self._actions == 2
        self._meaning = meaning
        self._vectorized = vectorized
        self._tolerance = tolerance
        # Where there are many states, a sample is shown twice, and so it is where each is a call of its own.
        self._again = 1 if vectorized and solution.game not in LONG else AGAIN

    def __call__(self, numbers: npt.NDArray[np.int16], first: int, end: int) -> npt.NDArray[Any]:
        """An action for each observation (``uint8``), or the probability of each action from ``first`` to before
        ``end``, flat (``float64``)."""
        rows = numbers.reshape(-1, len(self._names))
        answers = self._answers(rows, first, end)
        # Backwards, so that who counts the questions is found out.
        again = slice(None, None, -self._again)
        shown = rows[again]
        self._compare(shown, _chances(answers[again], first, end), _chances(self._answers(shown, first, end), first, end))
        return answers.reshape(-1)

    def _compare(self, rows: npt.NDArray[np.int16], one: npt.NDArray[Any], other: npt.NDArray[Any]) -> None:
        """Checks that answers are the same, except for rounding."""
        changed = np.flatnonzero(np.abs(one - other).max(axis=1) > self._tolerance)
        # Only a batch is computed in another way when it has another size.
        if len(changed) > (len(rows) // FLIPS if self._vectorized else 0):
            first, again = one[changed[0]], other[changed[0]]
            raise ValueError(
                "the policy answers differently when it is asked again: first it said "
                f"{self._said(first)}, then {self._said(again)} for {self._told(rows[changed[0]])}. "
                "A policy that leaves something to chance returns a probability"
            )

    def _answers(self, rows: npt.NDArray[np.int16], first: int, end: int) -> npt.NDArray[Any]:
        # A copy: what the policy does to it changes nothing.
        rows = rows.copy()
        raw: Any = self._policy(rows) if self._vectorized else [self._policy(row) for row in rows]
        numbers = _numbers(raw)
        if numbers is None or numbers.dtype.kind not in "biuf":
            if len(raw) != len(rows):
                raise ValueError(f"expected {len(rows)} answers for {len(rows)} states, got {len(raw)}")
            numbers = np.array([self._number(answer, row) for answer, row in zip(raw, rows)])
        if numbers.ndim == 2 and numbers.shape[1] == 1:
            numbers = numbers[:, 0]
        if numbers.shape == (len(rows),):
            return self._alone(numbers, rows, first, end)
        if numbers.shape == (len(rows), self._actions):
            return self._each(numbers, rows, first, end)
        raise ValueError(
            f"expected {len(rows)} answers for {len(rows)} states, or an array of "
            f"({len(rows)}, {self._actions}), got an array of {numbers.shape}"
        )

    def _alone(
        self, numbers: npt.NDArray[Any], rows: npt.NDArray[np.int16], first: int, end: int
    ) -> npt.NDArray[Any]:
        """Reads one number for each state: an action, or in Zombie Dice the probability of going."""
        if self._meaning == "q":
            raise ValueError(f'answers="q": expected a number for each of {self._actions} actions, got one')
        whole = numbers.dtype.kind in "biu"
        if self._meaning == "actions" or not self._dice:
            if not whole:
                raise ValueError(
                    f"expected the numbers of actions (whole numbers), or {self._actions} numbers for each "
                    f"state, got an array of {numbers.dtype}"
                )
        elif self._meaning == "logits":
            numbers, whole = 1 / (1 + np.exp(-np.clip(numbers.astype(np.float64), -700, 700))), False
        low, high = (first, end - 1) if whole else (0, 1)
        bad = np.flatnonzero(~((numbers >= low) & (numbers <= high)))
        if len(bad):
            raise self._wrong(numbers[bad[0]].item(), rows[bad[0]], first, end)
        if whole:
            return numbers.astype(np.uint8)
        going = numbers.astype(np.float64)
        return np.stack([1 - going, going], axis=1)

    def _each(
        self, numbers: npt.NDArray[Any], rows: npt.NDArray[np.int16], first: int, end: int
    ) -> npt.NDArray[Any]:
        """Reads a number for each action of each state, of which some are legal."""
        legal = numbers[:, first:end].astype(np.float64)
        if self._meaning == "actions":
            raise ValueError(f'answers="actions": expected one number for each state, got {self._actions}')
        missing = np.isnan(legal).any(axis=1) | (legal == np.inf).any(axis=1)
        if self._meaning in ("logits", "q"):
            missing |= (legal == -np.inf).all(axis=1)
        bad = np.flatnonzero(missing)
        if len(bad):
            raise ValueError(
                f"the policy returned {numbers[bad[0]].tolist()} for {self._told(rows[bad[0]])}: expected numbers"
            )
        if self._meaning == "q":
            highest: npt.NDArray[np.uint8] = (first + legal.argmax(axis=1)).astype(np.uint8)
            return highest
        if self._meaning == "logits":
            legal = np.exp(legal - legal.max(axis=1, keepdims=True))
        else:
            near = max(self._tolerance, 1e-3)
            sums = numbers.astype(np.float64).sum(axis=1)
            bad = np.flatnonzero(~((np.abs(sums - 1) <= near) & (numbers >= -near).all(axis=1)))
            if len(bad):
                raise ValueError(
                    f"the policy returned {numbers[bad[0]].tolist()} for {self._told(rows[bad[0]])}: expected "
                    'probabilities that sum to 1. If these are logits, say answers="logits"; if the action with '
                    'the highest number is to be played, answers="q"'
                )
            legal = np.maximum(legal, 0)
        sums = legal.sum(axis=1, keepdims=True)
        bad = np.flatnonzero(sums[:, 0] <= 0)
        if len(bad):
            raise ValueError(f"the policy gives no legal action a chance for {self._told(rows[bad[0]])}")
        chances: npt.NDArray[np.float64] = legal / sums
        return chances

    def _number(self, answer: Any, row: npt.NDArray[np.int16]) -> Any:
        """Converts an answer in words, or in any other form, into a number."""
        if self._dice:
            return _chance(answer, lambda: self._told(row))
        if isinstance(answer, str):
            answer = {"type": answer}
        if isinstance(answer, Mapping):
            dice = answer.get("dice")
            if answer.get("type") == "keep" and isinstance(dice, Sequence) and len(dice) == 6:
                return sum(bool(kept) << die for die, kept in enumerate(dice))
            number = {"yield": 64, "stay": 65}.get(answer.get("type", ""))
            if number is not None:
                return number
        raise self._wrong(answer, row, 64 * int(row[0]), 66 if row[0] else 64)

    def _wrong(self, answer: Any, row: npt.NDArray[np.int16], first: int, end: int) -> ValueError:
        expected = (
            "0 or 1, 'stop' or 'go', or the probability of going"
            if self._dice
            else f"an action from {first} to {end - 1}, or a number for each of {self._actions}"
        )
        return ValueError(f"the policy returned {answer!r} for {self._told(row)}: expected {expected}")

    def _said(self, answer: Any) -> str:
        return f"{answer[1]:g}" if self._dice else f"legal action {answer.argmax()} with a chance of {answer.max():g}"

    def _told(self, row: npt.NDArray[np.int16]) -> str:
        return ", ".join(f"{name}={number}" for name, number in zip(self._names, row))


def _chances(answers: npt.NDArray[Any], first: int, end: int) -> npt.NDArray[np.float64]:
    """Converts actions into probabilities of 0 and 1."""
    if answers.ndim == 2:
        return answers
    chances: npt.NDArray[np.float64] = (answers[:, np.newaxis] == np.arange(first, end)).astype(np.float64)
    return chances


def _numbers(raw: Any) -> npt.NDArray[Any] | None:
    """Converts an answer into an array of numbers, if it is one: of numpy, of torch, of anything that numpy can read."""
    if hasattr(raw, "detach"):
        raw = raw.detach().cpu().numpy()
    try:
        numbers = np.asarray(raw)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.ndim and numbers.dtype != object else None


def _chance(answer: Any, state: Callable[[], str]) -> float:
    """The probability of going that an answer means. A bot may add a reason."""
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
