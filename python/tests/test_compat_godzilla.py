"""Players of godzilla-v2: what they are asked, and what may come of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from arena_binary import document, necrodome, needs_binary

from necrodome import match, tournament
from necrodome.compat.godzilla import DIESIDE, Monster, Player, PlayerState

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


def test_a_state_can_be_looked_at_but_not_changed() -> None:
    player = Recorder(0, "x")
    player.state.health = 3
    assert player.state.health == 10
    assert player.state.model_dump() == {"health": 10, "victory_points": 0, "in_tokyo": False}
    assert player.state.model_copy(update={"health": 4}).health == 4
    with pytest.raises(TypeError):
        Player(0, "abstract")  # type: ignore[abstract]


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
