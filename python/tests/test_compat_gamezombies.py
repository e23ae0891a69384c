"""Agents of GameZombies: what they are told, and in which order, by the arena and by the engines in this process."""

from __future__ import annotations

import copy
import json
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from arena_binary import document, necrodome, needs_binary

from necrodome import evaluate, match, tournament
from necrodome.compat.gamezombies import ACTIONS, DESCRIPTOR, Agent, Engine, System, state_of
from necrodome.compat.gamezombies.dice import Dice, DiceFace, DiceFace_weight, DiceType

DIE = r"(?:EASY|MEDI|HARD)\((?:Brain|Gun|Run)\)"
NO_DICE = "UNDEFINED-UNDEFINED-UNDEFINED"
FRESH = f"0-0-{NO_DICE}-6-4-3"
ROLLED = rf"\d+-[012]-{DIE}-{DIE}-{DIE}-\d-\d-\d"
OVER = rf"\d+-[3-5]-(?:{DIE}-{DIE}-{DIE}|{NO_DICE})-0-0-0"


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

    def decide(self, isValidAction: Callable[[object], bool]) -> str:
        assert isValidAction("go") and isValidAction("stop") and not isValidAction("") and not isValidAction(None)
        self.calls.append(("decide",))
        self.action = "go" if self.decisions < self.goes else "stop"
        self.decisions += 1
        return self.action

    def sleep(self, score: int) -> None:
        self.calls.append(("sleep", score))

    @property
    def perceived(self) -> list[tuple[str, float]]:
        return [(call[1], call[2]) for call in self.calls if call[0] == "perceive"]


def by_arena(agent: Any, seed: int) -> int:
    """The score of a game for one player."""
    return match("zombie-dice-solo", [Agent(agent)], seed=seed).scores[0]


def by_engine(agent: Any, seed: int) -> int:
    random.seed(seed)
    system = System()
    system.run(agent)
    return system.score


def two_by_arena(one: Any, two: Any, seed: int) -> list[int]:
    """The scores of a game for two."""
    return match("zombie-dice-race", [Agent(one), Agent(two)], seed=seed).scores


def two_by_engine(one: Any, two: Any, seed: int) -> list[int]:
    random.seed(seed)
    engine = Engine()
    engine.run(one, two)
    return engine.scores


def test_states_are_texts() -> None:
    assert ACTIONS == ["go", "stop"] and len(DESCRIPTOR) == 8
    assert state_of(1, 1, (1, 0, 2), (3, 4, 3)) == "1-1-EASY(Run)-EASY(Brain)-EASY(Gun)-3-4-3"
    assert state_of(3, 0, (3, 6, 7), (6, 3, 1)).split("-")[2:5] == ["MEDI(Brain)", "HARD(Brain)", "HARD(Run)"]


@pytest.mark.parametrize("play", [by_arena, by_engine])
@pytest.mark.parametrize("goes", [0, 1, 2, 20])
def test_one_player(play: Callable[[Any, int], int], goes: int) -> None:
    lost = 0
    for seed in range(25):
        agent = Recorder(goes)
        score = play(agent, seed)
        assert agent.calls[0] == ("wakeUp", FRESH, DESCRIPTOR, ACTIONS)
        assert agent.calls[-1] == ("sleep", score)
        kinds = " ".join(call[0] for call in agent.calls[1:-1])
        assert re.fullmatch(r"(decide perceive ?)+", kinds)
        states = [state for state, _ in agent.perceived]
        assert all(re.fullmatch(ROLLED, state) for state in states[:-1])
        assert re.fullmatch(OVER, states[-1])
        # What could be banked changes by the reward, and in the end it is what was banked.
        rewards = [reward for _, reward in agent.perceived]
        assert sum(rewards) == score
        for before, after, reward in zip([FRESH, *states], states[:-1], rewards):
            assert int(after.split("-")[0]) - int(before.split("-")[0]) == reward
        brains = int(states[-1].split("-")[0])
        assert score in (0, brains), "the brains of the end are those that were rolled"
        if score != brains:
            lost += 1
            before = [FRESH, *states][-2]
            assert rewards[-1] == -int(before.split("-")[0]) and states[-1].split("-")[1] >= "3"
    assert (lost > 0) == (goes >= 2)


@pytest.mark.parametrize("play", [by_arena, by_engine])
def test_dice_that_run_stay_in_their_place(play: Callable[[Any, int], int]) -> None:
    firsts, stayed = set(), 0
    for seed in range(60):
        agent = Recorder(20)
        play(agent, seed)
        rolls = [state.split("-")[2:5] for state, _ in agent.perceived]
        firsts.add(tuple(die[:4] for die in rolls[0]))
        for before, after in zip(rolls, rolls[1:]):
            for was, now in zip(before, after):
                if "Run" in was:
                    stayed += 1
                    assert was[:4] == now[:4]
    assert stayed > 20 and {("EASY", "EASY", "MEDI"), ("MEDI", "EASY", "EASY"), ("EASY", "MEDI", "EASY")} <= firsts


@pytest.mark.parametrize("play", [two_by_arena, two_by_engine])
def test_two_players(play: Callable[[Any, Any, int], list[int]]) -> None:
    results = set()
    for seed in range(10):
        agents = [Recorder(2), Recorder(1)]
        scores = play(agents[0], agents[1], seed)
        for seat, agent in enumerate(agents):
            assert agent.calls[0][0] == "wakeUp"
            first = agent.calls[0][1]
            assert first.startswith(f"{FRESH}-score:-0-") and len(first.split("-")) == 11
            assert agent.calls[-1] == ("sleep", scores[seat])
            win = scores[seat] >= 13
            results.add(win)
            rewards = [reward for _, reward in agent.perceived]
            assert rewards == [0] * (len(rewards) - 1) + [10 if win else -10]
            # After a decision comes what was rolled, or, when the turn is over, the next start: its end is not perceived.
            for state, _ in agent.perceived:
                assert re.fullmatch(rf"(?:{ROLLED}|{FRESH})-score:-\d+-\d+", state)
            assert agent.perceived[-1][0] == f"{FRESH}-score:-{scores[seat]}-{scores[1 - seat]}"
            assert sum(FRESH in state for state, _ in agent.perceived) >= 2
    assert results == {True, False}


def test_engine_and_arena_agree() -> None:
    """What an agent that stops at two brains gets, against what the exact solution says it is worth."""

    class Two(Recorder):
        def decide(self, isValidAction: Callable[[object], bool]) -> str:
            self.action = "stop" if self.state and int(self.state.split("-")[0]) >= 2 else "go"
            return self.action

        def wakeUp(self, *told: Any) -> None:
            self.state = told[0]

        def perceive(self, reachedState: str, reward: float) -> None:
            self.state = reachedState

        def sleep(self, score: int) -> None:
            self.total = getattr(self, "total", 0) + score

    random.seed(3)
    agent, system, games = Two(), System(), 20_000
    for _ in range(games):
        system.run(agent)
    value = evaluate(lambda obs: obs[0] < 2, "zombie-dice-solo").value
    # The scores are from 0 to 4 or so: four standard errors.
    assert abs(agent.total / games - value) < 4 * 1.2 / games**0.5


class Scripted:
    """Dice that were thrown before: brains, shotguns, and whether fewer than three dice are left, and whether the turn is lost."""

    def __init__(self, *rolls: tuple[int, int, bool, bool]) -> None:
        self.rolls = list(rolls)

    def start(self, seed: int) -> None: ...
    def begin(self) -> None: ...

    def go(self) -> Any:
        brains, shotguns, is_out, is_lost = self.rolls.pop(0)
        return (0, 1, 2), (3, 4, 3), (brains, shotguns), (is_out, is_lost)


@pytest.mark.parametrize(
    ("rolls", "text", "program"),
    [
        # Lost: the text takes back what was given, the program also what was not.
        ([(2, 1, False, False), (3, 3, False, True)], ([2, -2], 0, "3"), ([2, -3], 0, "3")),
        ([(2, 1, False, False), (3, 4, False, True)], ([2, -2], 0, "4"), ([2, -3], 0, "4")),
        # Out of dice: the program has forgotten what the last roll gave.
        ([(2, 1, False, False), (5, 2, True, False)], ([2, 3], 5, "3"), ([2, 0], 5, "3")),
        # Both: the program banks.
        ([(9, 2, False, False), (10, 4, True, True)], ([9, -9], 0, "4"), ([9, 0], 10, "3")),
    ],
)
def test_rules_of_the_text_and_of_the_program(rolls: Any, text: Any, program: Any) -> None:
    for rules, (rewards, score, shotguns) in (("text", text), ("program", program)):
        system: Any = System(rules=rules)  # type: ignore[arg-type]
        system._turn = Scripted(*rolls)
        agent = Recorder(20)
        system.run(agent)
        assert [reward for _, reward in agent.perceived] == rewards
        assert agent.calls[-1] == ("sleep", score) and system.score == score
        assert agent.perceived[-1][0].split("-")[:2] == [str(rolls[-1][0]), shotguns]


def test_two_players_by_the_rules_of_the_program() -> None:
    engine: Any = Engine(rules="program")
    # Both have a first turn, then the first who has 13 after a turn wins.
    engine._turn = Scripted((13, 1, False, False), (2, 3, False, True), (1, 0, False, False))
    one, two = Recorder(1), Recorder(1)
    engine.run(one, two)
    assert engine.scores == [14, 0]
    assert one.perceived[-1] == (f"{FRESH}-score:-14-0", 14) and two.perceived[-1] == (f"{FRESH}-score:-0-14", -1)
    engine = Engine()
    engine._turn = Scripted((13, 1, False, False))
    one, two = Recorder(1), Recorder(1)
    engine.run(one, two)
    # Who has had no turn has nothing to learn from.
    assert engine.scores == [13, 0] and [call[0] for call in two.calls] == ["wakeUp", "sleep"]
    engine = Engine(rules="program")
    engine._turn = Scripted((12, 3, True, True), (1, 3, False, True), (1, 3, True, True))
    engine.run(one, two)
    assert engine.scores == [13, 0], "who is out of dice banks, shot or not"


def test_engines_are_repeatable_and_have_one_stock() -> None:
    assert [two_by_engine(Recorder(2), Recorder(1), 5) for _ in range(2)][0] == two_by_engine(Recorder(2), Recorder(1), 5)
    with pytest.raises(ValueError, match="expected 3 dice from a stock of 6, 4 and 3"):
        System(stockHARD=4)
    with pytest.raises(ValueError, match="expected 'text' or 'program'"):
        System(rules="mine")  # type: ignore[arg-type]


class Looking(Recorder):
    """Looks at the engine's own state at each call: it is what the agent is told."""

    engine: Any

    def wakeUp(self, initialState: str, stateDsc: list[str], actionSpace: list[str]) -> None:
        super().wakeUp(initialState, stateDsc, actionSpace)
        assert self.engine.stateStr() == str(self.engine) == initialState

    def perceive(self, reachedState: str, reward: float) -> None:
        super().perceive(reachedState, reward)
        assert self.engine.stateStr() == reachedState
        if not isinstance(self.engine, Engine):
            assert self.engine.reward == reward


def test_the_state_of_an_engine_is_what_agents_are_told() -> None:
    random.seed(6)
    agent, system = Looking(), System()
    agent.engine = system
    for goes in range(30):
        agent.goes = goes % 5
        system.run(agent)
    assert system.stock == [0, 0, 0] and system.shot >= 3
    engine, two = Engine(), Looking(1)
    agent.engine = two.engine = engine
    for _ in range(5):
        engine.run(agent, two)
    assert (engine.score, engine.opScore) == (max(engine.scores), min(engine.scores))
    names = "brain shoot d1 d2 d3 easy medium hard score oponent"
    assert " ".join(engine.state()) == names and list(system.state()) == DESCRIPTOR


def test_transitions_can_be_sampled() -> None:
    """What a step gives from the start, and from the middle of a game, against the chances of each die."""
    random.seed(8)
    system, steps = System(), 20_000
    totals = [0, 0]
    for _ in range(steps):
        system.initialize()
        system.step()
        totals[0] += system.brain
        totals[1] += system.shot
        assert sum(system.stock) == 10 and system.remaining_dice() == 10 + system.stateStr().count("Run")
        assert re.fullmatch(rf"\d-\d-{DIE}-{DIE}-{DIE}-\d-\d-\d", system.stateStr())
    # Of 78 sides 29 are brains and 23 guns. Four standard errors.
    for total, sides in zip(totals, (29, 23)):
        assert abs(total / steps - 3 * sides / 78) < 4 * (3 * 0.25 / steps) ** 0.5

    class Trying(Looking):
        """Tries what may come before it decides; the game stays as it is."""

        def decide(self, isValidAction: Callable[[object], bool]) -> str:
            before = self.engine.stateStr()
            for _ in range(5):
                trial = copy.deepcopy(self.engine)
                running = {place: die.type for place, die in enumerate(trial.hand) if trial.handDieType(place) < 3}
                trial.step()
                assert all(trial.hand[place].type == kind for place, kind in running.items())
                assert sum(trial.stock) == sum(self.engine.stock) - 3 + len(running)
                kept.append(len(running))
            assert self.engine.stateStr() == before
            return super().decide(isValidAction)

    kept: list[int] = []
    agent = Trying(3)
    agent.engine = system
    for _ in range(20):
        system.run(agent)
    assert {*kept} >= {0, 1, 2}


def test_dice_of_scripts_have_the_sides_of_the_arena() -> None:
    random.seed(9)
    die = Dice()
    die.roll()
    assert (str(die), die.face) == ("UNDEFINED", DiceFace.RUN)
    for kind, sides in zip(DiceType, DiceFace_weight[:3]):
        die.setType(kind)
        faces = [die.random_face() for _ in range(6000)]
        for face, number in zip(DiceFace, sides):
            # Four standard errors, of 1000 times the sides.
            assert abs(faces.count(face) - 1000 * number) < 4 * 39
        assert re.fullmatch(DIE, str(die)) and str(die).endswith("(Run)")


SCRIPT = """
import gameZombies as game
from gameZombies2 import System as Both, Engine, SimplePlayer, AbsAgent, HumanAgent

class Bold(AbsAgent):
    def decide(self, isValidAction):
        return "go"

def main():
    system, bold = game.System(), Bold()
    system.run(bold)
    print("rules", system.as_program, "score", bold.score, bold.stateDico()["EASY"])
    players = [SimplePlayer(), SimplePlayer()]
    Both().run(*players)
    print("won", max(player.score for player in players) >= 13, Engine is Both)

if __name__ == "__main__":
    main()
"""


def test_scripts_run_unchanged(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    for words, rules in (([], "False"), (["--rules", "program"], "True")):
        command = [sys.executable, "-m", "necrodome.compat.gamezombies", *words, "script.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert re.fullmatch(rf"rules {rules} score \d+ 6\nwon True True\n", done.stdout), done
    # The same file is an entry of the arena.
    assert match("zombie-dice-solo", [f"compat:gamezombies:{tmp_path}/script.py:Bold"], seed=1).faults == []
    done = subprocess.run([*command[:3], "nowhere.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "there is no file 'nowhere.py'" in done.stderr


SAMPLES = """
from gameZombies import *
import gameZombies2

system = System()
system.initialize()
while system.remaining_dice() >= 3 and system.shot < 3:
    system.step()
print(random.choice([system.brain >= 0]), DiceType_str[DiceType.MEDIUM], DiceFace_str[DiceFace.GUN], isinstance(DiceFace.RUN, IntEnum))
print(Dice(), DiceFace_weight[DiceType.HARD][DiceFace.GUN], sum(system.stock) < 13)

class Mine(gameZombies2.SimplePlayer):
    def decide(self, isValidAction):
        known = self.stateDico()
        return "stop" if known["brain"] >= 2 and known["score"] >= known["oponent"] or known["d1"] == "HARD(Gun)" else "go"

engine = gameZombies2.Engine()
engine.run(Mine(), Mine())
print(engine.score >= 13)
main()
gameZombies2.main()
"""


def test_scripts_sample_and_people_play(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SAMPLES)
    command = [sys.executable, "-m", "necrodome.compat.gamezombies", "script.py"]
    typed = "jump\ngo\nstop\n" + "go\nstop\n" * 500
    done = subprocess.run(command, cwd=tmp_path, input=typed, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("True MEDI Gun True\nUNDEFINED 3 True\nTrue\n")
    assert done.stdout.count("The score is") == 2 and "-score:-0-" in done.stdout


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


@pytest.mark.parametrize("play", [by_arena, by_engine])
def test_an_answer_that_is_none_changes_nothing(play: Callable[[Any, int], int]) -> None:
    class Clumsy(Recorder):
        asked = 0

        def decide(self, isValidAction: Callable[[object], bool]) -> str:
            self.asked += 1
            self.action = "go"
            return "jump" if self.asked % 2 else "go"

    agent = Clumsy()
    play(agent, 4)
    states = [state for state, _ in agent.perceived]
    assert states[0] == FRESH and len(states) > len({*states}), "it perceives the same again"


def test_who_gives_no_answer_at_all_is_at_fault() -> None:
    class Stubborn(Recorder):
        action = "stop"

        def decide(self, isValidAction: Callable[[object], bool]) -> str:
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
