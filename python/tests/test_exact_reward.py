"""`reward="exact"`: what an action gave away and what luck there was add up to what came of the match."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import necrodome

MODES = ["next_step", "same_step", "disabled"]
TWO = ["zombie-dice-race", "zombie-dice", "tokyo"]


def legal(infos: dict[str, Any], random: np.random.Generator) -> Any:
    """Random legal actions."""
    return (infos["action_mask"] * random.random(infos["action_mask"].shape)).argmax(axis=1)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rules", [{}, {"out_of_dice": "recycle_brains"}, {"first_roll": "mandatory"}])
def test_the_score_is_the_value_and_what_was_given_away_and_luck(mode: str, rules: dict[str, str]) -> None:
    value = necrodome.solve("zombie-dice-solo", **rules).value  # type: ignore[arg-type]
    rows = 130
    envs = necrodome.make_vec(
        "zombie-dice-solo", rows, seed=1, reward="exact", autoreset_mode=mode, **rules  # type: ignore[arg-type]
    )
    _, infos = envs.reset()
    random = np.random.default_rng(1)
    sums, scores, ends = np.full(rows, value), np.zeros(rows), 0
    over = np.zeros(rows, dtype=bool)
    for _ in range(40):
        began = over if mode == "next_step" else np.zeros(rows, dtype=bool)
        idle = over.copy() if mode == "disabled" else began
        _, rewards, over, _, infos = envs.step(random.integers(4, size=rows).clip(0, 1))
        np.testing.assert_array_equal(rewards, -infos["regret"])
        assert (infos["regret"] >= 0).all()
        assert not (infos["regret"][idle].any() or infos["luck"][idle].any())
        sums += infos["luck"] - infos["regret"]
        scores += infos["game_reward"]
        ended = over & ~idle
        np.testing.assert_allclose(sums[ended], scores[ended], atol=1e-4)
        ends += int(ended.sum())
        if mode != "disabled":
            sums[ended], scores[ended] = value, 0
    assert ends >= rows


def test_the_perfect_player_regrets_nothing_and_luck_is_fair() -> None:
    solo = necrodome.solve("zombie-dice-solo")
    envs = necrodome.make_vec("zombie-dice-solo", 4096, seed=3, reward="exact", autoreset_mode="same_step")
    observations, _ = envs.reset()
    luck = []
    for _ in range(20):
        observations, rewards, *_, infos = envs.step(solo.policy(observations))
        assert np.abs(rewards).max() < 1e-6
        luck.append(infos["luck"].mean())
    # A step's luck has a deviation of about 1.5.
    assert abs(np.mean(luck)) < 4 * 1.5 / (20 * 4096) ** 0.5


@pytest.mark.parametrize("game", TWO)
def test_regret_is_that_of_the_solution(game: str) -> None:
    solution = necrodome.solve(game, seats=2)
    envs = necrodome.make_vec(game, 60, seed=5, reward="exact")
    observations, infos = envs.reset()
    random = np.random.default_rng(2)
    over = np.zeros(60, dtype=bool)
    for _ in range(60):
        actions = legal(infos, random)
        masks, asked = infos["action_mask"], ~over
        values = np.where(masks, solution.action_values(observations), np.nan)
        observations, rewards, over, _, infos = envs.step(actions)
        expected = np.nanmax(values[asked], axis=1) - values[asked, actions[asked]]
        np.testing.assert_allclose(infos["regret"][asked], expected, atol=1e-5)
        np.testing.assert_allclose(rewards[~asked], 0)


@pytest.mark.parametrize("opponent", [None, "optimal", "random"])
@pytest.mark.parametrize("game", TWO)
def test_chances_add_up(game: str, opponent: str | None) -> None:
    """In games of two: chance at the first decision + luck - regret is 1 for a win, 0 for a loss, one half for a draw."""
    rows = 40
    envs = necrodome.make_vec(game, rows, seed=7, reward="exact", opponent=opponent, autoreset_mode="disabled")
    observations, infos = envs.reset()
    values = np.where(infos["action_mask"], necrodome.solve(game, seats=2).action_values(observations), 0)
    random = np.random.default_rng(3)
    sums, over = values.max(axis=1), np.zeros(rows, dtype=bool)
    mover = np.zeros(rows, dtype=np.uint8)
    for _ in range(3000):
        if over.all():
            break
        sign = 1.0 if opponent else np.where(mover == 0, 1.0, -1.0)
        _, _, over, _, infos = envs.step(legal(infos, random))
        sums += sign * (infos["luck"] - infos["regret"])
        mover = mover if opponent else envs.to_act()
    assert over.all()
    won = np.sign(envs.final_rewards()[:, 0]) / 2 + 0.5
    np.testing.assert_allclose(sums, won, atol=2e-3)
