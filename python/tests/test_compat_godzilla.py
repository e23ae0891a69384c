"""Players of godzilla-v2: what they are asked, and what may come of it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from arena_binary import document, necrodome, needs_binary

from necrodome import match, tournament
from necrodome.compat.godzilla import DIESIDE, MAX_ROLLS, Monster, Player, PlayerState

Others = dict[str, tuple[int, PlayerState]]


class Recorder(Player):
    """Keeps what it is asked."""

    def __init__(self, idx: int, name: str) -> None:
        super().__init__(idx, name)
        self.kept: list[tuple[list[DIESIDE], Others, int, PlayerState]] = []
        self.yielded: list[tuple[Others, PlayerState]] = []

    def keep_dice(self, dice_results: list[DIESIDE], other_player_states: Others, roll_counter: int) -> Any:
        self.kept.append((dice_results, other_player_states, roll_counter, self.state))
        return [die == DIESIDE.ATTACK for die in dice_results]

    def yield_tokyo(self, other_player_states: Others) -> Any:
        self.yielded.append((other_player_states, self.state))
        return self.state.health <= 5


def test_a_player_is_asked_as_it_was() -> None:
    counters = set()
    asked = 0
    for seed in range(5):
        monster = Monster(Recorder)
        played = match("tokyo", {"A": "angry", "B": monster, "C": "point-hunter"}, seed=seed)
        assert played.faults == []
        player = monster.player
        assert (player.idx, player.name, str(player)) == (1, "B", "p1_B")
        for dice, others, counter, state in player.kept:
            assert len(dice) == 6 and all(isinstance(die, DIESIDE) and isinstance(die, str) for die in dice)
            assert list(others) == ["A", "C"] and [index for index, _ in others.values()] == [0, 2]
            assert all(isinstance(other, PlayerState) for _, other in others.values())
            assert sum(it.in_tokyo for it in [state, *(other for _, other in others.values())]) <= 1
            assert 0 < state.health <= 10 and state.victory_points < 20
            counters.add(counter)
        for _, state in player.yielded:
            assert state.in_tokyo and state.health > 0
        asked += len(player.yielded)
    assert counters == {0, 1} and asked > 0


def test_it_plays_as_the_built_in_bot_with_the_same_idea() -> None:
    class Copy(Player):
        def keep_dice(self, dice_results: list[DIESIDE], other_player_states: Others, roll_counter: int) -> Any:
            return [True] * 6, "all of them"

        def yield_tokyo(self, other_player_states: Others) -> Any:
            return False, None

    played = match("tokyo", ["angry", Monster(Copy)], seed=9)
    same = match("tokyo", ["angry", lambda view: {"type": "keep", "dice": [True] * 6} if view.phase.type == "rolling" else "stay"], seed=9)
    assert played.scores == same.scores and played.faults == []


def hits(dice: list[Any]) -> list[bool]:
    return [die in (DIESIDE.ATTACK, "attack") for die in dice]


def twos(dice: list[Any]) -> list[bool]:
    return [die in (DIESIDE.TWO, "two") for die in dice]


def everything(dice: list[Any]) -> list[bool]:
    return [True] * 6


#: What a player keeps at its first and its second decision.
PLANS = [(everything, hits), (everything, everything), (hits, everything), (twos, hits)]


@pytest.mark.parametrize("plan", PLANS)
def test_a_turn_is_rolled_as_the_program_rolls_it(plan: Any) -> None:
    """Each turn has two decisions, whatever the first was; the dice between them and at the end are those that this allows."""

    class Planned(Player):
        asked: list[tuple[int, list[str]]] = []

        def keep_dice(self, dice_results: list[DIESIDE], other_player_states: Others, roll_counter: int) -> Any:
            self.asked.append((roll_counter, [die.name.lower() for die in dice_results]))
            return plan[roll_counter](dice_results), f"decision {roll_counter}"

        def yield_tokyo(self, other_player_states: Others) -> Any:
            return False

    class Watched(Monster):
        """Hears the dice that each turn has ended with."""

        def __init__(self) -> None:
            super().__init__(Planned)
            self.ends: list[list[str]] = []

        def hear(self, event: Any) -> None:
            if event["type"] == "turn_started" and event["seat"] == self.seat:
                self.ends.append([])
            if event["type"] == "rolled" and event["seat"] == self.seat:
                self.ends[-1] = event["dice"]

    for seed in range(20):
        Planned.asked.clear()
        monster = Watched()
        played = match("tokyo", {"A": monster, "B": "angry"}, seed=seed)
        assert played.faults == []
        assert [counter for counter, _ in Planned.asked] == [0, 1] * len(monster.ends)
        shown = [dice for _, dice in Planned.asked]
        rolled = [0, 0]
        for turn in zip(shown[::2], shown[1::2], monster.ends):
            for number, keeps in enumerate(plan):
                before, after = turn[number], turn[number + 1]
                assert all(old == new for old, new, kept in zip(before, after, keeps(before)) if kept)
                rolled[number] += before != after
        # What is not kept is rolled, and seldom lands as it was.
        assert [number > 0 for number in rolled] == [keeps is not everything for keeps in plan]


@pytest.mark.parametrize("plan", PLANS)
def test_it_plays_as_a_bot_of_the_arena_that_knows_both_decisions(plan: Any) -> None:
    """The same dice: who keeps all at first has one roll, which the arena gives at its first question."""

    class Planned(Player):
        def keep_dice(self, dice_results: list[DIESIDE], other_player_states: Others, roll_counter: int) -> Any:
            return plan[roll_counter](dice_results)

        def yield_tokyo(self, other_player_states: Others) -> Any:
            return False

    first, second = (plan[1], everything) if plan[0] is everything else plan

    def same(view: Any) -> Any:
        if view.phase.type == "yielding":
            return "stay"
        return {"type": "keep", "dice": (first if view.phase.rerolls_left == 2 else second)(view.dice)}

    for seed in range(10):
        played = match("tokyo", {"A": Monster(Planned), "B": "angry"}, seed=seed)
        assert played.scores == match("tokyo", {"A": same, "B": "angry"}, seed=seed).scores and played.faults == []


def test_a_state_can_be_looked_at_but_not_changed() -> None:
    player = Recorder(0, "x")
    player.state.health = 3
    assert player.state.health == 10
    assert player.state.model_dump() == {"health": 10, "victory_points": 0, "in_tokyo": False}
    assert player.state.model_copy(update={"health": 4}).health == 4
    with pytest.raises(TypeError):
        Player(0, "abstract")  # type: ignore[abstract]


def test_the_methods_of_a_player_change_what_it_sees_of_itself() -> None:
    player = Recorder(0, "x")
    player.increment_health(-3)
    player.increment_victory_points(25)
    player.set_tokyo(True)
    assert (player.state, MAX_ROLLS) == (PlayerState(7, 20, True), 3)
    player.set_health(99)
    player.set_victory_points(-1)
    assert player.state == PlayerState(10, 0, True)
    others = {"y": (1, PlayerState(4, 2, False))}
    assert player.construct_gamestate(others)["ego_agent"]["state"]["health"] == 10
    with pytest.raises(RuntimeError, match="needs the program's own player.py"):
        player.llm_call(others, None, None, None, "model")


def test_each_game_has_an_object_of_its_own() -> None:
    class Counted(Recorder):
        made: list[Any] = []

        def __init__(self, idx: int, name: str) -> None:
            super().__init__(idx, name)
            self.made.append(self)

    report = tournament("tokyo", {"A": Monster(Counted), "B": "angry"}, blocks=3, seed=1, progress=False)
    assert len(Counted.made) == report["matches"] and all(player.kept for player in Counted.made)


def test_a_state_that_cannot_be_set_is_an_error() -> None:
    class Fixed(Recorder):
        @property
        def state(self) -> PlayerState:
            return PlayerState()

    with pytest.raises(Exception, match="Fixed cannot be told its state"):
        match("tokyo", {"A": Monster(Fixed), "B": "angry"}, seed=1)


#: Like the program: a state that can only be read, a module that reads a file from where the program is.
PROGRAM = {
    "player.py": """
from helpers.constants import MAX_HEALTH, DIESIDE
class PlayerState:
    def __init__(self, health=MAX_HEALTH, victory_points=0, in_tokyo=False):
        self.health, self.victory_points, self.in_tokyo = health, victory_points, in_tokyo
class Player:
    def __init__(self, idx, name):
        self.idx, self._name, self._state = idx, name, PlayerState()
    @property
    def name(self): return self._name
    @property
    def state(self): return self._state
""",
    "helpers/constants.py": """
from enum import Enum
MAX_HEALTH = 10
class DIESIDE(str, Enum):
    ATTACK, HEAL, ONE, TWO, THREE = "Attack", "Heal", "1", "2", "3"
""",
    "llm/helpers.py": "RULES = open('./llm/rules.md').read()\n",
    "llm/rules.md": "the rules of the program",
    ".env": "SOME_KEY=a key\n",
    "agents/mine.py": """
from helpers.constants import DIESIDE
from player import Player
from llm.helpers import RULES
class Mine(Player):
    def keep_dice(self, dice_results, other_player_states, roll_counter):
        import player
        assert all(isinstance(die, DIESIDE) for die in dice_results)
        assert all(isinstance(state, player.PlayerState) for _, state in other_player_states.values())
        print("SEES", self.state.health, self.state.victory_points, RULES, player.__file__)
        return [die == DIESIDE.ATTACK for die in dice_results], "attack"
    def yield_tokyo(self, other_player_states):
        return self.state.health < 4, "who is weak goes"
""",
}


def program(folder: Path, **changed: str) -> str:
    for name, text in PROGRAM.items():
        file = folder / "program" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(changed.get(file.stem, "") + text)
    return f"compat:godzilla:{folder}/program/agents/mine.py:Mine"


def test_players_import_the_modules_of_their_program(tmp_path: Path) -> None:
    played = match("tokyo", [program(tmp_path), "angry"], seed=5)
    assert played.faults == [], played.logs
    seen = [line.split()[1:3] for line in played.logs[0].splitlines() if line.startswith("SEES")]
    assert len({health for health, _ in seen}) > 1 and len({points for _, points in seen}) > 1, "its state changes"
    assert "the rules of the program" in played.logs[0] and "program/player.py" in played.logs[0]


def test_without_what_the_program_needs_there_is_a_stand_in(tmp_path: Path) -> None:
    bot = program(tmp_path, player="import no_such_module_for_models\n")
    (tmp_path / "program/agents/mine.py").write_text(PROGRAM["agents/mine.py"].replace(", player.__file__", "").replace("isinstance(die, DIESIDE)", "die"))
    played = match("tokyo", [bot, "angry"], seed=5)
    assert played.faults == [] and "needs no_such_module_for_models, which is not installed" in played.logs[0]


#: Like the agents that ask a model: through litellm, with a key from the environment.
ASKS = {
    "litellm.py": """
import json, os, urllib.request
from types import SimpleNamespace
def completion(model, messages, response_format=None):
    key, body = os.environ["SOME_KEY"], {"model": model, "messages": messages}
    request = urllib.request.Request("BASE_URL/chat/completions", json.dumps(body).encode(), {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        content = json.load(answer)["choices"][0]["message"]["content"]
    return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=content))])
""",
    "llm/call.py": """
import json
from litellm import completion
def ask(state, task, model):
    messages = [{"role": "system", "content": open("./llm/rules.md").read()}, {"role": "user", "content": json.dumps({"state": state, "task": task})}]
    return json.loads(completion(model=model, messages=messages).choices[0].message.content)
""",
    "player.py": PROGRAM["player.py"]
    + """
    def llm_call(self, other_player_states, task, model):
        from llm.call import ask
        others = {name: [idx, vars(state)] for name, (idx, state) in other_player_states.items()}
        return ask({"me": vars(self.state), "others": others}, task, model)
""",
    "agents/mine.py": """
from helpers.constants import DIESIDE
from player import Player
class Mine(Player):
    def keep_dice(self, dice_results, other_player_states, roll_counter):
        answer = self.llm_call(other_player_states, ["keep", *(die.value for die in dice_results)], "tiny")
        return [die.value == answer["keep"] for die in dice_results], answer["reason"]
    def yield_tokyo(self, other_player_states):
        answer = self.llm_call(other_player_states, ["yield"], "tiny")
        return answer["yield"], answer["reason"]
""",
}


class Endpoint(BaseHTTPRequestHandler):
    """Answers like an OpenAI-compatible endpoint, and keeps the keys and questions that came."""

    came: ClassVar[list[tuple[str | None, Any]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.came.append((self.headers["Authorization"], body))
        content = json.dumps({"keep": "Attack", "yield": False, "reason": "the model says so"})
        answer = json.dumps({"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A program whose player asks a model on this machine."""
    monkeypatch.setenv("SOME_KEY", "sk-0123456789-of-the-host")
    Endpoint.came.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        threading.Thread(target=server.serve_forever).start()
        bot = program(tmp_path)
        for name, text in ASKS.items():
            (tmp_path / "program" / name).write_text(text.replace("BASE_URL", f"http://127.0.0.1:{server.server_port}/v1"))
        yield bot
        server.shutdown()


@needs_binary
def test_players_that_ask_a_model_run_where_the_host_allows_it(asks: str, tmp_path: Path) -> None:
    allowed = ("--allow-network", "--pass-env", "SOME_KEY")
    played = document("match", "tokyo", asks, "angry", "--seed", "5", *allowed, folder=tmp_path)
    assert played["faults"] == [], played
    assert len(Endpoint.came) > 3 and {key for key, _ in Endpoint.came} == {"Bearer sk-0123456789-of-the-host"}
    for _, body in Endpoint.came:
        assert body["model"] == "tiny" and body["messages"][0]["content"] == "the rules of the program"

    told = necrodome("tournament", "tokyo", asks, "angry", "--blocks", "1", "--seed", "5", "--store", "t.store", *allowed, folder=tmp_path)
    assert told.returncode == 0 and "programs were given the network and the environment variable SOME_KEY" in told.stdout, told
    assert b"sk-0123456789" not in (tmp_path / "t.store").read_bytes() and "sk-0123456789" not in told.stdout + told.stderr


@needs_binary
@pytest.mark.parametrize("allowed", [(), ("--allow-network",)])
def test_players_that_ask_a_model_get_no_key_by_themselves(asks: str, allowed: tuple[str, ...], tmp_path: Path) -> None:
    played = document("match", "tokyo", asks, "angry", "--seed", "5", *allowed, folder=tmp_path)
    assert played["faults"] and Endpoint.came == [], played


HUMAN = """
from player import Player
class HumanAgent(Player):
    def keep_dice(self, dice_results, other_player_states, roll_counter):
        return [x == "y" for x in input("like yyyynn: ")], "??"
    def yield_tokyo(self, other_player_states):
        return input("y or n: ") == "y", "??"
"""


def test_a_person_plays_at_the_terminal_and_not_in_the_arena(tmp_path: Path) -> None:
    (tmp_path / "human.py").write_text(HUMAN)
    words = [sys.executable, "-m", "necrodome.compat.godzilla", "human.py:HumanAgent", "angry", "-v", "-n", "2", "--seed", "3"]
    done = subprocess.run(words, cwd=tmp_path, input="yyyyyy\n" * 3000, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "roll 1 of 3" in done.stdout and "like yyyynn" in done.stdout and "Winners (2 games):" in done.stdout
    played = match("tokyo", [f"compat:godzilla:{tmp_path}/human.py", "angry"], seed=1)
    assert "it asks a person" in played.logs[0] and played.faults


def at_terminal(folder: Path, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "necrodome.compat.godzilla", *words]
    return subprocess.run(command, cwd=folder, input=typed, capture_output=True, text=True, timeout=60)


def test_a_person_may_mistype_and_may_leave(tmp_path: Path) -> None:
    (tmp_path / "human.py").write_text(HUMAN)
    done = at_terminal(tmp_path, "human.py", "angry", "--seed", "3", typed="yyy\nyyyyyynn\n" + "yyyyyy\n" * 3000)
    assert done.returncode == 0 and "Winners (1 games):" in done.stdout, done.stderr
    for answers in (3, 8):
        assert f"Expected an answer for each of the 6 dice, got {answers}. Once more:" in done.stdout
    done = at_terminal(tmp_path, "human.py", "angry", typed="yyyyyy\n")
    assert (done.returncode, done.stderr) == (1, "\nNobody answers: the game is over.\n")


def test_mistakes_of_the_command_line_and_of_players(folder: Path) -> None:
    for words, says in (
        (["nowhere.py", "angry"], "there is no file"),
        (["players.py:Angry", "nobody"], "nobody"),
        (["players.py:Angry"], "2 to 6"),
        (["angry", "angry", "-n", "0"], "expected at least 1, got 0"),
    ):
        done = at_terminal(folder, *words)
        assert done.returncode == 2 and "usage:" in done.stderr and says in done.stderr, done
    (folder / "wrong.py").write_text(FILE.replace("raise RuntimeError", "raise ValueError").replace("dice_results]\n\n", "dice_results][1:]\n\n"))
    for name, says in (("Half", "ValueError: on purpose"), ("Random", "expected a mask of 6")):
        done = at_terminal(folder, f"wrong.py:{name}", "angry")
        assert done.returncode == 1 and says in done.stderr and "usage:" not in done.stderr, done
    (folder / "wrong.py").write_text("import sys\nint(sys.argv[-1])\n")
    done = at_terminal(folder, "wrong.py", "angry", "--seed", "3")
    assert done.returncode == 1 and "ValueError: invalid literal for int() with base 10" in done.stderr and "wrong.py'" in done.stderr


@needs_binary
def test_a_report_of_several_games(folder: Path) -> None:
    words = [sys.executable, "-m", "necrodome.compat.godzilla", "players.py:Angry", "players.py:Random", "-n", "3", "-r", "games.html"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60)
    if "not included" in done.stderr:
        pytest.skip("the arena was built without its pages")
    assert done.returncode == 0 and "Report written to games.html" in done.stdout, done
    page = (folder / "games.html").read_text()
    assert "<title>3 matches" in page and page.count('"game":"tokyo"') == 3


def test_a_player_needs_no_base_class() -> None:
    class Plain:
        def keep_dice(self, dice_results: list[DIESIDE], other_player_states: Others, roll_counter: int) -> Any:
            seen.append((self.state.health, self.name, self.idx))  # type: ignore[attr-defined]
            return tuple(die in ("1", "2", "3") for die in dice_results)

        def yield_tokyo(self, other_player_states: Others) -> Any:
            return True, "I am afraid"

    seen: list[Any] = []
    assert match("tokyo", ["angry", Monster(Plain)], seed=2).faults == []
    assert {(name, idx) for _, name, idx in seen} == {("Monster", 1)} and seen[0][0] == 10


@pytest.mark.parametrize("answer", [None, True, "yyyynn", [True] * 5, ([True], "reason")])
def test_garbage_is_an_error_that_says_what_was_expected(answer: Any) -> None:
    class Bad(Recorder):
        def keep_dice(self, *_: Any) -> Any:
            return answer

    with pytest.raises(TypeError, match="keep_dice has returned .*: expected a mask of 6"):
        match("tokyo", [Monster(Bad), "angry"])


FILE = """
import random
from typing import List, Dict, Tuple
from constants import DIESIDE, MAX_HEALTH
from player import PlayerState, Player

class Angry(Player):
    def keep_dice(self, dice_results: List[DIESIDE], other_player_states: Dict[str, Tuple[int, PlayerState]], roll_counter: int) -> Tuple[List[bool], str]:
        print(self, [x.value for x in dice_results], self.state.health, MAX_HEALTH)
        return [x == DIESIDE.ATTACK for x in dice_results], "attack is all that counts"

    def yield_tokyo(self, other_player_states: Dict[str, Tuple[int, PlayerState]]) -> Tuple[bool, str]:
        weakest = min(state.health for _, state in other_player_states.values())
        return self.state.health < weakest, "who is weaker goes"

class Random(Player):
    def keep_dice(self, dice_results, other_player_states, roll_counter):
        return [random.choice([True, False]) for _ in dice_results]

    def yield_tokyo(self, other_player_states):
        return random.choice([True, False])

class Half(Player):
    def keep_dice(self, dice_results, other_player_states, roll_counter):
        raise RuntimeError("on purpose")
    def yield_tokyo(self, other_player_states):
        return False
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "players.py").write_text(FILE)
    (tmp_path / "newer.py").write_text(FILE.replace("from constants", "from helpers.constants"))
    return tmp_path


def test_players_of_a_file_play_in_the_arena(folder: Path) -> None:
    bots = [f"compat:godzilla:{folder}/players.py:Angry", f"compat:godzilla:{folder}/newer.py:Random", "point-hunter"]
    report = tournament("tokyo", bots, blocks=2, seed=3, progress=False)
    assert report["faults"] == [] and {row["name"] for row in report["standings"]} == {"Angry", "Random", "point-hunter"}


def test_what_goes_wrong_is_a_fault_with_a_reason(folder: Path) -> None:
    file = f"compat:godzilla:{folder}/players.py"
    played = match("tokyo", [f"{file}:Half", "angry"], seed=1)
    assert played.faults[0]["kind"] == "crash" and "RuntimeError: on purpose" in played.logs[0]
    played = match("tokyo", [f"{file}:Nobody", "angry"], seed=1)
    assert "there is no class 'Nobody' in the file: it has Angry, Random, Half" in played.logs[0]
    played = match("zombie-dice", [f"{file}:Angry", "greedy"], seed=1)
    assert "players of godzilla-v2 play tokyo, not zombie-dice" in played.logs[0]


@needs_binary
def test_players_take_part_through_the_binary(folder: Path) -> None:
    bot = "compat:godzilla:players.py:Angry"
    played = document("match", "tokyo", bot, "angry", "--seed", "2", folder=folder)
    assert played["faults"] == [] and "p0_Angry" in played["logs"][0]
    necrodome("match", "tokyo", bot, "angry", "--seed", "2", "--replay", "r", folder=folder)
    told = necrodome("replay", "r", folder=folder)
    assert told.returncode == 0
    done = necrodome("check-bot", "tokyo", "compat:godzilla:players.py:Random", folder=folder)
    assert done.returncode == 0, done.stdout
