"""Matches and tournaments between bots of all kinds.

A bot is one of

- the name of a built-in bot, as ``necrodome bots`` lists them: ``"greedy"``, ``"stop-at:brains=5"``, ``"optimal"``;
- a program: ``"./mybot.py"`` or another file, ``"cmd:..."``, ``"compat:zombiedice:my_bots.py:MyZombie"``;
- a language model: ``"llm:NAME"``, with a table in the file that ``models`` names;
- an object of Python: a :class:`necrodome.Bot`, its class, or a function from view to action.

Built-in bots and programs play without Python, on all cores. If objects take part, everything is played on the thread that called
``match`` or ``tournament``, and objects are called there like any function: debuggers and Ctrl-C work in them.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Union

from . import _arena, _html, _native
from .bot import Bot, Talk, as_bot
from .models import AnyModels, Models

__all__ = ["IllegalAction", "Match", "Report", "match", "tournament"]

#: Who takes part: in order, or by name. Mixed lists have no better type that Python would guess.
Lineup = Union[Sequence[Any], Mapping[str, Any]]
Sandbox = Literal["auto", "full", "strict", "limits"]
OnError = Literal["raise", "fault"]

_LAUNCH = str(Path(__file__).with_name("_launch.py"))


class IllegalAction(ValueError):
    """A bot has chosen an action that the rules do not allow."""


@dataclass(frozen=True)
class Match:
    """A finished match. All lists are by seat."""

    #: The id of the game, and the options of its rules.
    game: str
    options: dict[str, Any]
    #: The same seed and bots give the same match; where a program takes part, with the same ``secret``, too.
    seed: int
    #: The names of the bots, and what they are.
    names: list[str]
    bots: list[str]
    #: 1 is best; those who tie share a place.
    places: list[int]
    scores: list[int]
    turns: int
    #: What went wrong: each with ``seat``, ``step``, ``kind`` and ``detail``.
    faults: list[dict[str, Any]]
    #: What processes have written to standard error.
    logs: list[str]
    #: The contents of a replay file, for ``necrodome replay`` and :func:`necrodome.analyze`.
    replay: bytes = field(repr=False)
    #: What the dice follow from beside the seed, where a program took part.
    secret: str | None = None

    @property
    def winners(self) -> list[str]:
        """The seats in first place."""
        return [name for name, place in zip(self.names, self.places) if place == 1]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each seat, ready for ``pandas.DataFrame``."""
        columns = zip(self.names, self.bots, self.places, self.scores)
        return [
            {"seat": seat, "name": name, "bot": bot, "place": place, "score": score}
            for seat, (name, bot, place, score) in enumerate(columns)
        ]

    def _repr_html_(self) -> str:
        """For notebooks."""
        faults = f"{len(self.faults)} faults" if self.faults else ""
        columns = ("seat", "name", "bot", "place", "score")
        return _html.table(f"{self.game}, {self.turns} turns, seed {self.seed}", self.rows, columns, faults)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the replay to a file."""
        Path(path).write_bytes(self.replay)


class _Packed:
    """The field ``replay`` of a match. It is packed on first use, since packing takes longer than a short match."""

    def __set__(self, played: Match, replay: _native.Replay | bytes) -> None:
        vars(played)["replay"] = replay

    def __get__(self, played: Match, _: type[Match]) -> bytes:
        replay: _native.Replay | bytes = vars(played)["replay"]
        if isinstance(replay, bytes):
            return replay
        packed = vars(played)["replay"] = replay.pack()
        return packed


# Afterwards, so that it is no default of the field.
setattr(Match, "replay", _Packed())


class Report(dict[str, Any]):
    """The result of a tournament: a dict of plain values and of lists of flat rows; each list makes a table.

    ``summary`` explains the result in a few sentences. ``standings`` has a row for each bot, best first; ``head_to_head`` one for each
    pair that has met (``one``, ``other``); ``seats`` one for each seat (none after a battle); ``undecided`` lists neighbours that cannot
    be told apart, and ``faults`` and ``logs`` those of the bots. ``plan`` is everything that determines the tournament, ``hash`` proves
    its results. An interval is three columns: ``win_rate``, ``win_rate_low``, ``win_rate_high``.
    """

    #: The report as ``necrodome tournament --json`` prints it, to the letter.
    text: str

    def __init__(self, text: str) -> None:
        self.text = text
        document = json.loads(text)
        effect = document["seats"] or {"win_rates": [], "differ": None, "p_value": None}
        seats = [{"seat": seat, **_flat({"win_rate": rate})} for seat, rate in enumerate(effect["win_rates"])]
        document["standings"] = [_flat(row) for row in document["standings"]]
        document["head_to_head"] = [_flat(row) for row in document["head_to_head"]]
        document["seats"] = seats
        document["seats_differ"] = effect["differ"]
        document["seats_p_value"] = effect["p_value"]
        super().__init__(document)

    def __repr__(self) -> str:
        """The standings in a few lines; ``dict(report)`` shows everything."""
        lines = [f"<Report {self._title()}"]
        for row in self["standings"]:
            rate = "" if row["win_rate"] is None else f", wins {interval(row, 'win_rate')}"
            lines.append(f"  {_ranks(row):>5} {row['name']!r}{rate}")
        return "\n".join(lines) + ">"

    def _repr_html_(self) -> str:
        """For notebooks: the standings, and their meaning."""
        rows = [{**row, "rank": _ranks(row)} for row in self["standings"]]
        summary = self["summary"]
        notes = summary if isinstance(summary, str) else " ".join(map(str, summary))
        return _html.table(self._title(), rows, _STANDINGS, notes)

    def _title(self) -> str:
        faults = sum(row["count"] for row in self["faults"])
        told = f", {faults} faults" if faults else ""
        return f"{self['plan']['game']}: {self['blocks']} blocks, {self['matches']} matches{told}"

    @property
    def document(self) -> dict[str, Any]:
        """The nested report, as ``necrodome tournament --json`` prints it."""
        nested: dict[str, Any] = json.loads(self.text)
        return nested


#: The columns that a notebook shows.
_STANDINGS = (
    "rank", "name", "games", "win_rate", "win_rate_low", "win_rate_high", "luck_adjusted", "rating",
    "mean_place", "mean_score",
)


def _ranks(row: Mapping[str, Any]) -> str:
    """The rank of a row, or the range of its possible ranks: ``1`` or ``2-3``."""
    best, worst = row.get("rank_best"), row.get("rank_worst")
    return f"{best}" if best == worst else f"{best}-{worst}"


def interval(row: Mapping[str, Any], name: str) -> str:
    """A number with its interval, which few blocks do not give: ``0.5000 [0.4000, 0.6000]``."""
    mean, low, high = (row[name + end] for end in ("", "_low", "_high"))
    return f"{mean:.4f}" if low is None or high is None else f"{mean:.4f} [{low:.4f}, {high:.4f}]"


#: What may be missing in a row, so that every row has the same columns.
_INTERVALS = ("win_rate", "mean_place", "mean_score", "median_score", "luck_adjusted")


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Flattens a row: ``{"rank": {"best": 1}}`` becomes ``{"rank_best": 1}``."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if name in _INTERVALS and value is None:
            value = {"mean": None, "low": None, "high": None}
        if not isinstance(value, dict):
            flat[name] = value
            continue
        for inner, part in value.items():
            # The estimate itself goes by the name of what it is an estimate of.
            flat[name if inner in ("mean", "elo") else f"{name}_{inner}"] = part
    return flat


def match(
    game: str,
    bots: Lineup,
    *,
    seed: int | str | None = None,
    public_dice: bool = False,
    secret: str | None = None,
    limits: Mapping[str, Any] | None = None,
    sandbox: Sandbox = "auto",
    allow_network: bool = False,
    pass_env: Sequence[str] = (),
    models: AnyModels = None,
    on_error: OnError = "raise",
    **options: Any,
) -> Match:
    """Plays one match, with a bot for each seat.

    Further keywords are options of the rules (``necrodome games``). The same seed, game, options and bots give the same
    match. ``limits`` limits programs, like the table ``[limits]`` of a tournament's file; ``sandbox`` is the level of their
    sandbox (``docs/security.md``), ``allow_network`` lets them all reach the network, and ``pass_env`` names environment variables that
    they all get. A seed has up to 128 bits, as a number or as text (``"0x1f"``). If a program takes part, the dice follow from the seed
    and a ``secret``: the result contains it, and with both you can play the match again. With ``public_dice`` they follow from the seed alone.

    ``models`` is a file with the tables of language models, or :class:`Models`: then ``"llm:NAME"`` is a bot, too
    (``docs/models.md``).

    An exception in a bot that is a Python object is raised here, and so is :class:`IllegalAction`; with
    ``on_error="fault"`` the match goes on by the game's rule for a bad action, and the fault is in the result.

    >>> import necrodome
    >>> played = necrodome.match("zombie-dice", ["greedy", lambda view: "stop"], seed=7)
    >>> played.names
    ['greedy', '<lambda>']
    """
    _arena.need()
    guests, entries = _line_up(bots)
    text, replay = _play(
        order(
            game, entries, (seed, public_dice, secret), limits, (sandbox, allow_network, pass_env), options, None,
            models=models,
        ),
        guests,
        on_error,
    )
    document = json.loads(text)
    document["seed"] = int(str(document["seed"]), 0)
    entered = document.pop("entries")
    names, kinds = [entry["name"] for entry in entered], [entry["bot"] for entry in entered]
    return Match(names=names, bots=kinds, replay=replay, **document)


def tournament(
    game: str,
    bots: Lineup,
    *,
    blocks: int | None = None,
    format: str | None = None,
    seats: int | None = None,
    seed: int | str | None = None,
    public_dice: bool = False,
    secret: str | None = None,
    until_decided: bool = False,
    margin: float | None = None,
    test: tuple[float, float] | None = None,
    rank_by: Literal["luck-adjusted", "plain"] = "luck-adjusted",
    threads: int | None = None,
    store: str | os.PathLike[str] | None = None,
    only: Sequence[str] = (),
    new_version: bool = False,
    limits: Mapping[str, Any] | None = None,
    sandbox: Sandbox = "auto",
    allow_network: bool = False,
    pass_env: Sequence[str] = (),
    models: AnyModels = None,
    cluster: Literal["ray"] | None = None,
    address: str = "auto",
    resources: Mapping[str, float] | None = None,
    progress: bool = True,
    on_error: OnError = "raise",
    **options: Any,
) -> Report:
    """Plays a tournament: many matches, every number with its error.

    ``docs/tournaments.md`` explains the keywords and the report; further keywords are options of the
    rules. The same seed gives the report that ``necrodome tournament --json`` gives for the same bots, with any number of
    threads. If programs take part, the dice follow from the seed and a secret, which the report reveals at the end
    (``plan``, ``sealed_dice``): give both to play it again, or ``public_dice`` for dice that follow from the seed alone.

    With ``store`` the tournament is kept in a file, and the same call resumes it, also after Ctrl-C. In a round-robin or a
    gauntlet entries may come and go: the missing matches are played, and ``only`` names the entries that meet each other now. A program
    that has changed since is refused, unless ``new_version`` admits it as a new entry.

    If Python objects are among the bots, everything is played on one thread. ``models`` and exceptions work as in :func:`match`.

    ``cluster="ray"`` plays on the Ray cluster at ``address``, with the same results (``docs/cluster.md``); nodes need the custom ``resources``,
    if you name any. Bots must be in the current folder or below; ``threads`` and ``on_error`` mean nothing there. With ``store`` the same call
    resumes after Ctrl-C or a crash, given the same seed; without it, nothing is kept.

    >>> import necrodome
    >>> report = necrodome.tournament("zombie-dice-solo", ["greedy", "cautious"], blocks=200, seed=7, progress=False)
    >>> [row["name"] for row in report["standings"]]
    ['greedy', 'cautious']
    """
    _arena.need()
    guests, entries = _line_up(bots)
    if blocks is not None and blocks < 1:
        raise ValueError(f"blocks: expected at least 1, got {blocks}")
    if threads is not None and threads < 1:
        raise ValueError(f"threads: expected at least 1, got {threads}")
    more = {
        "blocks": blocks,
        "format": format,
        "seats": seats,
        "until_decided": until_decided,
        "margin": margin,
        "test": test,
        "rank_by": rank_by,
        "threads": threads,
        "store": None if store is None else os.fspath(store),
        "only": list(only),
        "new_version": new_version,
    }
    confinement = (sandbox, allow_network, pass_env)
    dice = (seed, public_dice, secret)
    if cluster is not None:
        for name, is_given in (("threads", threads is not None), ("on_error", on_error != "raise")):
            if is_given:
                raise ValueError(f"{name} means nothing on a cluster: leave it out")
        _make_movable(entries)
        return _play_on_cluster(
            cluster, lambda plan: order(
                game, entries, dice, limits, confinement, options, {**more, "plan_out": plan}, models=models
            ), guests, store, (address, resources, progress), (*confinement, limits),
        )
    wanted = order(game, entries, dice, limits, confinement, options, more, models=models)
    return Report(_play(wanted, guests, on_error, "blocks" if progress else None)[0])


def _make_movable(entries: list[dict[str, Any]]) -> None:
    """Makes paths of files below the current folder relative, since folders have other names on other machines."""
    here = Path.cwd()
    for entry in entries:
        path = Path(entry["text"])
        if path.is_absolute() and path.is_relative_to(here):
            entry["text"] = f"./{path.relative_to(here)}"


def _play_on_cluster(
    cluster: str,
    wanted: Callable[[str], str],
    guests: list[Talk | None],
    store: str | os.PathLike[str] | None,
    settings: tuple[str, Mapping[str, float] | None, bool],
    allows: tuple[str, bool, Sequence[str], Mapping[str, Any] | None],
) -> Report:
    """Writes the plan of a tournament, and plays it on a cluster."""
    if cluster != "ray":
        raise ValueError(f"cluster: expected 'ray' or None, got {cluster!r}")
    if any(guests):
        raise ValueError("objects of Python cannot travel to a cluster: give programs and built-in bots")
    from .cluster import Settings, play_plan

    address, resources, progress = settings
    sandbox, network, variables, limits = allows
    # The plan has the secret of the dice: it is nobody else's.
    with tempfile.TemporaryDirectory(prefix="necrodome-plan-") as folder:
        plan = os.path.join(folder, "plan.toml")
        _native.play(wanted(plan), guests, True, lambda *_: None)
        return play_plan(plan, store, Settings(
            address=address, resources=dict(resources or {}), progress=progress,
            sandbox=None if sandbox == "auto" else sandbox, allow_network=network, pass_env=variables,
            limits=limits or {},
        ))


def _line_up(bots: Lineup) -> tuple[list[Talk | None], list[dict[str, Any]]]:
    """Makes talks for the objects among the bots, and all entries in the form that the arena reads."""
    if isinstance(bots, (str, Bot)) or not isinstance(bots, (Sequence, Mapping)):
        raise TypeError(f"expected a list of bots, or a dict of names and bots, got {bots!r}")
    named = list(bots.items()) if isinstance(bots, Mapping) else [(None, bot) for bot in bots]
    guests: list[Talk | None] = []
    entries: list[dict[str, Any]] = []
    seated: set[int] = set()
    for name, bot in named:
        if isinstance(bot, (str, os.PathLike)):
            guests.append(None)
            text = os.fspath(bot) if isinstance(bot, str) else str(Path(bot).absolute())
            entries.append({"name": name, "text": text})
            continue
        guest = as_bot(bot)
        if id(guest) in seated:
            raise ValueError(f"{bot!r} is there twice: one object can sit on one seat only, so make another one")
        seated.add(id(guest))
        guests.append(Talk(guest))
        text = guest.name or type(guest).__name__
        entries.append({"name": name, "text": text})
    return guests, entries


def launcher() -> list[str]:
    """The command that starts this interpreter as the supervisor of a program."""
    return [sys.executable, "-I", "-S", _LAUNCH]


def order(
    game: str,
    entries: list[dict[str, Any]],
    dice: tuple[int | str | None, bool, str | None],
    limits: Mapping[str, Any] | None,
    confinement: tuple[str, bool, Sequence[str]],
    options: Mapping[str, Any],
    tournament: Mapping[str, Any] | None,
    exam: Mapping[str, Any] | None = None,
    models: AnyModels = None,
) -> str:
    """The request in the form that the arena reads."""
    seed, public_dice, secret = dice
    sandbox, allow_network, pass_env = confinement
    if isinstance(seed, int) and not 0 <= seed < 1 << 128:
        raise ValueError(f"seed: expected a number from 0 to 2**128 - 1, got {seed}")
    wanted = {
        "game": game,
        "entries": entries,
        "options": dict(options),
        # As text: JSON has no numbers of 128 bits.
        "seed": None if seed is None else str(seed),
        "spare_seed": str(secrets.randbits(128)),
        "public_dice": public_dice,
        "secret": secret,
        "limits": dict(limits or {}),
        "sandbox": sandbox,
        "gifts": {"network": allow_network, "environment": list(pass_env)},
        "launcher": launcher(),
        "models": None if models is None else Models.of(models).wanted(),
        "tournament": tournament,
        "exam": exam,
    }
    return json.dumps(wanted)


def _play(
    wanted: str, guests: list[Talk | None], on_error: OnError, unit: str | None = None
) -> tuple[str, Any]:
    """Lets the arena play with the Python objects on this thread. Returns the document at the end, and the replay.

    With a unit, a bar counts the progress.
    """
    if on_error not in ("raise", "fault"):
        raise ValueError(f"on_error: expected 'raise' or 'fault', got {on_error!r}")
    with _shown(unit) as show:
        text, replay, untold = _native.play(wanted, guests, on_error == "raise", show)
    for number, detail in untold.items():
        talk = guests[number]
        warnings.warn(f"{talk.bot.name if talk else number}: {detail}", RuntimeWarning, stacklevel=3)
    return text, replay


@contextmanager
def _shown(unit: str | None) -> Iterator[Callable[[int, int], None]]:
    """Makes the function that is called with the amounts done and planned."""
    if unit is None:
        yield lambda *_: None
        return
    from tqdm.auto import tqdm

    with tqdm(unit=f" {unit}") as bar:

        def show(done: int, planned: int) -> None:
            bar.total = planned
            bar.update(done - bar.n)

        yield show
