"""Matches and tournaments from Python."""

from __future__ import annotations

import doctest
import json
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas
import pytest
from arena_binary import document, necrodome, needs_binary

import necrodome as nd
from necrodome import Bot, IllegalAction, Report, View, match, tournament


class Steady(Bot):
    """Stops at three brains."""

    deterministic = True

    def act(self, view: View) -> str:
        return "stop" if view.turn.brains >= 3 else "go"


def steady(view: View) -> dict[str, str]:
    return {"type": "stop" if view["turn"]["brains"] >= 3 else "go"}


def test_a_match_between_built_in_bots() -> None:
    played = match("zombie-dice", ["greedy", "stop-at:brains=5", "optimal"], seed=7, out_of_dice="recycle_brains")
    assert played.names == ["greedy", "stop-at:brains=5", "optimal"] == played.bots
    assert played.options["out_of_dice"] == "recycle_brains" and played.seed == 7
    assert sorted(played.places)[0] == 1 and played.winners == [
        name for name, place in zip(played.names, played.places) if place == 1
    ]
    assert played == match("zombie-dice", ["greedy", "stop-at:brains=5", "optimal"], seed=7, out_of_dice="recycle_brains")
    assert list(pandas.DataFrame(played.rows).columns) == ["seat", "name", "bot", "place", "score"]


def test_objects_classes_and_functions_play_alike() -> None:
    outcomes = [match("zombie-dice", ["greedy", bot], seed=11).scores for bot in (Steady, Steady(), steady)]
    outcomes.append(match("zombie-dice", ["greedy", "stop-at:brains=3,shotguns=3"], seed=11).scores)
    assert all(scores == outcomes[0] for scores in outcomes)


@pytest.mark.parametrize("game", ["zombie-dice", "zombie-dice-solo", "zombie-dice-race", "last-bullet", "infection", "tokyo"])
def test_every_game_is_played_by_objects(game: str) -> None:
    class Anything(Bot):
        def start(self) -> None:
            self.events = 0

        def hear(self, event: View) -> None:
            self.events += 1

        def act(self, view: View) -> Any:
            if self.legal:
                return self.rng.choice(self.legal)
            return {"orders": [{"type": "move", "copy": copy.number, "direction": "stay"} for copy in view.copies]}

        def end(self, outcome: View) -> None:
            ended.append((outcome.places[self.seat], self.events))

    ended: list[tuple[int, int]] = []
    bots = [Anything() for _ in range({"zombie-dice-solo": 1, "infection": 5}.get(game, 2))]
    options: dict[str, Any] = {"copies": 3, "max_turns": 30} if game == "last-bullet" else {}
    played = match(game, bots, seed=5, **options)
    assert played.faults == []
    assert [place for place, _ in ended] == played.places
    assert all(events > 0 for _, events in ended)


def test_names_are_given_made_and_numbered() -> None:
    assert match("zombie-dice", {"Ada": "greedy", "Bob": Steady}, seed=1).names == ["Ada", "Bob"]
    assert match("zombie-dice", ["Ada=greedy", Steady, Steady()], seed=1).names == ["Ada", "Steady", "Steady-2"]

    class Named(Steady):
        name = "Steady Eddie"

    assert match("zombie-dice", [Named, steady], seed=1).names == ["Steady Eddie", "steady"]


def test_an_error_of_a_bot_is_raised_where_the_match_was_asked_for() -> None:
    def broken(view: View) -> str:
        raise KeyError("my own mistake")

    with pytest.raises(KeyError, match="my own mistake"):
        match("zombie-dice", ["greedy", broken])
    with pytest.raises(KeyError, match="my own mistake"):
        tournament("zombie-dice", ["greedy", broken], progress=False)
    with pytest.raises(TypeError, match="garbage has returned 7: expected an action of tokyo"):
        match("tokyo", ["random", garbage])
    with pytest.raises(IllegalAction, match="yield"):
        match("tokyo", ["random", lambda view: "yield"])
    with pytest.raises(IllegalAction, match="no action of this game"):
        match("tokyo", ["random", lambda view: {"type": "dance"}])


def garbage(view: View) -> Any:
    return 7


def test_an_error_of_a_bot_can_be_a_fault() -> None:
    class Broken(Bot):
        decisions = 0
        refusals = 0

        def act(self, view: View) -> Any:
            self.decisions += 1
            if self.decisions % 4 == 0:
                raise KeyError("my own mistake")
            if self.decisions % 4 == 1:
                sys.exit("I leave")
            return "dance" if self.decisions % 4 == 2 else None

        def refused(self, why: str) -> None:
            self.refusals += 1

    bot = Broken()
    played = match("zombie-dice", ["stop-at:brains=2", bot], seed=3, on_error="fault")
    kinds = {fault["kind"] for fault in played.faults}
    details = " ".join(fault["detail"] for fault in played.faults)
    assert played.scores[1] == 0 and kinds == {"crash", "illegal"}
    assert "KeyError: 'my own mistake'" in details and "SystemExit: I leave" in details and "TypeError" in details
    assert bot.refusals == sum(fault["kind"] == "illegal" for fault in played.faults) > 0
    report = tournament("zombie-dice", ["greedy", bot], blocks=3, seed=3, progress=False, on_error="fault")
    assert {row["kind"] for row in report["faults"]} == {"crash", "illegal"}


def test_an_error_between_decisions_is_told_with_the_next_one() -> None:
    class Late(Steady):
        def start(self) -> None:
            raise OSError("no start")

        def end(self, outcome: View) -> None:
            raise OSError("no end")

    with pytest.warns(RuntimeWarning, match="Late: OSError: no end"):
        played = match("zombie-dice", ["greedy", Late], seed=3, on_error="fault")
    assert [fault["detail"] for fault in played.faults] == ["OSError: no start"]


def test_mistakes_are_named_before_anything_is_played(tmp_path: Path) -> None:
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: match("chess", ["greedy"]), ValueError, "there is no game \"chess\""),
        (lambda: match("tokyo", ["angry", "angri"]), ValueError, "has no bot \"angri\": expected one of"),
        (lambda: match("tokyo", ["angry"]), ValueError, "tokyo"),
        (lambda: match("tokyo", ["angry", "human"]), ValueError, "a human can only play at a terminal"),
        (lambda: match("tokyo", ["angry", "./nowhere.py"]), FileNotFoundError, "there is no file"),
        (lambda: match("tokyo", ["angry", "compat:chess:a.py:A"]), ValueError, "there is no kind \"chess\""),
        (lambda: match("tokyo", ["angry", "random"], max_turn=3), ValueError, "max_turn"),
        (lambda: match("tokyo", ["angry", 7]), TypeError, "7 is no bot"),
        (lambda: match("tokyo", "angry"), TypeError, "expected a list of bots"),
        (lambda: match("tokyo", ["angry", "random"], seed=-1), ValueError, "seed: expected"),
        (lambda: match("tokyo", ["angry", "random"], seed=1 << 128), ValueError, "seed: expected"),
        (lambda: match("tokyo", ["angry", "random"], seed="x"), ValueError, "hexadecimal digits after 0x"),
        (lambda: match("tokyo", ["angry", "random"], seed=1, secret="12"), ValueError, "128 hexadecimal digits"),
        (lambda: match("tokyo", ["angry", "random"], secret="0" * 128), ValueError, "nothing without seed"),
        (lambda: match("tokyo", ["angry", "random"], limits={"x": 1}), ValueError, "unknown field `x`"),
        (
            lambda: match("tokyo", ["angry", "random"], limits={"decision_ms": 0}),
            ValueError,
            "limits.decision_ms: expected a whole number above 0, got 0",
        ),
        (lambda: tournament("tokyo", ["angry", "random"], limits={"files": 0}), ValueError, "limits.files: expected"),
        (lambda: tournament("tokyo", ["angry", "random"], margin=0.1), ValueError, "without until decided"),
        (lambda: match("tokyo", ["angry", "random"], on_error="x"), ValueError, "on_error"),  # type: ignore[arg-type]
        (lambda: match("tokyo", {"a": "angry", "A": "random"}), ValueError, "is taken"),
        (lambda: tournament("tokyo", ["angry", "random"], format="swiss"), ValueError, "there is no format \"swiss\""),
        (lambda: tournament("tokyo", ["angry", "random"], blocks=0), ValueError, "blocks: expected at least 1"),
        (lambda: tournament("tokyo", ["angry", "random"], seats=3), ValueError, "exactly 2 seats, got 3"),
        (lambda: tournament("tokyo", ["angry", "random"], threads=0), ValueError, "threads"),
    ]
    for play, error, says in cases:
        with pytest.raises(error) as caught:
            play()
        assert says in str(caught.value)
    bot = Steady()
    with pytest.raises(ValueError, match="is there twice"):
        match("zombie-dice", [bot, bot])
    foreign = tmp_path / "foreign"
    foreign.write_text("this is no store, and long enough to be looked at as one" * 20)
    with pytest.raises(ValueError, match="not a necrodome store"):
        tournament("tokyo", ["angry", "random"], store=foreign, progress=False)


def test_one_block_has_no_intervals() -> None:
    report = tournament("zombie-dice", ["greedy", "random"], blocks=1, seed=7, progress=False)
    assert report["standings"][0]["win_rate_low"] is None
    assert ", wins " in repr(report) and "[" not in repr(report)


def test_a_report_is_tables() -> None:
    report = tournament("zombie-dice", ["greedy", steady, "random"], blocks=10, seed=7, progress=False)
    standings = pandas.DataFrame(report["standings"])
    assert list(standings["name"])[-1] == "random" and len(standings) == 3
    assert standings["win_rate"].between(0, 1).all() and standings["games"].eq(60).all()
    assert (standings["win_rate_low"] <= standings["win_rate"]).all()
    for table, rows in (("head_to_head", 3), ("seats", 3), ("faults", 0)):
        assert len(pandas.DataFrame(report[table])) == rows
    flat = (str, int, float, bool, type(None))
    for table in ("standings", "head_to_head", "seats", "undecided"):
        assert all(isinstance(value, flat) for row in report[table] for value in row.values())
    assert (report["blocks"], report["matches"], report["plan"]["seed"]) == (10, 60, 7)
    assert report.document["standings"][0]["win_rate"]["mean"] == report["standings"][0]["win_rate"]
    battle = tournament("tokyo", ["angry", "random"], format="battle", blocks=10, seed=7, progress=False)
    assert (battle["seats"], battle["seats_differ"]) == ([], None), "every bot keeps its seat"


def test_a_report_does_not_depend_on_threads() -> None:
    line_up = ["greedy", "cautious", "random"]
    reports = [tournament("zombie-dice", line_up, blocks=100, seed=1, threads=n, progress=False) for n in (1, 3)]
    assert reports[0].text == reports[1].text


def test_a_stored_tournament_goes_on(tmp_path: Path) -> None:
    store = tmp_path / "night.store"
    first = tournament("zombie-dice-solo", ["greedy", steady], blocks=5, seed=9, store=store, progress=False)
    more = tournament("zombie-dice-solo", ["greedy", steady], blocks=9, store=store, progress=False)
    assert (first["blocks"], more["blocks"], more["plan"]["seed"]) == (5, 9, 9)
    assert more["hash"] == tournament("zombie-dice-solo", ["greedy", steady], blocks=9, seed=9, progress=False)["hash"]
    with pytest.raises(ValueError, match="another tournament"):
        tournament("zombie-dice-solo", ["random", "optimal"], blocks=9, store=store, progress=False)


def test_entries_come_and_go(tmp_path: Path) -> None:
    def play(bots: list[Any], blocks: int, **more: Any) -> Report:
        store = tmp_path / "league.store"
        return tournament(
            "zombie-dice-race", bots, format="round-robin", blocks=blocks, seed=9, store=store, progress=False, **more
        )

    play(["greedy", steady], 5)
    joined = play([steady, "random", "greedy"], 5)
    assert (joined["matches"], joined["left"]) == (30, [])
    more = play(["greedy", steady, "random"], 20, only=["greedy", "random"])
    assert (more["matches"], more["blocks_each"]) == (60, [5, 20])
    assert play(["greedy", "random"], 20)["left"] == ["steady"]
    with pytest.raises(ValueError, match="there is no entry"):
        play(["greedy", "random"], 20, only=["greedy", "nobody"])


def test_progress_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    tournament("zombie-dice-solo", ["greedy", steady], blocks=7, seed=9)
    assert "7/7" in capsys.readouterr().err


def test_processes_take_part(tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    file.write_text("import necrodome\nnecrodome.run(lambda view: 'stop' if view.turn.brains >= 3 else 'go')\n")
    played = match("zombie-dice", ["greedy", str(file), f"cmd:{sys.executable} -u {file}", steady], seed=11)
    assert played.faults == [] and played.names == ["greedy", "bot", "bot-2", "steady"]
    # Many decisions: a busy machine may find the clock of a process only after the first ones.
    report = tournament("zombie-dice", ["greedy", file], blocks=40, seed=1, threads=2, progress=False)
    assert report["faults"] == [] and all(row["cpu_us"] for row in report["standings"] if row["name"] == "bot")


def test_dice_of_processes_are_secret_unless_they_are_to_be_public(tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    file.write_text("import necrodome\nnecrodome.run(lambda view: 'stop' if view.turn.brains >= 3 else 'go')\n")
    seed = 1 << 100
    first = match("zombie-dice", ["greedy", file], seed=seed)
    assert first.seed == seed and first.secret is not None and len(first.secret) == 128
    again = match("zombie-dice", ["greedy", file], seed=hex(seed), secret=first.secret)
    assert (again.scores, again.replay) == (first.scores, first.replay)
    assert match("zombie-dice", ["greedy", file], seed=seed).replay != first.replay
    assert match("zombie-dice", ["greedy", file], seed=seed, public_dice=True).secret is None
    assert match("zombie-dice", ["greedy", steady], seed=seed).secret is None

    def played(**dice: Any) -> Any:
        return tournament("zombie-dice-race", ["greedy", file], blocks=3, seed=7, progress=False, **dice)

    report = played()
    (sealed,) = report["plan"]["sealed_dice"]
    assert sealed["first"] == 0 and len(sealed["commitment"]) == 64
    assert played(secret=sealed["secret"])["hash"] == report["hash"] != played()["hash"]
    assert played(public_dice=True)["hash"] == played(public_dice=True)["hash"]


def test_a_process_that_hangs_or_dies_is_charged_and_killed(tmp_path: Path) -> None:
    (tmp_path / "hangs.py").write_text("import necrodome\ndef hang(view):\n    while True: pass\nnecrodome.run(hang)\n")
    (tmp_path / "dies.py").write_text("import necrodome\nnecrodome.run(lambda view: 1 / 0)\n")
    limits = {"decision_ms": 50, "wall_factor": 2, "restarts": 0}
    played = match("zombie-dice", ["greedy", tmp_path / "hangs.py", tmp_path / "dies.py"], seed=1, limits=limits)
    kinds = [{fault["kind"] for fault in played.faults if fault["seat"] == seat} for seat in range(3)]
    assert kinds == [set(), {"timeout", "out"}, {"crash", "out"}]
    assert "ZeroDivisionError" in played.logs[2]


# A shell starts jobs in the background with SIGINT ignored, and Python leaves it so.
INTERRUPTED = """
import signal, sys, necrodome
signal.signal(signal.SIGINT, signal.default_int_handler)
def think(view):
    print("thinking", flush=True)
    while True: pass
bots = {"object": ["greedy", think], "built-in": ["greedy", "cautious"]}[sys.argv[1]]
try:
    if sys.argv[1] == "built-in":
        print("playing", flush=True)
    necrodome.tournament("zombie-dice", bots, blocks=100_000_000, progress=False)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("kind", ["object", "built-in"])
def test_ctrl_c_stops_it(kind: str) -> None:
    words = [sys.executable, "-c", INTERRUPTED, kind]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        code = process.wait(60)
    # Python may be interrupted before it has begun to play, but then it says so, too.
    assert code == 0 and rest.endswith("interrupted\n")


def test_python_runs_on_while_built_in_bots_play() -> None:
    import threading

    done = threading.Event()

    def play() -> None:
        tournament("zombie-dice", ["greedy", "cautious"], blocks=3000, seed=1, threads=1, progress=False)
        done.set()

    thread = threading.Thread(target=play)
    thread.start()
    steps = 0
    while not done.is_set():
        steps += 1
    thread.join()
    assert steps > 1000


@needs_binary
@pytest.mark.parametrize(
    ("game", "bots", "keywords", "words"),
    [
        ("zombie-dice", ["greedy", "stop-at:brains=5", "optimal"], {"blocks": 50}, ["--blocks", "50"]),
        ("zombie-dice-solo", ["greedy", "random"], {"out_of_dice": "recycle_brains"}, ["--set", "out_of_dice=recycle_brains"]),
        ("tokyo", ["angry", "random", "point-hunter"], {"format": "gauntlet", "blocks": 30}, ["--format", "gauntlet", "--blocks", "30"]),
        ("last-bullet", ["gunner", "runner"], {"copies": 5, "blocks": 3}, ["--set", "copies=5", "--blocks", "3"]),
    ],
)
def test_reports_are_those_of_the_command_line(
    game: str, bots: list[str], keywords: dict[str, Any], words: list[str]
) -> None:
    report = tournament(game, bots, seed=21, progress=False, **keywords)
    done = necrodome("tournament", game, *bots, "--seed", "21", "--json", *words)
    assert report.text + "\n" == done.stdout


@needs_binary
def test_matches_are_those_of_the_command_line(tmp_path: Path) -> None:
    played = match("tokyo", ["Ada=angry", "random", "point-hunter"], seed=21)
    other = document("match", "tokyo", "Ada=angry", "random", "point-hunter", "--seed", "21")
    assert [entry["name"] for entry in other.pop("entries")] == played.names
    assert {name: getattr(played, name) for name in other} == other
    played.save(tmp_path / "tokyo.replay")
    told = necrodome("replay", str(tmp_path / "tokyo.replay"))
    assert told.returncode == 0 and "Ada" in told.stdout


@pytest.mark.parametrize("module", ["bot", "play", "compat.gamezombies.state"])
def test_the_examples_in_the_documentation_are_true(module: str) -> None:
    failed, tried = doctest.testmod(import_module(f"necrodome.{module}"))
    assert tried > 0 and failed == 0


def test_all_names_are_exported() -> None:
    assert {"Bot", "match", "run", "tournament"} <= {*dir(nd)}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = nd.nothing
    assert json.dumps(nd.__all__)


def test_too_many_bots_are_refused_before_anybody_is_looked_up() -> None:
    missing = [f"./none-{number}.py" for number in range(10_000)]
    with pytest.raises(ValueError, match="zombie-dice: expected 2 to 99 players, got 10000"):
        match("zombie-dice", missing)
    with pytest.raises(ValueError, match="zombie-dice: expected 2 to 99 players, got 10000"):
        match("zombie-dice", [lambda view: "stop" for _ in range(10_000)])
