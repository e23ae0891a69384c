"""Zombies of the ``zombiedice`` module: the old module and ours, side by side on the same zombies."""

from __future__ import annotations

import json
import math
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from arena_binary import document, necrodome, needs_binary

from necrodome import match, tournament
from necrodome.compat import zombiedice as new


def _old() -> Any:
    """The published module. It changes the working directory when it is loaded, which is put right."""
    before = os.getcwd()
    try:
        return pytest.importorskip("zombiedice", reason="the published zombiedice is not installed")
    finally:
        os.chdir(before)


@pytest.fixture(params=["old", "new"])
def module(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Each of the two: what is asserted holds for both."""
    chosen: Any = _old() if request.param == "old" else new
    lose, limit = chosen.EXCEPTIONS_LOSE_GAME, chosen.MAX_TURN_TIME
    random.seed(7)
    yield chosen
    chosen.EXCEPTIONS_LOSE_GAME, chosen.MAX_TURN_TIME = lose, limit


#: The rules of the arena, where they are not those of the old module.
RULEBOOK = {"first_roll": "mandatory", "out_of_dice": "end_turn"}


def play(module: Any, *zombies: Any) -> Any:
    return module.runGame(list(zombies))


class Zombie:
    """Keeps what it is called with; does in its turn what it is told."""

    def __init__(self, name: str, turn: Callable[[], object]) -> None:
        self.name = name
        self.act = turn
        self.calls: list[str] = []
        self.states: list[dict[str, Any]] = []

    def newGame(self) -> None:
        self.calls.append("newGame")

    def turn(self, gameState: dict[str, Any]) -> None:
        self.calls.append("turn")
        self.states.append(gameState)
        self.act()

    def endGame(self, gameState: dict[str, Any]) -> None:
        self.calls.append("endGame")
        self.states.append(gameState)


def until_shot(module: Any, rolls: list[Any] | None = None, shotguns: int = 2) -> Callable[[], None]:
    def turn() -> None:
        shot = 0
        while shot < shotguns:
            rolled = module.roll()
            if rolls is not None:
                rolls.append(rolled)
            if rolled is None:
                return
            shot += rolled[module.SHOTGUN]

    return turn


def test_the_names_are_those_of_the_module() -> None:
    old = _old()
    for name in [
        *("COLOR", "ICON", "RED", "GREEN", "YELLOW", "SHOTGUN", "BRAINS", "FOOTSTEPS", "__version__"),
        *("EXCEPTIONS_LOSE_GAME", "MAX_TURN_TIME"),
    ]:
        assert getattr(new, name) == getattr(old, name), name
    for name in ("roll", "rollDie", "runGame", "runTournament", "runWebGui", "demo", "assignUniqueZombieName"):
        assert callable(getattr(new, name)) and callable(getattr(old, name))
    assert new.DieRoll._fields == old.DieRoll._fields
    assert {name for name in dir(old.examples) if name.endswith("Zombie")} <= {*dir(new.examples)}


def test_a_roll_has_its_shape(module: Any) -> None:
    rolls: list[Any] = []
    play(module, Zombie("a", until_shot(module, rolls, 3)), Zombie("b", until_shot(module, rolls)))
    made = [rolled for rolled in rolls if rolled is not None]
    assert len(made) > 10
    for rolled in made:
        assert list(rolled) == ["shotgun", "footsteps", "brains", "rolls"]
        assert len(rolled["rolls"]) == 3 and type(rolled) is dict
        for die in rolled["rolls"]:
            assert type(die).__name__ == "DieRoll" and issubclass(type(die), tuple)
            assert die[module.COLOR] == die.color and die.color in ("red", "yellow", "green")
            assert die[module.ICON] == die.icon and die.icon in ("brains", "footsteps", "shotgun")
        for icon in ("shotgun", "footsteps", "brains"):
            assert rolled[icon] == sum(die.icon == icon for die in rolled["rolls"])


def test_the_state_has_its_keys_and_types(module: Any) -> None:
    a, b = (Zombie(name, until_shot(module)) for name in "ab")
    ended = play(module, a, b)
    keys = ["CURRENT_ZOMBIE", "CURRENT_CUP", "CURRENT_HAND", "SHOTGUNS_ROLLED", "BRAINS_ROLLED"]
    keys += ["ROLLED_BRAINS_DETAILS", "TURN_START_TIME", "ORDER", "SCORES", "ROUND"]
    for zombie in (a, b):
        turns = zombie.states[:-1]
        for number, state in enumerate(turns):
            assert sorted(state) == sorted(keys)
            assert state["CURRENT_ZOMBIE"] == zombie.name and state["ORDER"] == ["a", "b"]
            assert sorted(state["CURRENT_CUP"]) == ["green"] * 6 + ["red"] * 3 + ["yellow"] * 4
            assert state["CURRENT_HAND"] == state["ROLLED_BRAINS_DETAILS"] == []
            assert state["SHOTGUNS_ROLLED"] == state["BRAINS_ROLLED"] == 0
            assert state["ROUND"] == number + 1
            assert all(type(score) is int for score in state["SCORES"].values())
        assert zombie.states[-1]["SCORES"] == ended["SCORES"]
    assert ended is module.GAME_STATE and max(ended["SCORES"].values()) >= 13
    # What a zombie is shown is its own copy.
    a.states[0]["SCORES"]["b"] = 99
    assert module.GAME_STATE["SCORES"]["b"] != 99


def test_methods_are_called_in_order(module: Any) -> None:
    a, b = (Zombie(name, until_shot(module)) for name in "ab")
    play(module, a, b)
    for zombie in (a, b):
        assert re.fullmatch(r"newGame( turn)+ endGame", " ".join(zombie.calls))
    assert abs(len(a.calls) - len(b.calls)) <= 0, "both have had as many turns"


def test_after_three_shotguns_there_is_nothing_more_to_roll(module: Any) -> None:
    after: list[Any] = []

    def greedy() -> None:
        while (rolled := module.roll()) is not None:
            if module.GAME_STATE["SHOTGUNS_ROLLED"] >= 3:
                after.append(rolled[module.SHOTGUN] > 0)
        after.append([module.roll(), module.roll()])

    b = Zombie("b", until_shot(module, shotguns=1))
    ended = play(module, Zombie("a", greedy), b)
    assert after == [True, [None, None]] * (len(after) // 2) and after
    assert ended["SCORES"]["a"] == 0


def test_the_shared_state_follows_the_dice(module: Any) -> None:
    def turn() -> None:
        brains = shotguns = 0
        while (rolled := module.roll()) is not None and shotguns < 3:
            brains, shotguns = brains + rolled["brains"], shotguns + rolled["shotgun"]
            state = module.GAME_STATE
            assert (state["BRAINS_ROLLED"], state["SHOTGUNS_ROLLED"]) == (brains, shotguns)
            feet = sorted(die.color for die in rolled["rolls"] if die.icon == "footsteps")
            assert sorted(state["CURRENT_HAND"]) == feet
            on_table = len(state["CURRENT_CUP"]) + len(state["CURRENT_HAND"]) + len(state["ROLLED_BRAINS_DETAILS"])
            assert on_table + shotguns == 13
            checked.append(1)

    checked: list[int] = []
    play(module, Zombie("a", turn), Zombie("b", until_shot(module, shotguns=1)))
    assert checked


def test_to_roll_outside_of_a_turn_is_an_error() -> None:
    program = "import zombiedice\nzombiedice.roll()"
    assert _old() is not None
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "TypeError" in done.stderr
    with pytest.raises(TypeError, match=r"roll\(\) outside of a turn"):
        new.roll()


def test_an_error_ends_the_game_or_loses_it(module: Any) -> None:
    def crash() -> None:
        module.roll()
        raise ZeroDivisionError

    def crash_at_once() -> None:
        raise ZeroDivisionError

    good = Zombie("good", until_shot(module, shotguns=1))
    with pytest.raises(ZeroDivisionError):
        play(module, Zombie("bad", crash), good)
    module.EXCEPTIONS_LOSE_GAME = True
    bad = Zombie("bad", crash_at_once)
    ended = play(module, bad, good)
    assert ended["SCORES"]["bad"] == -1 and ended["SCORES"]["good"] >= 13
    assert bad.calls.count("turn") == 1, "it is not asked again"

    def crash_with_brains() -> None:
        rolled = module.roll()
        eaten.append(rolled["brains"] if rolled["shotgun"] < 3 else 0)
        raise ZeroDivisionError

    eaten: list[int] = []
    for _ in range(10):
        ended = play(module, good, Zombie("bad", crash_with_brains))
        assert ended["SCORES"]["bad"] == -1 + eaten[-1]
    assert sum(eaten) > 0


def test_a_turn_can_take_too_long(module: Any) -> None:
    module.MAX_TURN_TIME = -1
    with pytest.raises(Exception, match="(?i)time|seconds"):
        play(module, Zombie("a", until_shot(module)), Zombie("b", until_shot(module)))


def test_names_are_made_and_numbered(module: Any) -> None:
    class Nameless:
        def turn(self, gameState: dict[str, Any]) -> None:
            module.roll()

    numbered = Nameless()
    numbered.name = 7  # type: ignore[attr-defined]
    zombies: list[Any] = [Nameless(), Nameless(), Zombie("x", module.roll), Zombie("x", module.roll), numbered]
    module.assignUniqueZombieName(zombies)
    assert [zombie.name for zombie in zombies] == ["Nameless2", "Nameless", "x2", "x", "7"]


def test_one_zombie_is_no_game(module: Any) -> None:
    assert play(module, Zombie("a", until_shot(module))) is None
    with pytest.raises(SystemExit):
        module.runTournament([Zombie("a", until_shot(module))], 3)


def test_a_tournament_counts_and_prints(module: Any, capsys: pytest.CaptureFixture[str]) -> None:
    zombies = [Zombie("anna", until_shot(module)), Zombie("bo", until_shot(module, shotguns=1))]
    assert module.runTournament(zombies=zombies, numGames=20) is None
    state = module.TOURNAMENT_STATE
    assert sorted(state) == ["GAME_NUMBER", "TIES", "WINS"] and state["GAME_NUMBER"] == 20
    assert sum(state["WINS"].values()) + sum(state["TIES"].values()) / 2 == 20
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Tournament of 20 games") and lines[2] == "Wins:" and lines[5] == "Ties:"
    best = max(state["WINS"], key=lambda name: state["WINS"][name])
    assert lines[3] == f"    {best:>4} {state['WINS'][best]:>2}"
    assert [zombie.calls.count("newGame") for zombie in zombies] == [20, 20]


def test_win_rates_agree_where_the_rules_do(capsys: pytest.CaptureFixture[str]) -> None:
    games = 1500
    shares = []
    for module in (_old(), new):
        random.seed(5)
        zombies = [
            Zombie("two", until_shot(module)),
            Zombie("one", until_shot(module, shotguns=1)),
            module.examples.RollsUntilInTheLeadZombie("lead"),
        ]
        module.runTournament(zombies, games)
        shares.append({name: wins / games for name, wins in module.TOURNAMENT_STATE["WINS"].items()})
    for name, share in shares[0].items():
        # Five standard errors of the difference.
        error = math.sqrt(2 * max(share * (1 - share), 0.01) / games)
        assert abs(share - shares[1][name]) < 5 * error, shares


def test_random_makes_it_repeatable() -> None:
    scores = []
    for _ in range(2):
        random.seed(3)
        scores.append(dict(new.runGame([Zombie("a", until_shot(new)), Zombie("b", until_shot(new))])["SCORES"]))  # type: ignore[index]
    assert scores[0] == scores[1]


def test_nobody_has_to_roll_unless_the_rules_say_so() -> None:
    a, b = Zombie("a", lambda: None), Zombie("b", until_shot(new))
    random.seed(1)
    assert new.runGame([a, b])["SCORES"]["a"] == 0  # type: ignore[index]
    random.seed(1)
    assert new.runGame([a, b], **RULEBOOK)["SCORES"]["a"] > 0, "the first roll is mandatory"  # type: ignore[index]
    assert a.calls.count("turn") == b.calls.count("turn"), "also where the mandatory roll has lost the turn"


def rolls_on(module: Any, ends: list[Any]) -> Callable[[], None]:
    """Rolls until there is nothing more to roll, and notes how the turn went on after that."""

    def turn() -> None:
        rolled = module.roll()
        ends.append(None)
        while rolled is not None:
            ends[-1] = module.GAME_STATE["SHOTGUNS_ROLLED"]
            rolled = module.roll()
        ends[-1] = "none"

    return turn


def test_only_the_third_shotgun_ends_a_turn(module: Any) -> None:
    ends: list[Any] = []
    for _ in range(40):
        play(module, Zombie("a", rolls_on(module, ends)), Zombie("b", until_shot(module, shotguns=1)))
    assert len(ends) > 200 and {*ends} == {"none"}, "roll() gives None in the end, and only after three shotguns"


def test_a_turn_that_the_rules_end_is_unwound() -> None:
    ends: list[Any] = []
    random.seed(3)
    for _ in range(40):
        ended = new.runGame([Zombie("a", rolls_on(new, ends)), Zombie("b", until_shot(new, shotguns=1))], **RULEBOOK)
        assert ended is not None
    unwound = [shotguns for shotguns in ends if shotguns != "none"]
    assert unwound and {*unwound} <= {0, 1, 2}, "out of dice: roll() has not returned"
    assert "none" in ends


def test_dice_keep_their_order(module: Any) -> None:
    """Those that were kept come first, as they were; those that are drawn come in any order."""
    firsts: set[tuple[str, ...]] = set()

    def turn() -> None:
        kept: list[str] = []
        cup = module.GAME_STATE["CURRENT_CUP"]
        while (rolled := module.roll()) is not None and module.GAME_STATE["SHOTGUNS_ROLLED"] < 3:
            colours = [die.color for die in rolled["rolls"]]
            assert colours[: len(kept)] == kept
            if not kept:
                firsts.add(tuple(colours))
            kept = list(module.GAME_STATE["CURRENT_HAND"])
            assert module.GAME_STATE["CURRENT_CUP"] is cup, "the list that a zombie holds changes with the game"

    for _ in range(60):
        play(module, Zombie("a", turn), Zombie("b", until_shot(module)))
    assert {("green", "green", "red"), ("red", "green", "green"), ("green", "red", "green")} <= firsts


def test_star_gives_what_the_old_module_gives() -> None:
    _old()
    names: list[set[str]] = []
    for module in ("zombiedice", "necrodome.compat.zombiedice"):
        program = f"import os\nhere = os.getcwd()\nfrom {module} import *\nprint(*(name for name in dir() if name[0] != '_'))"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        names.append({*done.stdout.split()})
    page = {"HTTPServer", "SimpleHTTPRequestHandler", "ZombieDiceHandler", "TournamentThread", "BrowserOpener"}
    page |= {"WEB_SERVER_PORT", "SCORE_BAR_MAX_WIDTH", "TOURNAMENT_RUNNING", "WEB_GUI_NUM_GAMES", "START_TIME"}
    page |= {"getScoreBarColor", "estTimeRemaining", "prettyTime"}
    assert names[0] - names[1] == page


def test_a_lost_mandatory_roll_is_shown() -> None:
    seen: list[Any] = []

    def turn() -> None:
        seen.append((new.roll(), new.GAME_STATE["SHOTGUNS_ROLLED"], new.roll() if len(seen) % 2 else 0))

    random.seed(2)
    for _ in range(30):
        new.runGame([Zombie("a", turn), Zombie("b", turn)], **RULEBOOK)
    lost = [first for first, shotguns, _ in seen if shotguns == 3]
    assert lost and all(rolled["shotgun"] == 3 for rolled in lost)


FILE = """
import zombiedice
from zombiedice import roll, SHOTGUN, examples
from neighbour import LIMIT

print("while it is loaded")

class Careful:
    def turn(self, gameState):
        import zombiedice
        print("my score is", gameState["SCORES"][self.name])
        assert zombiedice.GAME_STATE["CURRENT_ZOMBIE"] == self.name == gameState["CURRENT_ZOMBIE"]
        while zombiedice.GAME_STATE["SHOTGUNS_ROLLED"] < LIMIT and roll() is not None:
            pass

class Named:
    def __init__(self, name, rolls=2):
        self.name, self.rolls, self.games = name, rolls, 0
    def newGame(self):
        self.games += 1
    def turn(self, gameState):
        for _ in range(self.rolls):
            zombiedice.roll()

class Needy(Named):
    def __init__(self, name, help):
        pass

thrice = Named("three times", 3)

class Raises:
    def turn(self, gameState):
        roll()
        raise ValueError("on purpose")

class Catches:
    def turn(self, gameState):
        while True:
            try:
                if roll() is None: return
            except Exception:
                pass

class Hangs:
    def turn(self, gameState):
        while True: roll()

zombies = (Careful(), Named("A"), examples.MinNumShotgunsThenStopsZombie(name="Two Guns", minShotguns=2))
zombiedice.runTournament(zombies=zombies, numGames=10)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my_bots.py").write_text(FILE)
    (tmp_path / "neighbour.py").write_text("LIMIT = 2\n")
    return tmp_path


@pytest.mark.parametrize("game", ["zombie-dice", "zombie-dice-race", "zombie-dice-solo"])
def test_a_zombie_plays_in_the_arena(folder: Path, game: str) -> None:
    bots = [f"compat:zombiedice:{folder}/my_bots.py:Careful"]
    bots += [] if game == "zombie-dice-solo" else ["greedy"]
    for seed in range(3):
        played = match(game, bots, seed=seed)
        assert played.faults == [] and played.names[0] == "Careful"
        assert "while it is loaded" in played.logs[0] and "my score is" in played.logs[0]


def test_a_zombie_plays_as_one_does_here(folder: Path) -> None:
    """Stopping at two shotguns, in a process and as a built-in bot, on the same dice."""
    for seed in range(5):
        careful = f"compat:zombiedice:{folder}/my_bots.py:Careful"
        ours = match("zombie-dice", [careful, "cautious"], seed=seed, public_dice=True)
        same = match("zombie-dice", ["stop-at:brains=99,shotguns=2", "cautious"], seed=seed)
        assert ours.scores == same.scores


def test_objects_and_collected_zombies_have_names(folder: Path) -> None:
    file = f"compat:zombiedice:{folder}/my_bots.py"
    bots = [f"{file}:Named", f"{file}:thrice", "Ada=" + f"{file}:Named", f"{file}:Careful"]
    report = tournament("zombie-dice", bots, blocks=2, seed=1, progress=False)
    assert report["faults"] == [] and {row["name"] for row in report["standings"]} == {"Named", "thrice", "Ada", "Careful"}


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("Nobody", "no_start", "there is no class 'Nobody' in the file: it has Careful, Named"),
        ("Needy", "no_start", "Needy cannot be made without help: make an object in the file"),
        ("zombies", "no_start", "zombies has no method turn"),
        ("Raises", "crash", "ValueError: on purpose"),
        ("Hangs", "timeout", ""),
    ],
)
def test_what_goes_wrong_is_a_fault_with_a_reason(folder: Path, name: str, kind: str, says: str) -> None:
    limits = {"decision_ms": 100, "wall_factor": 2, "restarts": 0}
    played = match("zombie-dice", ["greedy", f"compat:zombiedice:{folder}/my_bots.py:{name}"], seed=1, limits=limits)
    assert kind in {fault["kind"] for fault in played.faults}
    assert says in played.logs[1]


def test_a_zombie_that_catches_everything_ends_with_its_match(folder: Path) -> None:
    played = match("zombie-dice", ["greedy", f"compat:zombiedice:{folder}/my_bots.py:Catches"], seed=1)
    assert played.faults == []


def test_a_tournament_of_a_file(folder: Path) -> None:
    words = [sys.executable, "-m", "necrodome.compat.zombiedice", "my_bots.py", "6"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "Tournament of 6 games" in done.stdout and "Two Guns" in done.stdout and "Careful" in done.stdout

    (folder / "two.py").write_text("import zombiedice\nclass A:\n    def turn(self, s): zombiedice.roll()\nclass B(A): pass\n")
    done = subprocess.run([*words[:3], "two.py", "4"], cwd=folder, capture_output=True, text=True, timeout=60)
    assert re.search(r"Wins:\n +[AB] \d\n +[AB] \d\n", done.stdout)

    assert "two.py: its classes, since it starts no tournament: A, B" in done.stdout

    for other, says in (
        ("nowhere.py", "there is no file"),
        ("neighbour.py", "expected a tournament, or at least two classes"),
        ("two.py --set first_roll=never", "expected free or mandatory"),
    ):
        done = subprocess.run([*words[:3], *other.split()], cwd=folder, capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and says in done.stderr


def run_file(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """``python -m necrodome.compat.zombiedice`` with these words."""
    command = [sys.executable, "-m", "necrodome.compat.zombiedice", *words]
    return subprocess.run(command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60)


TWO_TOURNAMENTS = """
import sys
import zombiedice
from zombiedice import examples

def pair(one, two):
    return [examples.MinNumShotgunsThenStopsZombie(one, 1), examples.MinNumShotgunsThenStopsZombie(two, 2)]

print("words", *sys.argv)
# Of a tie nobody has a share.
zombiedice.random.seed(1)
zombiedice.runTournament(pair("Ann", "Bob"), 5)
wins, ties = zombiedice.TOURNAMENT_STATE["WINS"], zombiedice.TOURNAMENT_STATE["TIES"]
print("games", wins["Ann"] + wins["Bob"] + ties["Ann"])
zombiedice.runTournament(pair("Cy", "Dee"), 4, max_rounds=1)
print("share", wins["Ann"] / sum(wins.values()))
late = pair("late", "later")[0]
"""


def test_a_file_plays_its_own_tournaments_where_it_calls_them(folder: Path) -> None:
    (folder / "own.py").write_text(TWO_TOURNAMENTS)
    for words, games in (([], ("5", "4")), (["3"], ("3", "3"))):
        done = run_file(folder, "own.py", *words)
        results = r"Tournament of {} games started...\nTournament results:\nWins:\n.*?Ties:\n +\S+ \d\n +\S+ \d\n"
        expected = "words own.py\nown.py: the zombies of its tournament: Ann, Bob\n" + results.format(games[0])
        expected += f"games {games[0]}\nown.py: the zombies of its tournament: Cy, Dee\n" + results.format(games[1]) + "share .*\n"
        assert re.fullmatch(expected, done.stdout, re.DOTALL), done
        assert done.stderr == ""


def test_options_of_the_command_line_hold_for_all_tournaments(folder: Path) -> None:
    (folder / "own.py").write_text(TWO_TOURNAMENTS + "print('rounds', zombiedice.GAME_STATE['ROUND'])\n")
    assert "rounds 1\n" in run_file(folder, "own.py", "1").stdout, "the file's own option"
    many = run_file(folder, "own.py", "20", "--set", "max_rounds=2")
    assert "rounds 2\n" in many.stdout, "that of the command line is stronger"


def test_an_error_of_the_file_is_its_own(folder: Path) -> None:
    (folder / "bad.py").write_text(TWO_TOURNAMENTS + "int('what is no number')\n")
    done = run_file(folder, "bad.py")
    assert done.returncode == 1 and "ValueError: invalid literal" in done.stderr and "usage" not in done.stderr
    assert done.stdout.count("Tournament results") == 2


@pytest.mark.parametrize("name", ["Ann", "Dee", "1", "4"])
def test_results_are_zero_while_zombies_are_collected(folder: Path, name: str) -> None:
    """The share of no wins is an error of the file. It comes after what is wanted."""
    (folder / "own.py").write_text(TWO_TOURNAMENTS)
    played = in_arena(folder, f"own.py:{name}", "my_bots.py:Careful")
    assert played.faults == [] and "words " in played.logs[0] and "games 0" in played.logs[0]
    assert "nothing is read after ZeroDivisionError: division by zero" in played.logs[0]
    assert re.search(r"^words \S+/own.py$", played.logs[0], re.MULTILINE), "the file and nothing else"


def test_a_file_that_exits_after_its_tournament_is_read(folder: Path) -> None:
    (folder / "exits.py").write_text(MAIN + "    raise SystemExit('done')\n")
    played = in_arena(folder, "exits.py:Big Bob", "exits.py:Ann")
    assert played.faults == []
    done = run_file(folder, "exits.py")
    assert done.returncode == 1 and done.stderr == "done\n" and "Tournament of 7 games" in done.stdout


def test_an_unknown_name_lists_who_plays(folder: Path) -> None:
    (folder / "main.py").write_text(MAIN)
    played = in_arena(folder, "main.py:zz", "main.py:Ann")
    says = "there is no class 'zz' in the file: it has Twice, Other; in its tournaments play Big Bob, Ann"
    assert says in played.logs[0]


def in_arena(folder: Path, *bots: str, **options: Any) -> Any:
    return match("zombie-dice", [f"compat:zombiedice:{folder}/{bot}" for bot in bots], seed=4, **options)


MAIN = """
import zombiedice

class Twice:
    def __init__(self, name, rolls=2):
        self.name, self.rolls = name, rolls
    def turn(self, gameState):
        print("I roll", self.rolls, "times")
        for _ in range(self.rolls):
            zombiedice.roll()

class Other(Twice):
    pass

if __name__ == "__main__":
    zombiedice.runTournament([Twice("Big Bob", 3), Twice("Ann")], 7, verbose=False)
"""


def test_the_main_part_of_a_file_says_who_plays(folder: Path) -> None:
    (folder / "main.py").write_text(MAIN)
    words = [sys.executable, "-m", "necrodome.compat.zombiedice", "main.py"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("main.py: the zombies of its tournament: Big Bob, Ann\n"), done
    assert "Tournament of 7 games" in done.stdout and "Other" not in done.stdout
    played = in_arena(folder, "main.py:Big Bob", "main.py:Ann", "main.py:Other", "main.py:1")
    assert played.faults == [] and played.names == ["Big Bob", "Ann", "Other", "1"]
    assert ["I roll 3" in log for log in played.logs] == [True, False, False, True]
    played = in_arena(folder, "main.py:Other", "main.py:9")
    assert "there is no zombie number 9: the file lets 2 play" in played.logs[1]


def test_the_examples_of_the_old_module_run_as_they_are(folder: Path) -> None:
    old = _old()
    (folder / "examples.py").write_text(Path(old.examples.__file__).read_text())
    names = ["MonteCarloZombie", "RollsUntilInTheLeadZombie", "RandomCoinFlipZombie"]
    bots = [f"examples.py:{name}" for name in names]
    # By the rules of the arena, too, and with dice that run out.
    assert in_arena(folder, *bots).faults == []
    assert in_arena(folder, *bots, first_roll="free", out_of_dice="recycle_brains").faults == []


def test_under_other_rules_a_turn_is_unwound(folder: Path) -> None:
    """It never stops, and looks at what it was given each time: None with fewer than three shotguns would be an error."""
    (folder / "on.py").write_text(
        "import zombiedice\nclass On:\n    def turn(self, s):\n        shots = 0\n"
        "        while shots < 3: shots += zombiedice.roll()['shotgun']\n"
    )
    report = tournament(
        "zombie-dice", [f"compat:zombiedice:{folder}/on.py:On", "cautious"], blocks=100, seed=2, progress=False
    )
    assert report["faults"] == []
    assert {row["name"]: row["mean_score"] for row in report["standings"]}["On"] > 0, "it has banked what was left"


WEB = MAIN.replace("runTournament", "runWebGui")
IMPORTED = "import necrodome.compat.zombiedice as zombiedice"


class Page:
    """A file that shows a page, and who serves it."""

    def __init__(self, folder: Path, *words: str) -> None:
        # The browser writes down what it is to open.
        self.opened, browser = folder / "opened", folder / "browser"
        browser.write_text(f'#!/bin/sh\necho "$1" > {self.opened}\n')
        browser.chmod(0o755)
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        environment = {**os.environ, "BROWSER": f"{browser} %s", "TMPDIR": str(self.temporary)}
        environment["NECRODOME"] = str(Path(os.environ["NECRODOME"]).absolute())
        self.process = subprocess.Popen(
            [sys.executable, "-u", *words],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=self._as_in_a_terminal,
        )
        assert self.process.stdout is not None
        lines = iter(self.process.stdout.readline, "")
        self.address = next(line for line in lines if line.startswith("The tournament is at")).split()[-1]
        self.site, _, number = self.address.partition("/tournaments/")
        self.api = f"{self.site}/api/tournaments/{int(number)}"

    @staticmethod
    def _as_in_a_terminal() -> None:
        """Who runs the tests in the background ignores signals, and so would all that they start."""
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)

    def finished(self) -> bytes:
        """What the page shows live, when it is over."""
        with urlopen(f"{self.api}/stream") as stream:
            return next(line for line in stream if b'"finished"' in line)

    def end(self, number: signal.Signals) -> str:
        """Ends the program, and waits for the server, too: it holds the standard error. Gives what that says."""
        self.process.send_signal(number)
        try:
            err = self.process.communicate(timeout=30)[1]
        finally:
            self.process.kill()
        with pytest.raises(URLError):
            urlopen(self.site)
        return str(err)


@needs_binary
def test_the_page_of_a_tournament(folder: Path) -> None:
    (folder / "web.py").write_text(WEB.replace("import zombiedice", IMPORTED))
    page = Page(folder, "web.py")
    try:
        shown = page.finished()
        assert b"Big Bob" in shown and b"Ann" in shown
        played = json.load(urlopen(f"{page.api}/matches"))
        assert played["total"] == 8 and {*played["matches"][0]["names"]} == {"Big Bob", "Ann"}
        assert urlopen(f"{page.api}/matches/0/0/film").status == 200
    finally:
        err = page.end(signal.SIGINT)
    assert page.opened.read_text().strip() == page.address and "Quitting..." in err


@needs_binary
def test_the_page_of_a_later_tournament_has_its_own_zombies(folder: Path) -> None:
    text = WEB.replace('zombiedice.runWebGui(', 'zombiedice.runTournament([Twice("C", 1), Other("D", 1)], 2)\n    zombiedice.runWebGui(')
    (folder / "web.py").write_text(text)
    page = Page(folder, "-m", "necrodome.compat.zombiedice", "web.py", "4")
    try:
        shown = page.finished()
        assert b"Big Bob" in shown and b'"C"' not in shown
        assert json.load(urlopen(f"{page.api}/matches"))["total"] == 4
        standings = json.load(urlopen(page.api))["standings"]
        assert {row["name"]: row["bot"] for row in standings} == {"Big Bob": "zombie 3", "Ann": "zombie 4"}
    finally:
        page.end(signal.SIGINT)
    played = in_arena(folder, "web.py:3", "web.py:1")
    assert ["I roll 3" in log for log in played.logs] == [True, False]


@needs_binary
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_the_server_of_a_page_ends_with_its_program(folder: Path, number: signal.Signals) -> None:
    (folder / "web.py").write_text(WEB.replace("], 7,", "], 10**6,"))
    page = Page(folder, "-m", "necrodome.compat.zombiedice", "web.py")
    page.end(number)
    # Nobody can clear up after a SIGKILL.
    if number != signal.SIGKILL:
        assert page.process.returncode == 128 + number and not [*page.temporary.iterdir()]


@pytest.mark.parametrize("as_module", [False, True])
@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({}, "there is no program necrodome in the path"),
        ({"NECRODOME": "/nonexistent"}, "there is no program '/nonexistent', which NECRODOME names"),
        ({"NECRODOME": "./no_program"}, "no_program cannot be run: Exec format error"),
    ],
)
def test_without_the_arena_a_page_is_a_tournament_in_the_terminal(
    folder: Path, environment: dict[str, str], says: str, as_module: bool
) -> None:
    (folder / "web.py").write_text(WEB if as_module else WEB.replace("import zombiedice", IMPORTED))
    (folder / "no_program").write_bytes(b"\x7fELF and nothing else")
    (folder / "no_program").chmod(0o755)
    words = [sys.executable, *(["-m", "necrodome.compat.zombiedice"] if as_module else []), "web.py"]
    environment = {"PATH": str(folder), "HOME": str(folder), **environment}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "No page: " in done.stdout and says in done.stdout, done
    assert "Tournament of 7 games" in done.stdout and "Wins:" in done.stdout


def test_a_page_needs_two_zombies(folder: Path) -> None:
    (folder / "web.py").write_text(WEB.replace(', Twice("Ann")', ""))
    done = run_file(folder, "web.py")
    assert "No page: expected at least two zombies, got 1." in done.stdout and "Traceback" not in done.stderr
    assert done.returncode == 1 and "The game could not be played." in done.stderr


@needs_binary
def test_zombies_take_part_through_the_binary(folder: Path) -> None:
    bots = ["greedy", "compat:zombiedice:my_bots.py:Careful", "Ada=compat:zombiedice:my_bots.py:Named"]
    played = document("match", "zombie-dice", *bots, "--seed", "5", "--public-dice", folder=folder)
    assert played["faults"] == [] and [entry["name"] for entry in played["entries"]] == ["greedy", "Careful", "Ada"]
    moved = [bot.replace("my_bots", f"{folder}/my_bots") for bot in bots]
    same = match("zombie-dice", moved, seed=5, public_dice=True)
    assert same.scores == played["scores"]
    report = document("tournament", "zombie-dice-race", *bots, "--blocks", "2", "--seed", "5", folder=folder)
    assert report["faults"] == []
    night = 'game = "zombie-dice"\nbots = ["greedy", "compat:zombiedice:my_bots.py:Careful"]\nblocks = 2\n'
    (folder / "night.toml").write_text(night)
    assert document("tournament", f"{folder}/night.toml", folder=Path("/"))["faults"] == []


@needs_binary
@pytest.mark.parametrize("name", ["Careful", "Named", "Catches"])
def test_zombies_pass_the_gauntlet(folder: Path, name: str) -> None:
    done = necrodome("check-bot", "zombie-dice", f"compat:zombiedice:my_bots.py:{name}", folder=folder)
    assert done.returncode == 0, done.stdout


@needs_binary
def test_mistakes_get_one_line_with_a_hint(folder: Path) -> None:
    for bot, says in (
        ("compat:chess:my_bots.py:A", "there is no kind \"chess\": expected one of gamezombies, godzilla, zombiedice"),
        ("compat:zombiedice:nowhere.py:A", "there is no file"),
        ("compat:zombiedice", "expected compat:zombiedice:FILE.py:CLASS"),
    ):
        done = necrodome("match", "zombie-dice", "greedy", bot, folder=folder)
        assert done.returncode == 2 and says in done.stderr
    # A python3 that does not have the package.
    bare = folder / "bare"
    bare.mkdir()
    (bare / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    (bare / "python3").chmod(0o755)
    binary = os.environ["NECRODOME"]
    words = [str(Path(binary).absolute()), "match", "zombie-dice", "greedy", "compat:zombiedice:my_bots.py:Careful"]
    done = subprocess.run(words, cwd=folder, env={"PATH": str(bare)}, capture_output=True, text=True)
    assert done.returncode == 2 and "python3 has no package necrodome" in done.stderr
    done = subprocess.run(words, cwd=folder, env={"PATH": str(folder)}, capture_output=True, text=True)
    assert done.returncode == 2 and "there is no python3" in done.stderr
