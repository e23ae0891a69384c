"""OpenSpiel accepts the games, and its own search finds the exact values."""

from __future__ import annotations

import importlib
import random
from typing import Any

import numpy as np
import pytest
from documented import run_program_of

import necrodome

pyspiel: Any = pytest.importorskip("pyspiel", reason="open_spiel is not installed: ./scripts/test does it")
importlib.import_module("necrodome.adapters.openspiel")

SOLO, RACE = "necrodome_zombie_dice_solo", "necrodome_zombie_dice_race"


@pytest.mark.parametrize("name", [SOLO, RACE, f"{RACE}(out_of_dice=recycle_brains)"])
def test_random_play_passes_the_checks_of_the_library(name: str) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=2, serialize=True, verbose=False)


def walked(name: str, seed: int, steps: int) -> Any:
    """A decision after some steps of random play that mostly rolls; where a match ends, another begins."""
    rng = random.Random(seed)
    state = pyspiel.load_game(name).new_initial_state()
    while steps > 0 or state.is_chance_node():
        steps -= 1
        if state.is_chance_node():
            numbers, chances = zip(*state.chance_outcomes())
            state.apply_action(rng.choices(numbers, chances)[0])
        else:
            state.apply_action(int(rng.random() < 0.8))
        if state.is_terminal():
            state = state.get_game().new_initial_state()
    return state


def seen(state: Any) -> Any:
    return np.array(state.observation_tensor(state.current_player()), np.int16)


@pytest.mark.parametrize("rules", [{}, {"out_of_dice": "recycle_brains"}])
def test_chance_nodes_agree_with_the_exact_solution(rules: dict[str, Any]) -> None:
    """The value of an action is the mean of the values behind it: the equation of the solution holds in the tree."""
    race = necrodome.solve("zombie-dice-race", **rules)
    chosen = ",".join(f"{name}={value}" for name, value in rules.items())

    def chance_to_win(state: Any, player: int) -> float:
        if state.is_terminal():
            return float(state.returns()[player] + 10) / 20
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            assert sum(chance for _, chance in outcomes) == pytest.approx(1, abs=1e-12)
            return sum(chance * chance_to_win(state.child(number), player) for number, chance in outcomes)
        best = float(np.nanmax(race.action_values(seen(state))))
        return best if state.current_player() == player else 1 - best

    compared = 0
    for seed in range(12):
        state = walked(f"{RACE}({chosen})", seed, 40)
        exact = race.action_values(seen(state))
        for action in state.legal_actions():
            value = chance_to_win(state.child(action), state.current_player())
            assert value == pytest.approx(exact[action], abs=1e-9)
            compared += 1
    assert compared == 24


def test_search_of_the_library_finds_the_exact_value_of_solo() -> None:
    """Two decisions deep, with all rolls in between; behind them stand the exact values."""
    search: Any = importlib.import_module("open_spiel.python.algorithms.minimax")
    solo = necrodome.solve("zombie-dice-solo")

    def worth(state: Any) -> float:
        if state.is_terminal():
            return float(state.returns()[0])
        if state.is_chance_node():
            return sum(chance * worth(state.child(number)) for number, chance in state.chance_outcomes())
        return float(np.nanmax(solo.action_values(seen(state))))

    start = pyspiel.load_game(SOLO).new_initial_state()
    value, action = search.expectiminimax(start, 2, worth, 0)
    assert value == pytest.approx(solo.value, abs=1e-9) and action == 1
    for seed in range(3):
        state = walked(SOLO, seed, 6)
        value, action = search.expectiminimax(state, 1, worth, 0)
        exact = solo.action_values(seen(state))
        assert value == pytest.approx(np.nanmax(exact), abs=1e-9) and action == np.nanargmax(exact)


def test_parameters_are_the_options_of_the_rules() -> None:
    game = pyspiel.load_game(RACE, {"out_of_dice": "recycle_brains"})
    assert game.num_players() == 2 and "recycle_brains" in str(game)
    # With brain dice that come back, players see which are set aside.
    assert len(game.observation_tensor_shape()) == 1
    assert game.observation_tensor_size() == pyspiel.load_game(RACE).observation_tensor_size() + 3
    with pytest.raises(Exception, match="recycle_brains"):
        pyspiel.load_game(RACE, {"out_of_dice": "nonsense"})


def test_the_program_in_the_documentation_runs() -> None:
    names = run_program_of("openspiel")
    assert len(names["state"].chance_outcomes()) > 50
