"""Bots in Python, as processes that speak the bot protocol."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from arena_binary import document, necrodome, needs_binary

from necrodome import Bot, View, match

HELLO = {"type": "hello", "protocol": 1, "game": "zombie-dice-solo", "options": {}, "seats": 1, "name": "me"}
START = {"type": "start", "seat": 0, "names": ["me"], "seed": 3}
TURN = {"brains": 2, "shotguns": 0, "hand": None, "cup": {"green": 6, "yellow": 4, "red": 3}}
END = {"type": "end", "outcome": {"places": [1], "scores": [2], "turns": 1}}


def decide(number: int) -> dict[str, Any]:
    return {"type": "decide", "id": number, "view": {"turn": TURN}, "legal": [{"type": "go"}, {"type": "stop"}]}


def talk(body: str, *messages: Any) -> tuple[list[Any], str, int]:
    """Runs a bot on messages; gives its answers, its log and its exit code."""
    program = f"import necrodome\n{body}"
    lines = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in messages)
    done = subprocess.run([sys.executable, "-c", program], input=lines, capture_output=True, text=True, timeout=60)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr, done.returncode


def test_a_function_is_a_bot() -> None:
    answers, log, code = talk("necrodome.run(lambda view: 'go')", HELLO, START, decide(1), decide(2), END)
    assert answers[0] == {"type": "ready", "protocol": 1, "events": False, "deterministic": False}
    assert answers[1:] == [{"id": 1, "action": {"type": "go"}}, {"id": 2, "action": {"type": "go"}}]
    assert (log, code) == ("", 0)


def test_a_bot_has_what_it_is_told_and_hears_what_it_wants_to() -> None:
    body = """
class Mine(necrodome.Bot):
    deterministic = True
    def start(self): self.heard = []
    def hear(self, event): self.heard.append(event.why)
    def act(self, view):
        told = [self.game, self.seats, self.name, self.seat, self.names, len(self.legal), self.heard]
        return {"type": "stop"}, repr(told + [view.turn.cup.green, view["turn"]["brains"]])
    def end(self, outcome): print("score", outcome.scores[self.seat])
necrodome.run(Mine)
"""
    events = {"type": "events", "events": [{"type": "turn_ended", "why": "busted"}]}
    answers, log, code = talk(body, HELLO, START, events, decide(5), END)
    assert answers[0] == {"type": "ready", "protocol": 1, "events": True, "deterministic": True}
    assert answers[1]["reason"] == str(["zombie-dice-solo", 1, "me", 0, ["me"], 2, ["busted"], 6, 2])
    assert (log, code) == ("score 2\n", 0), "what is printed goes to the log"


def test_randomness_is_the_same_in_the_same_match() -> None:
    body = """
class Coin(necrodome.Bot):
    def act(self, view): return self.rng.choice(self.legal), str(self.rng.random())
necrodome.run(Coin)
"""
    answers, _, _ = talk(body, HELLO, START, decide(1), END, START, decide(2), END, {**START, "seed": 4}, decide(3))
    reasons = [answer["reason"] for answer in answers[1:]]
    assert reasons[0] == reasons[1] != reasons[2]


def test_printing_and_asking_do_no_harm() -> None:
    body = """
import os
class Loud(necrodome.Bot):
    def act(self, view):
        print("a thought")
        os.system("echo a child")
        try: input()
        except EOFError: return "stop"
necrodome.run(Loud)
"""
    answers, log, code = talk(body, HELLO, START, decide(1))
    assert (answers[1:], code) == ([{"id": 1, "action": {"type": "stop"}}], 0)
    assert "a thought\n" in log and "a child\n" in log


def test_messages_and_fields_of_later_versions_are_passed_over() -> None:
    answers, _, code = talk(
        "necrodome.run(lambda view: 'go')", {"type": "news"}, {**HELLO, "new": 1}, "\n", {**START, "new": []}, decide(1)
    )
    assert (len(answers), code) == (2, 0)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("necrodome.run(lambda view: 1 / 0)", "ZeroDivisionError"),
        ("necrodome.run(lambda view: None)", "me has returned None: expected an action of zombie-dice-solo"),
        ("necrodome.run(lambda view: ['go'])", "such as {'type': 'go'} or {'type': 'stop'}"),
        ("necrodome.run(lambda view: ('go', 7))", "with a text as its reason"),
        ("necrodome.run(lambda view: {'type': {1}})", "{1} cannot be a part of an action"),
        ("class A(necrodome.Bot): pass\nnecrodome.run(A)", "A has no method act(self, view)"),
        ("class A: pass\nnecrodome.run(A)", "A is no bot: expected a class that derives from necrodome.Bot"),
        ("necrodome.run(7)", "7 is no bot"),
    ],
)
def test_an_error_ends_the_bot_with_its_traceback(body: str, says: str) -> None:
    _, log, code = talk(body, HELLO, START, decide(1), decide(2))
    assert code == 1
    assert "Traceback" in log and says in log


def test_numbers_of_numpy_are_numbers() -> None:
    body = "import numpy\nnecrodome.run(lambda view: {'type': 'keep', 'dice': numpy.zeros(2, bool), 'n': numpy.int8(3)})"
    answers, _, _ = talk(body, HELLO, START, decide(1))
    assert answers[1]["action"] == {"type": "keep", "dice": [False, False], "n": 3}


def test_a_view_is_a_dict_with_attributes() -> None:
    view = View(turn=View(brains=2))
    assert view.turn.brains == view["turn"]["brains"] == 2
    with pytest.raises(AttributeError, match="no field 'cup', only turn"):
        _ = view.cup
    assert json.loads(json.dumps(view)) == view


def test_a_bot_without_the_package_stays_light() -> None:
    program = "import sys, necrodome\nnecrodome.Bot\nprint(sorted({'numpy', 'gymnasium', 'pettingzoo'} & {*sys.modules}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


BOT = """
import necrodome
class Careful(necrodome.Bot):
    def act(self, view):
        print("thinking")
        return "stop" if view.turn.brains >= 2 else "go"
if __name__ == "__main__":
    necrodome.run(Careful)
"""


@needs_binary
def test_the_arena_plays_with_a_file(tmp_path: Path) -> None:
    (tmp_path / "careful.py").write_text(BOT)
    words = ("match", "zombie-dice", "./careful.py", "greedy", "--seed", "7", "--public-dice")
    played = document(*words, folder=tmp_path)
    assert played["faults"] == [] and played["logs"][0].startswith("thinking\n")

    class Careful(Bot):
        def act(self, view: View) -> str:
            return "stop" if view.turn.brains >= 2 else "go"

    same = match("zombie-dice", [Careful, "greedy"], seed=7)
    assert (same.scores, same.places) == (played["scores"], played["places"])


@needs_binary
def test_the_gauntlet_finds_nothing_wrong(tmp_path: Path) -> None:
    (tmp_path / "careful.py").write_text(BOT)
    done = necrodome("check-bot", "zombie-dice", "./careful.py", folder=tmp_path)
    assert done.returncode == 0, done.stdout
