"""One seat against built-in bots: Gymnasium's own check, and what it does not look at."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence

from necrodome import _native
from necrodome.envs.versus import VersusEnv

NAMES = ["ZombieDiceRace", "ZombieDiceTable", "Tokyo"]


def made(name: str, **options: Any) -> VersusEnv:
    """The environment of this name, without Gymnasium's wrappers."""
    env = gymnasium.make(f"necrodome/{name}-v0", **options).unwrapped
    assert isinstance(env, VersusEnv)
    return env


race, table, tokyo = MAKERS = [partial(made, name) for name in NAMES]
games = pytest.mark.parametrize("make", MAKERS, ids=NAMES)


def play(env: VersusEnv, steps: int, seed: int = 0) -> list[Any]:
    """Plays legal actions at random and writes down all that came of them."""
    random, told = np.random.default_rng(seed), []
    for _ in range(steps):
        told.append(env.step(int(random.choice(np.flatnonzero(env.action_masks())))))
        if told[-1][2]:
            break
    return told


@games
@pytest.mark.parametrize("observation", ["vector", "dict"])
@pytest.mark.parametrize("render_mode", ["ansi", "rgb_array"])
def test_the_api_is_gymnasiums(make: Callable[..., VersusEnv], observation: str, render_mode: str) -> None:
    check_env(make(observation=observation, render_mode=render_mode), skip_render_check=True)


def test_gymnasium_makes_them_by_name() -> None:
    for name in NAMES:
        env = gymnasium.make(f"necrodome/{name}-v0", seat=1, render_mode="rgb_array")
        env.reset(seed=1)
        drawn: Any = env.render()
        assert drawn.dtype == np.uint8 and drawn.shape[2:] == (3,)
    assert race(opponent="greedy", max_rounds=7).rules["max_rounds"] == 7


def test_the_opponents_of_a_version_stay() -> None:
    """What an agent was trained against must not change without a new version."""
    assert race()._bots == ["", "stop-at:brains=5"]
    assert table(seat=1)._bots == ["cautious", "", "greedy", "stop-at:brains=5"]
    assert tokyo()._bots == ["", "point-hunter"]


def test_any_game_in_turns_can_be_played_against_bots() -> None:
    env = VersusEnv("infection", ["careful", "spreader", "random"], seat=2)
    env.reset(seed=1)
    assert play(env, 2000)[-1][2]


@games
@pytest.mark.parametrize("seat", [0, 1])
def test_a_saved_state_goes_on_as_if_nothing_had_been(make: Callable[..., VersusEnv], seat: int) -> None:
    env = make(seat=seat)
    env.reset(seed=3)
    play(env, 2)
    saved = env.save()
    copies = [env.clone(), copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    story = play(env, 500, seed=1)
    story.append(env.reset())
    for other in copies:
        assert data_equivalence([*play(other, 500, seed=1), other.reset()], story)
    env.restore(saved)
    assert env.save() == saved
    assert data_equivalence([*play(env, 500, seed=1), env.reset()], story)
    with pytest.raises(ValueError, match="not a saved environment"):
        env.restore(b"{")


def test_the_better_bot_wins_more_often() -> None:
    """A learner that plays as a built-in bot does must do as well as that bot: rewards belong to its seat."""
    env = race(opponent="random", seat=1)
    total = 0.0
    for seed in range(200):
        observation, _ = env.reset(seed=seed)
        over = False
        while not over:
            brains, shotguns = observation[:2]
            observation, reward, over, _, _ = env.step(int(brains < 3 and shotguns < 2))
            total += reward
    # Wins at least three in four; a coin would be 0 with a deviation of 141.
    assert total > 1000


@pytest.mark.parametrize("game", NAMES)
def test_the_perfect_player_is_an_opponent(game: str) -> None:
    opponents = {"opponent": "optimal"} if game == "ZombieDiceRace" else {"opponents": ["optimal"]}
    env = made(game, seat=1, **opponents)
    solution = _native.Solution(env.game, seats=2)
    env.reset(seed=1)
    assert play(env, 2000)[-1][2], "the match comes to its end"
    # It plays what the solution says.
    asked, referee = 0, _native.Referee(env.game, ["you", "perfect"], 3)
    while to_act := referee.to_act():
        action = referee.bot_action("optimal", to_act[0], asked)
        assert action == solution.act(referee.view(to_act[0]))
        referee.apply(f"[{action}]")
        asked += 1
    assert asked > 5


def test_the_perfect_player_sits_among_others() -> None:
    env = table(opponents=["optimal", "greedy", "optimal"])
    env.reset(seed=1)
    assert play(env, 2000)[-1][2]


def test_an_illegal_action_is_played_by_the_rule_for_a_bad_one() -> None:
    env = tokyo()
    env.reset(seed=1)
    *_, info = env.step(64)
    assert info["bad_action"] is True and info["action_mask"].any()
    with pytest.raises(ValueError, match="from 0 to 65"):
        env.step(66)
    for odd in (1.0, "1", None, np.float64(1)):
        with pytest.raises(TypeError, match="expected an action, a whole number from 0 to 65, got"):
            env.step(odd)  # type: ignore[arg-type]
    strict = tokyo(bad_action="raise")
    strict.reset(seed=1)
    before = strict.save()
    with pytest.raises(ValueError, match="action 64 is illegal now, expected one of 0, 1, 2, "):
        strict.step(64)
    assert strict.save() == before


@games
def test_a_step_needs_a_reset(make: Callable[..., VersusEnv]) -> None:
    env = make()
    with pytest.raises(ResetNeeded, match="call reset before the first step"):
        env.step(0)
    env.reset(seed=1)
    assert play(env, 2000)[-1][2]
    with pytest.raises(ResetNeeded, match="the match is over: call reset"):
        env.step(0)


def test_wrong_arguments_are_refused_with_what_is_valid() -> None:
    cases: list[tuple[Callable[[], object], str]] = [
        (
            lambda: race(opponent="gredy"),
            'no bot "gredy": expected one of random, cautious, greedy, stop-at.*, optimal$',
        ),
        (lambda: race(opponent="optimal:brains=5"), "brains"),
        (lambda: race(opponent="stop-at:brain=5"), 'unknown option "brain": expected one of brains'),
        (lambda: race(seat=2), "seat 2: expected a whole number from 0 to 1"),
        (lambda: table(opponent="greedy", opponents=["greedy"]), "zombie-dice: expected either opponents or opponent, got both"),
        (lambda: VersusEnv("tokyo"), "tokyo: expected either opponents or opponent, got none"),
        (lambda: race(rounds=2), 'unknown option "rounds"'),
        (lambda: tokyo(opponents=["angry"] * 6), "expected 2 to 6 players, got 7"),
    ]
    for make, message in cases:
        with pytest.raises(ValueError, match=message):
            make()


def test_opponents_take_the_place_of_the_usual_ones() -> None:
    for opponents in ({"opponent": "angry"}, {"opponents": ["angry", "random"]}):
        env = gymnasium.make("necrodome/Tokyo-v0", **opponents)
        env.reset(seed=1)
        assert len(env.unwrapped.names) == 1 + len(opponents.get("opponents", ["angry"]))  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="expected a list"):
        gymnasium.make("necrodome/Tokyo-v0", opponents="angry")
