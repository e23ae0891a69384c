"""Exams from Python."""

from __future__ import annotations

import re
from typing import Any

import pandas
import pytest
from arena_binary import document, needs_binary
from test_notebook import EVIL, only_tables

import necrodome
from necrodome import Bot, Exam, View


def coward(view: View) -> str:
    return "stop"


def entry(result: Exam, name: str) -> dict[str, Any]:
    [found] = [entry for entry in result["entries"] if entry["name"] == name]
    return dict(found)


def test_functions_and_built_in_bots_sit_the_same_exam() -> None:
    result = necrodome.exam("zombie-dice-solo", "optimal", "random", coward, positions=60, seed=3, progress=False)
    assert isinstance(result, Exam) and result["questions"] == 60 and result["complete"]
    best = result["entries"][0]
    assert (best["name"], best["perfect"]) == ("optimal", 1.0) and best["regret"] <= 1e-12
    assert entry(result, "coward")["regret_low"] > 0 and not entry(result, "coward")["unusable"]
    again = necrodome.exam("zombie-dice-solo", {"coward": coward}, positions=60, seed=3, progress=False)
    assert entry(again, "coward")["regret"] == entry(result, "coward")["regret"]
    frame = pandas.DataFrame(result.rows)
    assert list(frame["name"])[0] == "optimal" and frame["regret"].is_monotonic_increasing
    other = necrodome.exam("zombie-dice-solo", coward, positions=60, seed=4, progress=False)
    assert other["entries"][0]["regret"] != entry(again, "coward")["regret"]


@needs_binary
def test_it_is_the_exam_of_the_command_line() -> None:
    result = necrodome.exam("tokyo", "angry", "random", positions=30, seed=5, progress=False)
    assert dict(result) == document("exam", "tokyo", "angry", "random", "--positions=30", "--seed=5")


def test_what_cannot_be_used_is_counted_or_raised() -> None:
    def broken(view: View) -> str:
        raise RuntimeError("out of tokens")

    result = necrodome.exam("tokyo", {"broken": broken, "wrong": lambda view: "sing"}, positions=20, progress=False)
    assert entry(result, "broken")["lost_by_kind"] == {"crash": 20}
    assert entry(result, "wrong")["unusable"] == 20
    assert {row["name"]: row["lost_by_kind"] for row in result.rows}["broken"] == "20 crash"
    assert any("out of tokens" in fault["first"] for fault in result["faults"])
    with pytest.raises(RuntimeError, match="out of tokens"):
        necrodome.exam("tokyo", broken, positions=20, on_error="raise", progress=False)


def test_reasons_stand_beside_the_truth() -> None:
    class Talker(Bot):
        def act(self, view: View) -> tuple[str, str]:
            return "stop", "I am afraid of zombies"

    result = necrodome.exam("zombie-dice-race", Talker, positions=40, progress=False)
    worst = result["entries"][0]["worst"][0]
    assert worst["reason"] == "I am afraid of zombies" and worst["choice"] != worst["best"] and worst["regret"] > 0


def test_a_null_shows_noise() -> None:
    result = necrodome.exam("zombie-dice-solo", "random", positions=60, null=True, progress=False)
    [pair] = result["pairs"]
    assert pair["null"] and {pair["one"], pair["other"]} == {"random", "random again"} and not pair["told_apart"]
    with pytest.raises(ValueError, match="null: expected a built-in bot"):
        necrodome.exam("zombie-dice-solo", coward, null=True, progress=False)


def test_mistakes_are_told() -> None:
    for words, options, text in [
        (["last-bullet", "gunner"], {}, "last-bullet is not solved"),
        (["tokyo", "angry"], {"max_turns": 10}, "expected max_turns=none"),
        (["tokyo", "angryy"], {}, "tokyo has no bot"),
        (["tokyo", "angry"], {"positions": 3}, "positions: expected a number from 20 to 10000, got 3"),
    ]:
        with pytest.raises(ValueError, match=re.escape(text)):
            necrodome.exam(*words, progress=False, **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="at least one entry"):
        necrodome.exam("tokyo")


def test_notebooks_and_prompts_show_it() -> None:
    result = necrodome.exam("zombie-dice", {EVIL: "greedy", "shy": "cautious"}, positions=20, progress=False)
    text = repr(result)
    assert text.startswith("<Exam zombie-dice: 20 positions, seed 0, regret in chance to win\n")
    assert len(text.splitlines()) == 3 and repr(EVIL) in text
    assert re.search(r"regret 0\.\d{4} \[0\.\d{4}, 0\.\d{4}\], perfect 0\.\d{3}", text)
    html = result._repr_html_()
    only_tables(html)
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
