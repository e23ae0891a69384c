"""Objects of Python in the arena: they see and say what a process does, on the thread of the caller."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import threading
from collections import OrderedDict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy
import pytest
from arena_binary import necrodome, needs_binary

from necrodome import Bot, View, match, tournament

GAMES = ["zombie-dice", "zombie-dice-solo", "zombie-dice-race", "last-bullet", "infection", "tokyo"]
SEATS = {"zombie-dice-solo": 1, "infection": 5}
OPTIONS: dict[str, dict[str, Any]] = {"last-bullet": {"copies": 3, "max_turns": 30}}

#: Tells in its reasons, which are kept in the replay, all that it has seen and heard.
TELLTALE = """
import hashlib, json, necrodome

class Telltale(necrodome.Bot):
    name = "telltale"
    heard = []
    def start(self): self.heard = [self.seat, self.names, self.game, self.options, self.seats, self.name]
    def hear(self, event): self.heard.append(event)
    def end(self, outcome): self.heard.append(outcome)
    def act(self, view):
        seen = json.dumps([view, self.legal, self.heard])
        self.heard = []
        if self.legal:
            action = self.rng.choice(self.legal)
        else:
            action = {"orders": [{"type": "move", "copy": one.number, "direction": "stay"} for one in view.copies]}
        return action, seen[:1000] + hashlib.sha256(seen.encode()).hexdigest()

if __name__ == "__main__":
    necrodome.run(Telltale)
"""


@pytest.mark.parametrize("game", GAMES)
def test_an_object_sees_what_a_process_sees(game: str, tmp_path: Path) -> None:
    file = tmp_path / "telltale.py"
    file.write_text(TELLTALE)
    namespace: dict[str, Any] = {"__name__": "telltale"}
    exec(TELLTALE, namespace)
    others = {"infection": "careful", "tokyo": "random", "last-bullet": "runner"}
    rest = [others.get(game, "greedy")] * (SEATS.get(game, 2) - 1)
    options = OPTIONS.get(game, {})
    by_object = match(game, [namespace["Telltale"], *rest], seed=5, **options)
    by_process = match(game, [file, *rest], seed=5, public_dice=True, **options)
    assert by_object.faults == by_process.faults == []
    assert by_object.replay == by_process.replay


class StopAt(Bot):
    """The built-in bot of this name."""

    name = "stop-at:brains=3,shotguns=3"

    def act(self, view: View) -> str:
        return "stop" if view.turn.brains >= 3 else "go"


class Threads(Bot):
    """Notes the threads on which it is called."""

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def note(self) -> None:
        self.seen.add(threading.get_ident())

    def start(self) -> None:
        self.note()

    def hear(self, event: View) -> None:
        self.note()

    def act(self, view: View) -> str:
        self.note()
        return "stop"

    def end(self, outcome: View) -> None:
        self.note()


@pytest.mark.parametrize("with_process", [False, True])
def test_an_object_is_called_on_the_thread_of_the_caller(with_process: bool, tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    file.write_text("import necrodome\nnecrodome.run(lambda view: 'stop')\n")
    bot = Threads()
    line_up = ["greedy", bot, *([file] if with_process else [])]

    def play() -> None:
        match("zombie-dice", line_up, seed=1)
        tournament("zombie-dice", line_up, blocks=2, seed=1, threads=2, progress=False)

    play()
    assert bot.seen == {threading.get_ident()}
    thread = threading.Thread(target=play)
    bot.seen.clear()
    thread.start()
    thread.join()
    assert bot.seen == {thread.ident}


@pytest.mark.parametrize("method", ["start", "act", "hear", "end"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit])
def test_an_interrupt_inside_a_bot_comes_out(method: str, error: type[BaseException]) -> None:
    calls: list[str] = []

    class Interrupted(StopAt):
        def hear(self, event: View) -> None:
            pass

    class Other(StopAt):
        name = "other"

        def act(self, view: View) -> str:
            calls.extend(["after"] if calls else [])
            return super().act(view)

    def interrupt(*_: Any) -> None:
        calls.append(method)
        raise error("enough")

    setattr(Interrupted, method, interrupt)
    with pytest.raises(error, match="enough"):
        match("zombie-dice", [Interrupted, Other], on_error="fault")
    assert calls == [method], "nobody is asked after it"
    calls.clear()
    with pytest.raises(error, match="enough"):
        tournament("zombie-dice", [Interrupted, Other], on_error="fault", progress=False)
    assert calls == [method]


def test_a_traceback_leads_from_the_bot_to_the_caller() -> None:
    def broken(view: View) -> str:
        raise KeyError("my own mistake")

    with pytest.raises(KeyError) as caught:
        match("zombie-dice", ["greedy", broken])
    names = [entry.name for entry in caught.traceback]
    assert names[0].startswith("test_") and names[-1] == "broken" and "match" in names


def test_a_bot_can_play_matches_of_its_own() -> None:
    class Dreamer(Bot):
        """Plays a match in its head before each decision, and a tournament before the first."""

        dreams = 0

        def start(self) -> None:
            tournament("tokyo", [lambda view: self.other(view), "random"], blocks=1, seed=1, progress=False)

        def other(self, view: View) -> Any:
            self.dreams += 1
            return "stay" if view.phase.type == "yielding" else {"type": "keep", "dice": [True] * 6}

        def act(self, view: View) -> str:
            scores = match("zombie-dice-solo", [lambda inner: "stop" if inner.turn.brains else "go"], seed=3).scores
            assert view.turn.brains < 13 and self.game == "zombie-dice"
            return "stop" if view.turn.brains > scores[0] else "go"

    dreamer = Dreamer()
    played = match("zombie-dice", ["greedy", dreamer], seed=1)
    assert dreamer.dreams > 0 and played.faults == []
    assert played.replay == match("zombie-dice", ["greedy", Dreamer()], seed=1).replay


def test_a_replay_is_packed_when_somebody_looks() -> None:
    played, again = (match("zombie-dice", ["greedy", StopAt], seed=1) for _ in range(2))
    thawed, copied = pickle.loads(pickle.dumps(played)), copy.deepcopy(played)
    assert not isinstance(vars(played)["replay"], bytes) and isinstance(played.replay, bytes)
    assert played == again == thawed == copied and played.replay is played.replay
    assert dataclasses.asdict(again)["replay"] == played.replay
    goers = [[lambda view: "go", lambda view: "go"] for _ in range(2)]
    long, longer = (match("zombie-dice", bots, seed=1, max_rounds=200) for bots in goers)
    assert long.turns > 100 and long.replay == longer.replay


def test_a_bot_can_be_copied_while_it_decides() -> None:
    class Copied(Bot):
        def act(self, view: View) -> Any:
            twins = [copy.deepcopy(self), pickle.loads(pickle.dumps(vars(self)))["_Bot__legal"]]
            assert twins[0].legal == twins[1] == self.legal == [{"type": "go"}, {"type": "stop"}]
            assert self.legal is self.legal and isinstance(self.legal[0], View)
            return copy.deepcopy(view).turn.brains and "stop" or "go"

    assert match("zombie-dice-solo", [Copied], seed=1).faults == []


#: Answers that are JSON, and the action that they are, if any.
ANSWERS = [
    "{'type': 'dance'}",
    "{'type': ['go']}",
    "{}",
    "{'type': 'go', 'n': 2**70}",
    "{'type': 'go', 'n': -2**63}",
    "{'type': 'go', 'n': 2**64 - 1}",
    "{'type': 'go', 'n': 1.5}",
    "{'type': 'stop', 'n': [None, True, (1, 'ä')]}",
    "{1: 'go', None: 2, True: 3}",
    "{'type': 'keep', 'dice': [True]}",
    "'a word'",
    "('stop', 'because')",
    "('stop', None)",
    "('stop', 'x' * 3000)",
    "(['go', 'stop'])[1]",
]


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_are_read_as_those_of_a_process(answer: str, tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    file.write_text(f"import necrodome\nnecrodome.run(lambda view: {answer})\n")
    by_process = match("zombie-dice", {"a": "greedy", "b": file}, seed=5, public_dice=True)
    by_object = match("zombie-dice", {"a": "greedy", "b": eval(f"lambda view: {answer}")}, seed=5, on_error="fault")
    # Hints are about lines of JSON, which objects do not write.
    faults = [{key: value for key, value in fault.items() if key != "hint"} for fault in by_process.faults]
    assert by_object.faults == faults
    assert by_object.replay == by_process.replay


class Word(str):
    """A text of a kind of its own."""


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"type": numpy.str_("stop")}, None),
        (Word("stop"), None),
        (OrderedDict(type="stop"), None),
        (MappingProxyType({"type": "stop"}), "cannot be a part of an action"),
        ({"type": "go", "n": numpy.int8(3)}, None),
        ({"type": "go", "n": {1}}, "{1} cannot be a part of an action"),
        ({"type": "go", "n": float("nan")}, "ValueError: Out of range float values"),
        ({"type": "\ud800"}, "end of hex escape"),
        (("stop", 7), "with a text as its reason"),
        (("stop", "a", "b"), "expected an action of zombie-dice"),
        (["stop"], "such as {'type': 'go'} or {'type': 'stop'}"),
    ],
)
def test_odd_answers_are_read_or_named(answer: Any, says: str | None) -> None:
    faults = match("zombie-dice", ["greedy", lambda view: answer], seed=5, on_error="fault", max_rounds=2).faults
    assert bool(faults) == (says is not None)
    assert says is None or says in faults[0]["detail"]


def test_an_answer_that_contains_itself_is_refused() -> None:
    action: dict[str, Any] = {"type": "go"}
    action["again"] = action
    with pytest.raises(ValueError, match="Circular"):
        match("zombie-dice", ["greedy", lambda view: action])


def test_a_bad_order_is_told_and_the_others_stand() -> None:
    class Flyer(Bot):
        told: list[str] = []

        def act(self, view: View) -> Any:
            return {"orders": [{"type": "fly", "copy": 0}]}

        def refused(self, why: str) -> None:
            self.told.append(why)

    played = match("last-bullet", [Flyer], seed=1, on_error="fault", copies=2, max_turns=1)
    assert [fault["kind"] for fault in played.faults] == ["illegal"]
    assert Flyer.told[0].startswith("order 1 is malformed, so copy 0 stays")


def test_a_bot_that_cannot_be_greeted_is_at_fault() -> None:
    class Shy(Bot):
        @property
        def deterministic(self) -> bool:  # type: ignore[override]
            raise OSError("go away")

        def act(self, view: View) -> str:
            raise AssertionError("it is not asked")

    played = match("zombie-dice", ["greedy", Shy], seed=1, on_error="fault", max_rounds=2)
    assert {fault["detail"] for fault in played.faults} == {"OSError: go away"} and played.scores[1] == 0
    with pytest.raises(OSError, match="go away"):
        match("zombie-dice", ["greedy", Shy], seed=1)


@pytest.mark.parametrize("game", ["zombie-dice", "zombie-dice-race"])
def test_a_report_is_that_of_the_same_bot_without_python(game: str, tmp_path: Path) -> None:
    def text(bot: Any, **more: Any) -> str:
        bots = ["greedy", bot, "random"]
        return tournament(game, bots, blocks=20, seed=21, format="round-robin", progress=False, **more).text

    report = text(StopAt)
    assert report == text(StopAt.name) == text(StopAt(), store=tmp_path / "kept.store")


@needs_binary
@pytest.mark.parametrize("game", ["zombie-dice", "zombie-dice-race"])
def test_a_report_with_an_object_is_that_of_the_command_line(game: str) -> None:
    report = tournament(game, ["greedy", StopAt], seed=21, blocks=30, progress=False)
    done = necrodome("tournament", game, "greedy", StopAt.name, "--seed", "21", "--blocks", "30", "--json")
    assert report.text + "\n" == done.stdout


def test_other_threads_run_while_objects_play() -> None:
    done = threading.Event()
    steps = 0

    def count() -> None:
        nonlocal steps
        while not done.is_set():
            steps += 1

    thread = threading.Thread(target=count)
    thread.start()
    tournament("zombie-dice", [StopAt(), "greedy"], blocks=600, seed=1, progress=False)
    done.set()
    thread.join()
    assert steps > 1000


def test_errors_between_matches_are_not_lost() -> None:
    class Sore(StopAt):
        def end(self, outcome: View) -> None:
            raise OSError("a sore loser")

    with pytest.warns(RuntimeWarning, match="a sore loser") as caught:
        report = tournament("zombie-dice", ["greedy", Sore], blocks=3, seed=3, progress=False, on_error="fault")
    assert caught[0].filename == __file__
    (row,) = report["faults"]
    assert row["count"] == 5 and json.dumps(row).count("OSError: a sore loser") == 1, "six matches, and the last is over"
