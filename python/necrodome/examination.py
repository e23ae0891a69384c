"""Exams: decisions instead of matches, each priced exactly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from . import _arena, _html
from .bot import Bot
from .models import AnyModels
from .play import Lineup, OnError, Sandbox, _line_up, _play, interval, order

__all__ = ["Exam", "exam"]


class Exam(dict[str, Any]):
    """The result of an exam: the document that ``necrodome exam --json`` prints.

    ``entries`` has a row for each entry, the best first, with ``regret``, ``perfect``, ``blunders``, ``unusable``, ``lost``, ``tokens`` and ``cost``
    (``None`` if a price is not known). An entry that did not answer all questions is not ``complete`` and has no rank; ``stopped`` says why.
    ``kinds`` and ``stakes`` of an entry say where its regret comes from, and ``worst`` has its worst answers in words. ``pairs`` compares
    every two entries. An interval is three values: ``regret``, ``regret_low``, ``regret_high``.
    """

    #: The document, to the letter.
    text: str

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__(json.loads(text))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each entry, the best first, ready for ``pandas.DataFrame``."""
        flat: list[dict[str, Any]] = []
        for entry in self["entries"]:
            row = {name: value for name, value in entry.items() if not isinstance(value, (dict, list))}
            latency = entry["latency"] or {"median": None, "p95": None}
            row |= {"rank": _rank(entry), "latency": latency["median"], "latency_p95": latency["p95"]}
            row |= {name: _counts(entry[name]) for name in ("unusable_by_kind", "lost_by_kind")}
            flat.append(row)
        return flat

    def __repr__(self) -> str:
        """A line for each entry; ``dict(exam)`` shows everything."""
        lines = [f"<Exam {self._title()}"]
        for entry in self["entries"]:
            regret, perfect = interval(entry, "regret"), entry["perfect"]
            told = "" if perfect is None else f", regret {regret}, perfect {perfect:.3f}"
            unusable = f", unusable {entry['unusable']}, lost {entry['lost']}" if entry["unusable"] else ""
            open_end = "" if entry["complete"] else f", not complete: answered {entry['answered']} of {self['questions']}"
            cost = f", cost {entry['cost']:.4g}" if entry["cost"] else ""
            lines.append(f"  {_rank(entry):>5} {entry['name']!r}{told}{unusable}{cost}{open_end}")
        return "\n".join(lines) + ">"

    def _repr_html_(self) -> str:
        """For notebooks: the entries, and which neighbours cannot be told apart."""
        names = [entry["name"] for entry in self["entries"]]
        neighbours = set(zip(names, names[1:]))
        close = [
            f"{pair['one']} and {pair['other']} cannot be told apart."
            for pair in self["pairs"]
            if not pair["told_apart"] and (pair["one"], pair["other"]) in neighbours
        ]
        return _html.table(self._title(), self.rows, _COLUMNS, " ".join(close))

    def _title(self) -> str:
        open_end = "" if self["complete"] else ", not complete"
        unit = "points" if self["unit"] == "points" else "chance to win"
        return f"{self['game']}: {self['positions']} positions, seed {self['seed']}, regret in {unit}{open_end}"


#: The columns that a notebook shows.
_COLUMNS = (
    "rank", "name", "regret", "regret_low", "regret_high", "perfect", "blunders", "unusable", "lost", "answered", "tokens", "cost",
    "latency",
)


def _rank(entry: Mapping[str, Any]) -> str:
    if entry["rank"] is None:
        return "-"
    best, worst = entry["rank"]["best"], entry["rank"]["worst"]
    return f"{best}" if best == worst else f"{best}-{worst}"


def _counts(kinds: Mapping[str, int]) -> str:
    """Counts in words, such as ``2 illegal, 1 refused``."""
    return ", ".join(f"{times} {kind}" for kind, times in kinds.items())


def exam(
    game: str,
    *entries: Any,
    positions: int = 200,
    seed: int | str = 0,
    null: bool = False,
    limits: Mapping[str, Any] | None = None,
    sandbox: Sandbox = "auto",
    allow_network: bool = False,
    pass_env: Sequence[str] = (),
    models: AnyModels = None,
    progress: bool = True,
    on_error: OnError = "fault",
    **options: Any,
) -> Exam:
    """Asks entries for decisions of a solved game, and prices every answer exactly.

    An entry is a bot as in :func:`necrodome.match`: the name of a built-in bot, a program, a language model (``"llm:NAME"``, with
    ``models``), or a Python object, such as a function from view to action. A list of bots, or a dict of names and bots, works too.
    All entries are asked the same questions, which follow from the game, its options, ``positions`` and ``seed``; ``docs/exam.md`` says how.
    With ``null`` the first entry takes the exam twice, which shows the differences by chance alone; it may not be an object.

    If an answer cannot be used, because a Python object raises an exception or returns an illegal action, the game's rule for a bad
    action decides what it counts as; with ``on_error="raise"`` the exception is raised here. Further keywords are options of the rules;
    the others are those of :func:`necrodome.match`.

    >>> import necrodome
    >>> result = necrodome.exam("zombie-dice-solo", "optimal", lambda view: "stop", progress=False)
    >>> [(entry["name"], round(entry["perfect"], 1)) for entry in result["entries"]]
    [('optimal', 1.0), ('<lambda>', 0.2)]
    """
    _arena.need()
    guests, wanted_entries = _line_up(_together(entries))
    if null and guests[0] is not None:
        raise ValueError("null: expected a built-in bot or a program as the first entry; give an object of Python twice by hand")
    more = {"positions": positions, "null": null}
    confinement = (sandbox, allow_network, pass_env)
    wanted = order(game, wanted_entries, (seed, True, None), limits, confinement, options, None, more, models)
    return Exam(_play(wanted, guests, on_error, "answers" if progress else None)[0])


def _together(entries: tuple[Any, ...]) -> Lineup:
    """Joins the entries into one line-up."""
    if not entries:
        raise TypeError("exam: expected at least one entry")
    first = entries[0]
    alone = len(entries) == 1 and not isinstance(first, (str, Bot)) and isinstance(first, (Sequence, Mapping))
    return first if alone else entries
