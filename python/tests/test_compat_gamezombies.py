"""Agents of GameZombies: what they are told, and in which order."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from arena_binary import document, necrodome, needs_binary

from necrodome import match, tournament
from necrodome.compat.gamezombies import ACTIONS, DESCRIPTOR, Agent, state_of

DIE = r"(?:EASY|MEDI|HARD)\((?:Brain|Gun|Run)\)"
FRESH = "0-0-UNDEFINED-UNDEFINED-UNDEFINED-6-4-3"
ROLLED = rf"\d+-\d-{DIE}-{DIE}-{DIE}-\d-\d-\d"
OVER = rf"\d+-\d-(?:{DIE}-{DIE}-{DIE}|UNDEFINED-UNDEFINED-UNDEFINED)-0-0-0"


class Recorder:
    """Goes so many times, then stops; keeps all that it is told. Has its last choice in ``action``, as agents like to."""

    def __init__(self, goes: int = 2) -> None:
        self.goes = goes
        self.calls: list[tuple[Any, ...]] = []

    def wakeUp(self, initialState: str, stateDsc: list[str], actionSpace: list[str]) -> None:
        self.calls.append(("wakeUp", initialState, stateDsc, actionSpace))
        self.decisions = 0

    def perceive(self, reachedState: str, reward: float) -> None:
        self.calls.append(("perceive", reachedState, reward))
        # As Q-learning does: what was done must be known.
        assert self.action in ACTIONS
        if FRESH in reachedState:
            self.decisions = 0

    def decide(self, isValidAction: bool) -> str:
        self.calls.append(("decide", isValidAction))
        self.action = "go" if self.decisions < self.goes else "stop"
        self.decisions += 1
        return self.action

    def sleep(self, score: int) -> None:
        self.calls.append(("sleep", score))


def test_states_are_texts() -> None:
    hand: Any = [{"colour": "green", "face": face} for face in ("footsteps", "brain", "shotgun")]
    cup = {"green": 3, "yellow": 4, "red": 3}
    assert state_of(1, 1, hand, cup) == "1-1-EASY(Run)-EASY(Brain)-EASY(Gun)-3-4-3"
    assert state_of(0, 0, None, {"green": 6, "yellow": 4, "red": 3}) == FRESH
    race = state_of(1, 1, hand, cup, (7, 11))
    assert race == "1-1-EASY(Run)-EASY(Brain)-EASY(Gun)-3-4-3-score:-7-11" and len(race.split("-")) == 11
    other: Any = [{"colour": colour, "face": "brain"} for colour in ("yellow", "red", "red")]
    assert state_of(3, 0, other, cup).split("-")[2:5] == ["MEDI(Brain)", "HARD(Brain)", "HARD(Brain)"]


@pytest.mark.parametrize("goes", [0, 1, 2, 20])
def test_one_player(goes: int) -> None:
    for seed in range(25):
        agent = Recorder(goes)
        played = match("zombie-dice-solo", [Agent(agent)], seed=seed)
        assert agent.calls[0] == ("wakeUp", FRESH, DESCRIPTOR, ACTIONS)
        assert agent.calls[-1] == ("sleep", played.scores[0])
        kinds = " ".join(call[0] for call in agent.calls[1:-1])
        assert re.fullmatch(r"(decide perceive ?)+", kinds)
        perceived = [call[1:] for call in agent.calls if call[0] == "perceive"]
        states = [state for state, _ in perceived]
        assert all(re.fullmatch(ROLLED, state) for state in states[:-1])
        assert re.fullmatch(OVER, states[-1])
        # What could be banked changes by the reward, and in the end it is what was banked.
        rewards = [reward for _, reward in perceived]
        assert sum(rewards) == played.scores[0]
        for before, after, reward in zip([FRESH, *states], states, rewards):
            assert int(after.split("-")[0]) - int(before.split("-")[0]) == reward
        if int(states[-1].split("-")[1]) >= 3:
            assert states[-1].startswith("0-") and played.scores[0] == 0


def test_two_players() -> None:
    results = set()
    for seed in range(10):
        agents = [Recorder(2), Recorder(1)]
        played = match("zombie-dice-race", [Agent(agent) for agent in agents], seed=seed)
        for seat, agent in enumerate(agents):
            assert agent.calls[0][0] == "wakeUp"
            first = agent.calls[0][1]
            assert first.startswith(f"{FRESH}-score:-0-") and len(first.split("-")) == 11
            assert agent.calls[-1] == ("sleep", played.scores[seat])
            perceived = [call[1:] for call in agent.calls if call[0] == "perceive"]
            win = played.places[seat] == 1
            results.add(win)
            assert [reward for _, reward in perceived] == [0] * (len(perceived) - 1) + [10 if win else -10]
            for state, _ in perceived:
                assert re.fullmatch(rf"(?:{ROLLED}|{OVER}|{FRESH})-score:-\d+-\d+", state)
            assert perceived[-1][0].split("-")[-2:] == [str(played.scores[seat]), str(played.scores[1 - seat])]
            # Each decision knows the present: the last that was told is the state it is made in.
            fresh = [state for state, _ in perceived if state.startswith(FRESH)]
            assert len(fresh) >= 2
    assert results == {True, False}


def test_the_older_names_of_the_methods() -> None:
    class Old:
        def wakeUp(self, state: str, descriptor: list[str], actions: list[str]) -> None:
            self.told: list[Any] = []

        def perceive(self, state: str, reward: float) -> None:
            self.told.append(reward)

        def action(self) -> str:
            return "go"

        def kill(self, score: int) -> None:
            self.score = score

    agent = Old()
    played = match("zombie-dice-solo", [Agent(agent)], seed=4)
    assert agent.score == played.scores[0] == sum(agent.told)


def test_an_answer_that_is_none_is_asked_for_again() -> None:
    class Clumsy(Recorder):
        def decide(self, isValidAction: bool) -> str:
            super().decide(isValidAction)
            return "go" if not isValidAction else "jump"

    agent = Clumsy()
    assert match("zombie-dice-solo", [Agent(agent)], seed=4).faults == []
    assert [call[1] for call in agent.calls if call[0] == "decide"][:4] == [True, False, True, False]

    class Stubborn(Recorder):
        action = "stop"

        def decide(self, isValidAction: bool) -> str:
            return "jump"

    played = match("zombie-dice-solo", [Agent(Stubborn())], seed=4, on_error="fault")
    assert [fault["kind"] for fault in played.faults] == ["illegal"] and played.scores == [0]


FILE = """
import random

class AgentQ:
    def __init__(self, epsilon=0.1):
        self.epsilon, self.q, self.name = epsilon, {}, "Q"

    def reduced(self, state):
        fields = state.split("-")
        return "-".join(fields[:2]) if fields[5:8] != ["0", "0", "0"] else "over"

    def wakeUp(self, initialState, stateDsc, actionSpace):
        print(stateDsc)
        self.actions, self.state = actionSpace, self.reduced(initialState)
        self.q.setdefault(self.state, {"stop": 0.0, "go": 0.1})

    def perceive(self, reachedState, reward):
        reached = self.reduced(reachedState)
        self.q.setdefault(reached, {"stop": 0.0, "go": 0.1})
        old = self.q[self.state][self.action]
        best = max(self.q[reached].values()) if reached != "over" else 0.0
        self.q[self.state][self.action] = 0.9 * old + 0.1 * (reward + best)
        self.state = reached

    def decide(self, isValidAction):
        values = self.q[self.state]
        explores = random.random() < self.epsilon
        self.action = random.choice(self.actions) if explores else max(values, key=values.get)
        return self.action

    def sleep(self, score):
        print("score", score)

class Broken(AgentQ):
    def decide(self, isValidAction):
        raise RuntimeError("on purpose")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agents.py").write_text(FILE)
    return tmp_path


@pytest.mark.parametrize("game", ["zombie-dice-solo", "zombie-dice-race"])
def test_a_learning_agent_plays_in_the_arena(folder: Path, game: str) -> None:
    bots = [f"compat:gamezombies:{folder}/agents.py:AgentQ", "random"]
    report = tournament(game, bots, blocks=10, seed=3, progress=False)
    assert report["faults"] == []
    assert "score" in json.dumps(report["logs"])


def test_what_goes_wrong_is_a_fault_with_a_reason(folder: Path) -> None:
    file = f"compat:gamezombies:{folder}/agents.py"
    played = match("zombie-dice-solo", [f"{file}:Broken"], seed=1)
    assert played.faults[0]["kind"] == "crash" and "RuntimeError: on purpose" in played.logs[0]
    played = match("zombie-dice-solo", [file], seed=1)
    assert "expected the name of a class: it has AgentQ, Broken" in played.logs[0]
    played = match("tokyo", [f"{file}:AgentQ", "angry"], seed=1)
    assert "agents of GameZombies play zombie-dice-solo and zombie-dice-race, not tokyo" in played.logs[0]


@needs_binary
def test_agents_take_part_through_the_binary(folder: Path) -> None:
    bot = "compat:gamezombies:agents.py:AgentQ"
    for game, others in (("zombie-dice-solo", []), ("zombie-dice-race", ["greedy"])):
        played = document("match", game, bot, *others, "--seed", "2", "--public-dice", folder=folder)
        assert played["faults"] == [] and "Brain" in played["logs"][0]
        done = necrodome("check-bot", game, bot, folder=folder)
        assert done.returncode == 0, done.stdout
