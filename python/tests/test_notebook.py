"""What notebooks and prompts show: short, true, and the text of strangers as text."""

from __future__ import annotations

import importlib.metadata
import pathlib
import re

import pytest

import necrodome

EVIL = "<img src=x onerror=alert(1)>&\"'"


def test_the_version_is_that_of_the_package() -> None:
    assert necrodome.__version__ == necrodome.version()
    try:
        installed = importlib.metadata.version("necrodome")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("not installed")
    assert necrodome.__version__ == installed


def test_licences_are_in_the_package() -> None:
    try:
        files = importlib.metadata.files("necrodome") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("not installed")
    licences = {file.name: file.read_text() for file in files if file.name.startswith("LICENSE")}
    root = pathlib.Path(__file__).parents[2]
    assert licences == {name: (root / name).read_text() for name in ("LICENSE-APACHE", "LICENSE-MIT")}


def only_tables(html: str) -> None:
    """Nothing but the tags of a table, so no tag of a stranger."""
    assert set(re.findall(r"<(\w+)", html)) <= {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td"}
    assert html.count("<table>") == 1


def test_a_report_shows_its_standings() -> None:
    report = necrodome.tournament(
        "zombie-dice", {EVIL: "greedy", "shy": "cautious"}, blocks=20, seed=1, progress=False
    )
    text = repr(report)
    assert text.startswith("<Report zombie-dice: 20 blocks, ") and len(text.splitlines()) == 3
    assert repr(EVIL) in text and re.search(r"1(-2)? .*wins 0\.\d{4} \[0\.\d{4}, ", text)
    html = report._repr_html_()
    only_tables(html)
    assert "&lt;img src=x onerror=alert(1)&gt;&amp;&quot;&#x27;" in html and "<td" in html
    assert dict(report)["standings"][0]["name"] in (EVIL, "shy")


def test_a_match_and_its_ledger_show_who_played() -> None:
    played = necrodome.match("zombie-dice-race", {EVIL: "greedy", "shy": "cautious"}, seed=1)
    ledger = necrodome.analyze(played)
    for thing in (played, ledger):
        html = thing._repr_html_()
        only_tables(html)
        assert "&lt;img" in html and "shy" in html
    assert repr(ledger).startswith("<Ledger of zombie-dice-race, result ") and "regret" in repr(ledger)


def test_solutions_and_evaluations_show_their_values() -> None:
    solo = necrodome.solve("zombie-dice-solo")
    assert repr(solo).startswith("<zombie-dice-solo solved: value 2.258551")
    only_tables(solo._repr_html_())
    assert "cup_green" in solo._repr_html_() and "2.258551" in solo._repr_html_()
    never = necrodome.evaluate(lambda obs: 0)
    assert repr(never) == "<zombie-dice-solo policy: value 0.000000, regret 2.258551, 4716 states>"
    only_tables(never._repr_html_())
    race = necrodome.evaluate("greedy", "zombie-dice-race")
    html = race._repr_html_()
    only_tables(html)
    assert "best response" in html and f"{race.value:.4f}" in html
