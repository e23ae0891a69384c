"""Opponents: built-in bots, policies, programs, and a pool of past selves.

An opponent is one of

- the name of a built-in bot (``"greedy"``, ``"stop-at:brains=5"``) or of the perfect player, ``"optimal"``: asked in Rust;
- a function from observations ``(n, fields)`` to ``n`` actions, such as a network or ``necrodome.solve(...).policy``. If it takes
  ``action_mask``, it is given one, too;
- an object with ``act(view)``: a :class:`necrodome.Bot`, or its class;
- a program that speaks the bot protocol: ``"./mybot.py"``, ``"cmd:python mybot.py"``;
- a :class:`Pool` of all these.

>>> import necrodome
>>> from necrodome.opponents import Pool
>>> pool = Pool({"careful": "cautious", "bold": "greedy"}, seed=1)
>>> envs = necrodome.make_vec("zombie-dice-race", num_envs=64, seed=1, opponent=pool, seat="rotate")

Opponents have no memory of their own match: whatever an object or a program remembers is shared by all rows. An illegal action of
an opponent is played by the game's rule for a bad action and marked in ``infos["opponent_bad_action"]``.

In Last Bullet, where everybody decides at once, opponents are built-in bots and functions. A function sees a row for each living
survivor of its entries.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import secrets
import shlex
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from . import _native
from .bot import PROTOCOL, Bot, Talk, as_bot, read, write
from .envs.arguments import checked_action, checked_seed, one_of, whole

__all__ = ["AnyOpponent", "Member", "Pool", "win_rate"]

#: More than any game takes.
MOST_PLAYERS = 1000

_Rows: TypeAlias = npt.NDArray[np.int64]
_Answers: TypeAlias = Union[npt.NDArray[np.int64], list[Union[int, str]]]

#: Whoever can be played against. What else numpy and torch call a function has no better type.
AnyOpponent: TypeAlias = Any


@dataclass(frozen=True)
class Table:
    """The matches in which opponents are asked."""

    game: str
    #: The options of the rules that were given, as JSON.
    options: str
    seats: int


class _Asked(Protocol):
    """An opponent that answers for the rows in which it is to act: with numbers of actions, or actions as JSON."""

    @property
    def questions(self) -> bool:
        """Whether it wants questions: ``decide`` messages of the bot protocol."""

    def __call__(
        self,
        rows: _Rows,
        matches: _Rows,
        observations: npt.NDArray[np.int16],
        masks: npt.NDArray[np.bool_],
        questions: list[str] | None,
    ) -> _Answers: ...


class _Function:
    """A function of observations."""

    questions = False

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.masked = _takes_masks(function)

    def __call__(
        self, rows: _Rows, matches: _Rows, observations: Any, masks: Any, questions: list[str] | None
    ) -> _Answers:
        came = self.function(observations, action_mask=masks) if self.masked else self.function(observations)
        if hasattr(came, "detach"):
            came = came.detach().cpu().numpy()
        numbers = np.asarray(came)
        if numbers.shape != rows.shape or numbers.dtype.kind not in "biu":
            raise ValueError(
                f"an opponent: expected {len(rows)} actions as whole numbers, one for each row of the "
                f"observations, got the shape {numbers.shape} of {numbers.dtype}"
            )
        return np.ascontiguousarray(numbers, dtype=np.int64)


def _takes_masks(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return "action_mask" in parameters


class _Object:
    """A bot that is an object: it sees views."""

    questions = True

    def __init__(self, bot: Bot, table: Table) -> None:
        self.talk = Talk(bot)
        hello, start = _greeting(table, bot.name or type(bot).__name__)
        self.talk.hear(hello)
        self.talk.hear(start)

    def __call__(
        self, rows: _Rows, matches: _Rows, observations: Any, masks: Any, questions: list[str] | None
    ) -> _Answers:
        answers: list[int | str] = []
        for question in questions or []:
            answer = self.talk.hear(read(question))
            assert answer is not None, "a decision is always answered"
            answers.append(write(answer["action"]))
        return answers


class _BuiltIn:
    """A built-in bot in a pool."""

    questions = True

    def __init__(self, name: str, table: Table) -> None:
        self.name, self.table = name, table
        # So that a wrong name is told at once.
        self.answer([], [])

    def answer(self, questions: list[str], seeds: list[int]) -> _Answers:
        """Returns its actions; the seeds are for bots that toss coins."""
        views = [json.dumps(json.loads(question)["view"]) for question in questions]
        return [*_native.bot_actions(self.table.game, self.table.options, self.name, views, seeds)]


class _Program:
    """A program that speaks the bot protocol, started at its first decision. One process answers for all rows."""

    questions = True

    def __init__(self, command: Sequence[str], table: Table) -> None:
        self.command, self.table = list(command), table
        self.process: subprocess.Popen[bytes] | None = None

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise ValueError(f"opponent {self.command[0]}: it cannot be started ({error})") from None
        weakref.finalize(self, _stop, process)
        self.process = process
        hello, start = _greeting(self.table, os.path.basename(self.command[-1]))
        self._send(process, hello)
        ready = self._receive(process)
        if ready.get("type") != "ready":
            raise ValueError(f"opponent {self.command[0]}: expected ready, got {ready}")
        self._send(process, start)
        return process

    def _send(self, process: subprocess.Popen[bytes], message: Mapping[str, Any]) -> None:
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
        except OSError:
            raise self._ended() from None

    def _receive(self, process: subprocess.Popen[bytes]) -> dict[str, Any]:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise self._ended()
        return dict(read(line))

    def _ended(self) -> ValueError:
        return ValueError(f"opponent {' '.join(self.command)}: the program has ended; its last words are on standard error")

    def __call__(
        self, rows: _Rows, matches: _Rows, observations: Any, masks: Any, questions: list[str] | None
    ) -> _Answers:
        process = self.process or self._start()
        answers: list[int | str] = []
        for question in questions or []:
            message = json.loads(question)
            self._send(process, message)
            answer = self._receive(process)
            while answer.get("id") != message["id"]:
                answer = self._receive(process)
            answers.append(json.dumps(answer.get("action")))
        return answers

    def __reduce__(self) -> tuple[Any, ...]:
        return _Program, (self.command, self.table)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ends a program: tells it that there are no more matches, and kills it if it goes on."""
    if process.stdin is not None:
        # A program that has ended does not read what is left.
        with contextlib.suppress(OSError):
            process.stdin.close()
    try:
        process.wait(timeout=1)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _greeting(table: Table, name: str) -> tuple[Any, Any]:
    """The messages before the first decision."""
    options = read(table.options)
    hello = {"type": "hello", "protocol": PROTOCOL, "game": table.game, "options": options}
    names = [f"player {seat + 1}" for seat in range(table.seats)]
    start = {"type": "start", "seat": table.seats - 1, "names": names, "seed": 0}
    return read(json.dumps({**hello, "seats": table.seats, "name": name})), read(json.dumps(start))


def _command(name: str) -> list[str] | None:
    """The command that starts the program with this name; None for a built-in bot."""
    if name.startswith("cmd:"):
        try:
            words = shlex.split(name[4:])
        except ValueError as error:
            raise ValueError(f"opponent {name}: {error}") from None
        if not words:
            raise ValueError(f"opponent {name}: expected a command, such as cmd:python mybot.py")
        return words
    if name.startswith(("compat:", "wasm:")):
        raise ValueError(f"opponent {name}: expected a built-in bot, a file or cmd:..., an object or a function")
    if os.sep not in name and not os.path.exists(name):
        return None
    if not os.path.exists(name):
        raise ValueError(f"opponent {name}: there is no such file")
    return [sys.executable, name] if name.endswith(".py") else [name]


def seated(opponent: AnyOpponent, table: Table) -> str | _Asked:
    """Prepares an opponent: returns the name of a bot that Rust asks by itself, or something to call."""
    if isinstance(opponent, str):
        command = _command(opponent)
        return opponent if command is None else _Program(command, table)
    if isinstance(opponent, os.PathLike):
        return _Program(_command(os.path.join(".", os.fspath(opponent))) or [], table)
    if isinstance(opponent, Pool):
        return Draws(opponent, table)
    # A bot that can be called is a policy: it sees observations.
    if callable(opponent) and not isinstance(opponent, type):
        return _Function(opponent)
    if isinstance(opponent, type) or hasattr(opponent, "act"):
        bot = isinstance(opponent, (type, Bot))
        return _Object(as_bot(opponent if bot else opponent.act), table)
    raise TypeError(
        f"opponent {opponent!r}: expected the name of a bot, a function of observations, an object with act(view), or a Pool"
    )


def answer(bot: str | _Asked, referee: _native.Referee, seat: int, seed: int, match: int = 0) -> str:
    """Returns the action of a `seated` opponent in a seat that is to act, as JSON. The seed is for bots that toss coins."""
    if isinstance(bot, str):
        return referee.bot_action(bot, seat, seed)
    questions = None
    if bot.questions:
        message = {"type": "decide", "id": 0, "view": json.loads(referee.view(seat))}
        questions = [json.dumps({**message, "legal": json.loads(referee.legal(seat))})]
    seen, mask = referee.observe(seat)[None], referee.mask(seat)[None]
    chosen = bot(np.array([0]), np.array([match]), seen, mask, questions)[0]
    return chosen if isinstance(chosen, str) else referee.action(seat, checked_action(chosen, mask.shape[1]))


def line_up(
    opponent: AnyOpponent, opponents: Sequence[AnyOpponent] | None, players: int | None, game: str
) -> list[AnyOpponent]:
    """Lists the opponents of all other seats: `opponents`, or `opponent` in each of them."""
    if opponents is None:
        usual = max(_native.usual_seats(game) or 2, 2)
        return [opponent] * ((usual if players is None else whole("players", players, 2, MOST_PLAYERS)) - 1)
    if opponent is not None:
        raise ValueError(f"the other seats of {game}: expected either opponents or opponent, got both")
    if isinstance(opponents, str) or not isinstance(opponents, Sequence) or not opponents:
        raise TypeError(f"opponents {opponents!r}: expected a list, with one for each of the other seats")
    return list(opponents)


@dataclass
class Member:
    """A member of a pool."""

    name: str
    policy: AnyOpponent
    #: Its rating, and that of its matches against the learner which the learner has won (a draw is a half).
    elo: float
    matches: int = 0
    learner_wins: float = 0.0
    # What answers for it, once it sits at a table.
    _asked: _Asked | _BuiltIn | None = field(default=None, repr=False, compare=False)

    @property
    def learner_rate(self) -> float:
        """The learner's win rate, with one win and one loss added so that a few matches say little."""
        return (self.learner_wins + 1) / (self.matches + 2)


class Pool:
    """A pool of opponents, of which one is drawn for each match: past selves, and any others you like.

    ``sampling="uniform"`` draws all members equally often; ``"hard"`` prefers those that the learner loses to (by the square of its
    chance to lose). Results change the ratings of the member and of the learner, as in chess: 400 points are ten to one.

    >>> pool = Pool(["cautious"], seed=1)
    >>> pool.add("greedy", "bold")
    >>> [member.name for member in pool.members]
    ['cautious', 'bold']

    Environments, including clones, may share a pool; then all their results count. The member that a row meets depends on the
    pool's seed, the row, and the number of its matches so far; with ``"hard"`` on the results so far, too.
    """

    def __init__(
        self,
        members: Mapping[str, AnyOpponent] | Iterable[AnyOpponent] = (),
        *,
        sampling: str = "uniform",
        seed: int | None = None,
        step: float = 16.0,
        most: int | None = None,
    ) -> None:
        if isinstance(members, str) or not isinstance(members, Iterable):
            raise TypeError(f"members {members!r}: expected a list of opponents, or a dict of names and opponents")
        if not (isinstance(step, (int, float)) and 0 <= step < float("inf")):
            raise ValueError(f"step {step!r}: expected a number of points, such as 16")
        self.sampling = one_of("sampling", sampling, ("uniform", "hard"))
        #: How much one result can change a rating.
        self.step = float(step)
        #: How many members there may be; the oldest makes room for a new one.
        self.most = None if most is None else whole("most", most, 1)
        #: The learner's rating.
        self.elo = 0.0
        self.members: list[Member] = []
        self._seed = secrets.randbits(64) if seed is None else checked_seed(seed)
        self._table: Table | None = None
        # Whether any member ever wanted questions, which take longer than most functions.
        self._questions = False
        # How many were ever added.
        self._added = 0
        named = members.items() if isinstance(members, Mapping) else ((None, member) for member in members)
        for name, member in named:
            self.add(member, name)

    def add(self, policy: AnyOpponent, name: str | None = None) -> None:
        """Adds an opponent, with the learner's rating: a copy of the learner is as good as the learner.

        Copy a network first if it goes on learning: ``pool.add(copy.deepcopy(network))``.
        """
        if isinstance(policy, Pool):
            raise TypeError("a pool cannot be a member of a pool")
        if name is None:
            name = policy if isinstance(policy, str) else f"self {self._added}"
        if any(member.name == name for member in self.members):
            raise ValueError(f"the pool has a member {name!r} already")
        member = Member(name, policy, self.elo)
        if self._table is not None:
            self._ask_member(member)
        self.members.append(member)
        self._added += 1
        if self.most is not None and len(self.members) > self.most:
            self.members.pop(0)

    def table(self) -> list[dict[str, Any]]:
        """The learner and all members, the best first, ready for ``pandas.DataFrame``."""
        rows = [
            {"name": member.name, "elo": member.elo, "matches": member.matches, "learner_rate": member.learner_rate}
            for member in self.members
        ]
        played = sum(member.matches for member in self.members)
        rows.append({"name": "learner", "elo": self.elo, "matches": played, "learner_rate": 0.5})
        return sorted(rows, key=lambda row: -float(str(row["elo"])))

    def weights(self) -> npt.NDArray[np.float64]:
        """The probability of each member to be drawn."""
        weights = np.ones(len(self.members))
        if self.sampling == "hard":
            weights = np.array([(1 - member.learner_rate) ** 2 for member in self.members])
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    def record(self, member: Member, score: float) -> None:
        """Records a match of the learner against a member: 1 is a win for the learner, 0 a loss, 0.5 a draw."""
        expected = 1 / (1 + 10 ** ((member.elo - self.elo) / 400))
        change = self.step * (score - expected)
        self.elo += change
        member.elo -= change
        member.matches += 1
        member.learner_wins += score

    def _sit_down(self, table: Table) -> None:
        if not self.members:
            raise ValueError("the pool is empty: add an opponent first")
        if self._table is not None and (self._table.game, self._table.options) != (table.game, table.options):
            raise ValueError(f"this pool plays {self._table.game} with {self._table.options} already")
        self._table = table
        for member in self.members:
            self._ask_member(member)

    def _ask_member(self, member: Member) -> _Asked | _BuiltIn:
        assert self._table is not None
        if member._asked is None:
            asked = seated(member.policy, self._table)
            member._asked = _BuiltIn(asked, self._table) if isinstance(asked, str) else asked
            self._questions |= member._asked.questions
        return member._asked

    def __repr__(self) -> str:
        return f"<Pool of {len(self.members)}, {self.sampling}, learner at {self.elo:+.0f}>"


@dataclass
class _Drawn:
    """The member that a row meets in a match, and the number of its decisions so far."""

    match: int
    member: Member
    asked: int = 0


class Draws:
    """The members of a pool that the rows of one environment meet."""

    def __init__(self, pool: Pool, table: Table) -> None:
        pool._sit_down(table)
        self.pool = pool
        # By row, the last two: the match that has ended last is still asked for.
        self._drawn: dict[int, list[_Drawn]] = {}
        # The seed of each row, where one was given.
        self._seeds: dict[int, int] = {}

    @property
    def questions(self) -> bool:
        """Whether any member wants questions. This is asked for each decision, since members come and go."""
        return self.pool._questions

    def seed(self, seeds: Mapping[int, int]) -> None:
        """Starts these rows anew with these seeds."""
        self._seeds.update(seeds)
        for row in seeds:
            self._drawn.pop(row, None)

    def _find(self, row: int, match: int) -> _Drawn | None:
        return next((drawn for drawn in self._drawn.get(row, []) if drawn.match == match), None)

    def _draw(self, row: int, match: int) -> _Drawn:
        found = self._find(row, match)
        if found is None:
            pool = self.pool
            chance = np.random.default_rng([pool._seed, self._seeds.get(row, 0), row, match])
            found = _Drawn(match, pool.members[int(chance.choice(len(pool.members), p=pool.weights()))])
            self._drawn[row] = [*self._drawn.get(row, [])[-1:], found]
        return found

    def __call__(
        self, rows: _Rows, matches: _Rows, observations: Any, masks: Any, questions: list[str] | None
    ) -> _Answers:
        """Asks the members that were drawn for these rows."""
        drawn = [self._draw(row, match) for row, match in zip(rows.tolist(), matches.tolist())]
        groups: dict[int, list[int]] = {}
        for place, one in enumerate(drawn):
            groups.setdefault(id(one.member), []).append(place)
        answers: list[int | str] = [0] * len(rows)
        for places in groups.values():
            asked = self.pool._ask_member(drawn[places[0]].member)
            some = [questions[place] for place in places] if questions is not None else []
            if isinstance(asked, _BuiltIn):
                came = asked.answer(some, [self._coin(int(rows[place]), drawn[place]) for place in places])
            else:
                came = asked(rows[places], matches[places], observations[places], masks[places], some)
            for place, answer in zip(places, came):
                drawn[place].asked += 1
                answers[place] = answer if isinstance(answer, str) else int(answer)
        return answers

    def _coin(self, row: int, drawn: _Drawn) -> int:
        """The seed of a decision."""
        sequence = np.random.SeedSequence(
            [self.pool._seed, self._seeds.get(row, 0), row, drawn.match, drawn.asked]
        )
        return int(sequence.generate_state(1, np.uint64)[0])

    def ended(self, rows: _Rows, matches: _Rows, rewards: npt.NDArray[np.float32]) -> list[str | None]:
        """Records matches that have ended, with the learner's rewards. Returns their opponents; None where nobody was asked."""
        names: list[str | None] = []
        for row, match, reward in zip(rows.tolist(), matches.tolist(), rewards.tolist()):
            found = self._find(row, match)
            if found is not None:
                self.pool.record(found.member, 0.5 if reward == 0 else float(reward > 0))
            names.append(None if found is None else found.member.name)
        return names

    def save(self) -> dict[str, Any]:
        """The members that the rows meet, by name."""
        rows = self._drawn.items()
        drawn = [[row, one.match, one.member.name, one.asked] for row, some in rows for one in some]
        return {"drawn": drawn, "seeds": [*self._seeds.items()]}

    def _read(self, saved: Any) -> tuple[dict[int, list[_Drawn]], dict[int, int]]:
        """Reads what `save` returned. In matches against members that have left the pool, others are drawn."""
        members = {member.name: member for member in self.pool.members}
        drawn: dict[int, list[_Drawn]] = {}
        for row, match, name, asked in saved["drawn"]:
            if name in members:
                drawn.setdefault(int(row), []).append(_Drawn(int(match), members[name], int(asked)))
        return drawn, {int(row): int(seed) for row, seed in saved["seeds"]}


def restore_draws(all_draws: Sequence[Draws], saved: Any) -> None:
    """Restores what `Draws.save` returned for each. On an error nothing has changed."""
    try:
        if len(saved) != len(all_draws):
            raise ValueError(f"expected those of {len(all_draws)} pools, got {len(saved)}")
        read = [draws._read(one) for draws, one in zip(all_draws, saved)]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"a saved environment: its opponents are damaged ({error})") from None
    for draws, (drawn, seeds) in zip(all_draws, read):
        draws._drawn, draws._seeds = drawn, seeds


def win_rate(
    game: str,
    policy: Callable[..., Any],
    opponent: AnyOpponent,
    *,
    matches: int = 1000,
    num_envs: int = 256,
    seed: int | None = None,
    **options: Any,
) -> float:
    """Work out how often a policy wins against an opponent, taking the seats in turn; a draw counts one half.

    >>> from necrodome import solve
    >>> 0.6 < win_rate("zombie-dice-race", solve("zombie-dice-race").policy, "random", seed=1) <= 1
    True
    """
    from .envs.vector import make_vec

    matches, num_envs = whole("matches", matches, 1), whole("num_envs", num_envs, 1)
    if not callable(policy) or isinstance(policy, type):
        raise TypeError(f"policy {policy!r}: expected a function from observations to actions")
    num_envs = min(num_envs, matches)
    envs = make_vec(game, matches=num_envs, opponent=opponent, **{"seed": seed, "seat": "rotate", **options})
    if envs.num_envs > num_envs:
        raise ValueError(f"{game}: expected a game whose matches are won and lost, one in each row")
    learner = _Function(policy)
    rows = np.arange(num_envs)
    observations, infos = envs.reset()
    # The first matches of every row, whether they are long or short: short ones would count too often otherwise.
    left = matches // num_envs + (rows < matches % num_envs)
    score = 0.0
    while left.any():
        masks = infos["action_mask"]
        actions = learner(rows, rows, observations, masks, None)
        observations, rewards, terminations, _, infos = envs.step(actions)
        counted = terminations & (left > 0)
        score += float((np.sign(rewards[counted]) + 1).sum() / 2)
        left -= counted
    return score / matches
