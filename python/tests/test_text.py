"""Matches in words: what is told, how answers are read, what they cost, and that seeds hold."""

from __future__ import annotations

import copy
import json
import pickle
import random
from typing import Any

import pytest
from gymnasium.error import ResetNeeded

import necrodome
from necrodome import _native
from necrodome.opponents import Pool
from necrodome.text import TextEnv

#: Every game, with rules that keep a match short.
GAMES: list[tuple[str, dict[str, Any]]] = [
    ("zombie-dice-solo", {}),
    ("zombie-dice-race", {}),
    ("zombie-dice", {}),
    ("tokyo", {}),
    ("infection", {}),
    ("last-bullet", {"copies": 1, "max_turns": 30, "opponents": ["runner"]}),
    ("pig", {}),
]
SOLVED = ["zombie-dice-solo", "zombie-dice-race", "zombie-dice", "tokyo"]
games = pytest.mark.parametrize(("game", "words"), GAMES, ids=[game for game, _ in GAMES])
solved = pytest.mark.parametrize("game", SOLVED)


def listed(text: str) -> list[tuple[str, str]]:
    """The legal actions in a text: label and JSON."""
    lines = text.partition("\nLegal actions:\n- ")[2].split("\n- ")
    pairs = [line.rpartition(": {")[::2] for line in lines if line]
    return [(label, "{" + action) for label, action in pairs]


def view(text: str) -> dict[str, Any]:
    (line,) = [line for line in text.splitlines() if line.startswith("View: ")]
    seen: dict[str, Any] = json.loads(line.removeprefix("View: "))
    return seen


def play(env: TextEnv, text: str, seed: int, steps: int = 3000) -> list[Any]:
    """Plays legal actions at random, in all forms; everything that was told."""
    rng, told = random.Random(seed), []
    for _ in range(steps):
        answer = rng.choice(["", "stop", '{"type": "go"}', "ANSWER: " + '{"orders": []}'])
        if options := listed(text):
            label, action = rng.choice(options)
            answer = rng.choice([f"Hm.\nANSWER: {action}", f"```json\n{action}\n```", action, f"I take\n{label}"])
        told.append(env.step(answer))
        text = told[-1][0]
        if told[-1][2]:
            return told
    raise AssertionError("the match does not end")


@games
def test_the_same_seed_and_texts_give_the_same_episode(game: str, words: dict[str, Any]) -> None:
    one, other = TextEnv(game, **words), TextEnv(game, **words)
    stories = set()
    for seed in range(4):
        first = one.reset(seed)
        assert first == other.reset(seed)
        told = play(one, first, 1)
        assert told == play(other, first, 1)
        stories.add(repr(told))
        text, _, done, info = told[-1]
        assert done and "The match is over:\n- player_0: place " in text
        assert sorted(info["outcome"]) == ["places", "scores", "turns"]
        with pytest.raises(ResetNeeded, match="the match is over"):
            one.step("stop")
    # Other seeds are other dice.
    assert len(stories) > 1


@games
def test_a_saved_match_goes_on_as_if_nothing_had_been(game: str, words: dict[str, Any]) -> None:
    env = TextEnv(game, **words)
    text, answers = env.reset(3), ["nonsense", "more of it"]
    for answer in answers:
        after = env.step(answer)
        if after[2]:
            return
        text = after[0]
    assert "could not be used (unparsable: " in text
    saved, copies = env.save(), [env.clone(), copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    story = play(env, text, 5)
    for other in copies:
        assert other.observe() == text
        assert play(other, text, 5) == story
    env.restore(saved)
    assert env.observe() == text and play(env, text, 5) == story


def test_what_is_told() -> None:
    env = TextEnv("zombie-dice", ["greedy", "cautious"], seat=1)
    text = env.reset(1)
    happened, situation = text.split("\n\n")
    assert happened.startswith("What has happened:\n- player_0 rolls [")
    assert situation.startswith("Situation: ") and view(text)["seat"] == 1
    assert [label for label, _ in listed(text)][0] == "roll"
    told = env.instructions
    for part in ("You play Zombie Dice.", "Three shotguns", "You are player_1 (seat 1) of player_0, player_1, player_2.", "ANSWER:"):
        assert part in told
    assert env.schema["oneOf"]


def test_a_seat_hears_only_what_it_may() -> None:
    """Infection: everybody is told what they are, and nobody what the others are."""
    for seat in range(4):
        env = TextEnv("infection", ["careful", "spreader", "random"], seat=seat)
        text = env.reset(1)
        assert view(text)["seat"] == seat
        assert [other for other in range(4) if f"- player_{other} is told: " in text] == [seat]


def test_legal_actions_can_be_hidden() -> None:
    env = TextEnv("tokyo", ["angry"], legal="hidden")
    assert "Legal actions" not in env.reset(1)
    assert json.dumps(env.schema) in env.instructions
    assert json.dumps(TextEnv("last-bullet", copies=1).schema) in TextEnv("last-bullet", copies=1).instructions
    # They count all the same.
    assert "bad_action" not in env.step('ANSWER: {"type": "keep", "dice": [true, true, true, true, true, true]}')[3]


def test_what_is_the_same_is_listed_once() -> None:
    env = TextEnv("tokyo", ["angry"])
    labels = [label for label, _ in listed(env.reset(1))]
    assert len(set(labels)) == len(labels) < 64
    assert {"keep all", "reroll all"} <= set(labels)


@pytest.mark.parametrize(
    "answer",
    [
        '{"type": "go"}',
        "go",
        "Roll.",
        '"roll"',
        'ANSWER: {"type": "go"}',
        "answer: **roll**",
        "**ANSWER:** `go`",
        'I could stop.\nANSWER: {"type": "stop"}\nNo, wait!\nANSWER: {"type": "go"}',
        '```json\n{"type": "go"}\n```',
        '```\n{"type":\n  "go"}\n```\nThat is all.',
        'ANSWER:\n```json\n{"type": "go"}\n```',
        'Let me see.\n{\n  "type": "go"\n}',
        '{"reason": "many {green} dice", "action": {"type": "go"}}',
        '{"reason": "why not", "action": "roll"}',
        'If I stop I get {nothing}.\n- roll: {"type":"go"}',
    ],
)
def test_an_action_is_found_in_a_text(answer: str) -> None:
    env = TextEnv("zombie-dice-solo")
    env.reset(1)
    info = env.step(answer)[3]
    assert info["action"] == {"type": "go"} and "bad_action" not in info


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("I would rather not say.", "unparsable"),
        ("ANSWER:", "unparsable"),
        ("ANSWER: perhaps\n", "unparsable"),
        ('{"type": "go"', "unparsable"),
        ('{"type": NaN}', "unparsable"),
        ('{"type": "\\ud800"}', "unparsable"),
        ('{"a":' * 100_000 + "}", "unparsable"),
        ("\ud800", "unparsable"),
        ('{"type": "fly"}', "illegal"),
        ('{"type": "go far"}', "illegal"),
        ('{"action": null}', "illegal"),
        ("{}", "illegal"),
    ],
)
def test_what_cannot_be_used_is_named_and_played_by_the_rule_for_it(answer: str, kind: str) -> None:
    env = TextEnv("zombie-dice-solo", reward="exact")
    env.reset(1)
    text, reward, done, info = env.step(answer)
    assert info.get("bad_action") == kind and info["why"]
    # The turn is lost, and with it all that could be won.
    assert done and info["action"] is None and reward == -necrodome.solve("zombie-dice-solo").value
    assert f"could not be used ({kind}: " in text


def test_orders_that_can_stand_stand() -> None:
    env = TextEnv("last-bullet", ["runner"], copies=2)
    copies = [copy["number"] for copy in view(env.reset(1))["copies"]]
    orders = [{"type": "move", "copy": number, "direction": "north"} for number in [*copies, 10_000]]
    info = env.step(json.dumps({"orders": orders}))[3]
    assert info["bad_action"] == "illegal"
    assert info["action"] is not None and len(info["action"]["orders"]) == len(copies)


@solved
def test_exact_rewards_are_those_of_the_solution(game: str) -> None:
    """Against all values of the position, which the solution gives in another way."""
    env = TextEnv(game, reward="exact")
    solution = necrodome.solve(game, seats=len(env.names))
    rng, compared = random.Random(1), 0
    for seed in range(3):
        text, done = env.reset(seed), False
        while not done:
            values = solution.action_values(view(text))
            label, action = rng.choice(listed(text))
            number = {"go": 1, "stop": 0, "yield": 64, "stay": 65}.get(json.loads(action)["type"])
            if number is None:
                number = sum(kept << die for die, kept in enumerate(json.loads(action)["dice"]))
            best = max(value for value in values if value == value)
            text, reward, done, info = env.step(action)
            assert reward == -info["regret"] == pytest.approx(values[number] - best, abs=1e-9)
            compared += 1
    assert compared > 3


@solved
def test_the_perfect_player_has_no_regret(game: str) -> None:
    env = TextEnv(game, reward="exact")
    policy = necrodome.solve(game, seats=len(env.names)).policy
    text, done = env.reset(1), False
    while not done:
        text, reward, done, info = env.step(json.dumps(policy.act(view(text))))
        assert reward == pytest.approx(0, abs=1e-9) and "bad_action" not in info


@pytest.mark.parametrize("seat", [0, 1])
def test_rewards_of_the_game_are_those_of_the_seat(seat: int) -> None:
    env = TextEnv("zombie-dice-race", opponent="cautious", seat=seat)
    for seed in range(5):
        told = play(env, env.reset(seed), seed)
        places = told[-1][3]["outcome"]["places"]
        total = sum(reward for _, reward, _, _ in told)
        assert (total > 0) == (places[seat] < places[1 - seat])


def test_silence_is_priced_too() -> None:
    """Whatever a model fails to say costs what the rule for a bad action costs."""
    env = TextEnv("tokyo", reward="exact")
    text = env.reset(2)
    keep_all = necrodome.solve("tokyo", seats=2).regret(view(text), {"type": "keep", "dice": [True] * 6})
    assert env.step("")[3]["regret"] == pytest.approx(keep_all, abs=1e-12)


@pytest.mark.parametrize(
    ("game", "words", "why"),
    [
        ("infection", {}, "reward='exact': infection is not solved: expected one of"),
        ("last-bullet", {"copies": 1}, "reward='exact': last-bullet is not solved"),
        ("tokyo", {"opponents": ["angry", "random"]}, "reward='exact': tokyo is solved for two seats, not for 3"),
        ("zombie-dice-race", {"max_rounds": 3}, "reward='exact': .*max_rounds=3 is not solved"),
    ],
)
def test_what_is_not_solved_has_no_exact_rewards(game: str, words: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        TextEnv(game, reward="exact", **words)


def always_stop(observations: Any) -> Any:
    return [0] * len(observations)


class Brave(necrodome.Bot):
    def act(self, view: necrodome.View) -> str:
        return "go"


@pytest.mark.parametrize("opponent", ["greedy", "optimal", "stop-at:brains=5", always_stop, Brave, Brave()])
def test_opponents_of_all_kinds(opponent: Any) -> None:
    env = TextEnv("zombie-dice-race", opponent=opponent)
    assert play(env, env.reset(1), 1)[-1][2]


def test_mistakes_are_told_at_once() -> None:
    with pytest.raises(ValueError, match="there is no game"):
        TextEnv("chess")
    with pytest.raises(ValueError, match="zombie-dice-solo is for one"):
        TextEnv("zombie-dice-solo", opponent="greedy")
    with pytest.raises(ValueError, match="nobody"):
        TextEnv("zombie-dice-race", opponent="nobody")
    with pytest.raises(ValueError, match="reward 'score': expected 'game' or 'exact'"):
        TextEnv("zombie-dice-solo", reward="score")
    with pytest.raises(ValueError, match="legal 'some'"):
        TextEnv("zombie-dice-solo", legal="some")
    with pytest.raises(TypeError, match="a Pool draws by itself"):
        TextEnv("zombie-dice-race", opponent=Pool(["greedy"]))
    with pytest.raises(TypeError, match="a function cannot answer"):
        TextEnv("last-bullet", opponent=always_stop)
    with pytest.raises(ResetNeeded, match="call reset"):
        TextEnv("zombie-dice-solo").step("go")
    env = TextEnv("zombie-dice-solo")
    env.reset(1)
    answer: Any = 1
    with pytest.raises(TypeError, match="expected an answer, a text, got 1"):
        env.step(answer)


def test_a_seat_that_is_not_asked_cannot_answer() -> None:
    referee = _native.Referee("zombie-dice-race", ["one", "two"], 1)
    (asked,) = referee.to_act()
    with pytest.raises(ValueError, match="is not to act"):
        referee.read(1 - asked, '{"type": "go"}')
