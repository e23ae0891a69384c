"""Tables for notebooks. All input is untrusted text, and escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

_RIGHT = ' style="text-align: right"'
_LEFT = ' style="text-align: left"'


def told(value: Any) -> str:
    """Formats a value for people."""
    if value is None or isinstance(value, float) and math.isnan(value):
        return ""
    if isinstance(value, float):
        return f"{value:.4f}"
    return str(value)


def table(title: str, rows: Sequence[Mapping[str, Any]], columns: Iterable[str], notes: str = "") -> str:
    """Makes a table with a title: a line for each row, with these columns, except columns that no row has."""
    names = [name for name in columns if any(row.get(name) is not None for row in rows)]
    head = "".join(f"<th{_LEFT}>{escape(name.replace('_', ' '))}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(_cell(row.get(name)) for name in names) + "</tr>" for row in rows
    )
    below = f"<p>{escape(notes)}</p>" if notes else ""
    return (
        f"<div><p><b>{escape(title)}</b></p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}</div>"
    )


def _cell(value: Any) -> str:
    side = _RIGHT if isinstance(value, int | float) and not isinstance(value, bool) else _LEFT
    return f"<td{side}>{escape(told(value))}</td>"
