"""The ledger of a match: what every decision cost, and what every roll brought."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from . import _arena, _html, _native


def analyze(replay: str | os.PathLike[str] | bytes | Any) -> Ledger:
    """Price every decision of a recorded match and measure the luck of every roll, exactly.

    ``replay`` is the path of a replay file, its contents as bytes, or anything with such contents as
    ``replay``: the result of :func:`necrodome.match`. The numbers are those of ``necrodome analyze REPLAY
    --json``.

    >>> import necrodome
    >>> ledger = necrodome.analyze(necrodome.match("zombie-dice-race", ["greedy", "cautious"], seed=5))
    >>> [total["name"] for total in ledger.totals]
    ['greedy', 'cautious']
    """
    _arena.need()
    if isinstance(replay, str | os.PathLike):
        replay = Path(replay).read_bytes()
    elif not isinstance(replay, bytes | bytearray | memoryview):
        inner = getattr(replay, "replay", None)
        if inner is None and isinstance(replay, Mapping):
            inner = replay.get("replay")
        if inner is None:
            raise TypeError(
                "expected the path of a replay, its bytes or the result of necrodome.match with its replay, "
                f"got {type(replay).__name__}"
            )
        return analyze(inner)
    return Ledger(json.loads(_native.analyze(bytes(replay))))


@dataclass(frozen=True, repr=False)
class Ledger:
    """The value of a match to the first seat, entry by entry. Made by :func:`analyze`.

    It adds up: ``start`` + the luck of the first seat - its regret + the other's regret = ``result`` (if no
    limit on rounds ends the match). ``decisions``, ``rolls`` and ``totals`` are lists of flat dicts:
    ``pandas.DataFrame(ledger.decisions)``.
    """

    document: dict[str, Any]
    """Everything, as ``necrodome analyze --json`` prints it."""

    @property
    def game(self) -> str:
        """The id of the game."""
        return str(self.document["game"])

    @property
    def start(self) -> float:
        """The value of the match before it began."""
        return float(self.document["start"])

    @property
    def result(self) -> float:
        """The value of the match at the end: the score in solo; otherwise 1 for a win, 0 for a loss, one half for a shared win."""
        return float(self.document["result"])

    @property
    def entries(self) -> list[dict[str, Any]]:
        """All entries in order, with views, options and events."""
        entries: list[dict[str, Any]] = self.document["entries"]
        return entries

    @property
    def worst(self) -> list[dict[str, Any]]:
        """The most expensive decisions in words, the worst first."""
        worst: list[dict[str, Any]] = self.document["worst"]
        return worst

    def __repr__(self) -> str:
        """In short; ``document`` has everything."""
        totals = ", ".join(
            f"{row['name']!r}: luck {row['luck']:+.4f}, regret {row['regret']:.4f}" for row in self.totals
        )
        return f"<Ledger of {self.game}, result {self.result:g}: {totals}>"

    def _repr_html_(self) -> str:
        """For notebooks: the effects of luck and decisions."""
        columns = ("seat", "name", "luck", "regret", "decisions", "mistakes")
        title = f"{self.game}: worth {self.start:.4f} at the start, {self.result:g} at the end"
        return _html.table(title, self.totals, columns)

    def _name(self, seat: int) -> str:
        return str(self.document["seats"][seat]["name"])

    @cached_property
    def decisions(self) -> list[dict[str, Any]]:
        """A row for each decision: ``step``, ``seat``, ``name``, ``chosen`` and ``best_action`` in a word,
        ``value`` of the choice and ``best`` possible value, to the player who decided, and the difference,
        ``regret``; ``before`` and ``after`` to the first seat."""
        rows = []
        for entry in self.entries:
            if entry["type"] != "decision":
                continue
            chosen = entry["chosen"]["act"] if isinstance(entry["chosen"], dict) else None
            best = max(entry["options"], key=lambda option: option["value"])["action"]
            rows.append(
                {
                    "step": entry["step"],
                    "seat": entry["seat"],
                    "name": self._name(entry["seat"]),
                    "chosen": _word(entry["view"], chosen),
                    "best_action": _word(entry["view"], best),
                    **{key: entry[key] for key in ("value", "best", "regret", "before", "after")},
                }
            )
        return rows

    @cached_property
    def rolls(self) -> list[dict[str, Any]]:
        """A row for each roll: ``step``, ``seat``, ``name``, what was ``rolled``, the ``luck`` of the first
        seat; ``before`` and ``after`` to the first seat."""
        rows = []
        for entry in self.entries:
            if entry["type"] != "roll":
                continue
            rows.append(
                {
                    "step": entry["step"],
                    "seat": entry["seat"],
                    "name": self._name(entry["seat"]),
                    "rolled": _rolled(entry["event"]),
                    **{key: entry[key] for key in ("luck", "before", "after")},
                }
            )
        return rows

    @cached_property
    def totals(self) -> list[dict[str, Any]]:
        """A row for each player: ``seat``, ``name``, what the dice brought (``luck``), what the decisions
        cost (``regret``), the number of ``decisions`` and the number of ``mistakes`` among them."""
        rows = []
        for seat, total in enumerate(self.document["seats"]):
            own = [row for row in self.decisions if row["seat"] == seat]
            mistakes = sum(row["regret"] > 1e-9 for row in own)
            rows.append({"seat": seat, **total, "decisions": len(own), "mistakes": mistakes})
        return rows


def _word(view: Mapping[str, Any], action: Mapping[str, Any] | None) -> str:
    """Names an action: ``go``, ``keep one one attack``."""
    if action is None:
        return "forfeit"
    if action["type"] != "keep":
        return str(action["type"])
    return " ".join(["keep", *(face for face, kept in zip(view["dice"], action["dice"]) if kept)])


def _rolled(event: Mapping[str, Any]) -> str:
    """Lists what the dice show: ``green brain, red shotgun, red shotgun`` or ``one one heal attack two two``."""
    if "hand" in event:
        return ", ".join(f"{die['colour']} {die['face']}" for die in event["hand"])
    return " ".join(event["dice"])
