"""Stable-Baselines3 accepts the environments and learns in them.

Its torch comes from Debian (`apt install python3-torch`): that of the registry pulls in gigabytes for
graphics cards.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from documented import run_program_of
from gymnasium.vector import AutoresetMode

import necrodome.envs

# Torch must be there too: Stable-Baselines3 is installed without what it depends on.
pytest.importorskip("torch", reason="torch is not installed: ./scripts/test does it")
baselines: Any = pytest.importorskip(
    "stable_baselines3", reason="stable-baselines3 is not installed: ./scripts/test does it"
)
checker: Any = importlib.import_module("stable_baselines3.common.env_checker")
adapter: Any = importlib.import_module("necrodome.adapters.stable_baselines3")


def made(name: str, **options: Any) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(f"necrodome/{name}-v0", **options).unwrapped


@pytest.mark.parametrize("name", ["ZombieDiceSolo", "ZombieDiceRace", "ZombieDiceTable", "Tokyo"])
@pytest.mark.parametrize("observation", ["vector", "dict"])
@pytest.mark.parametrize("render_mode", [None, "ansi", "rgb_array"])
def test_the_environment_is_accepted(name: str, observation: str, render_mode: str | None) -> None:
    with warnings.catch_warnings():
        # It would like images or numbers around 0: advice, not mistakes.
        warnings.simplefilter("ignore")
        checker.check_env(
            made(name, observation=observation, render_mode=render_mode), skip_render_check=render_mode is None
        )


def test_it_can_be_learned() -> None:
    """A few hundred steps of a real algorithm: arrays of every kind go through torch and back."""
    env = made("ZombieDiceRace", opponent="random")
    model = baselines.PPO("MlpPolicy", env, n_steps=128, batch_size=64, n_epochs=2, seed=1, device="cpu")
    model.learn(256)
    observation, _ = env.reset(seed=1)
    action, _ = model.predict(observation)
    assert env.action_space.contains(action.item())


@pytest.mark.parametrize("observation", ["vector", "dict"])
def test_rows_of_the_vec_env_are_those_of_the_vector_environment(observation: str) -> None:
    vec_env = adapter.make_vec_env("zombie-dice-solo", 16, observation=observation)
    envs = necrodome.make_vec(
        "zombie-dice-solo", 16, observation=observation, autoreset_mode=AutoresetMode.SAME_STEP, copy=True
    )
    vec_env.seed(3)
    np.testing.assert_equal(vec_env.reset(), envs.reset(seed=3)[0])
    rng = np.random.default_rng(3)
    returns, lengths, episodes = np.zeros(16), np.zeros(16, int), 0
    for _ in range(60):
        actions = (rng.random(16) < 0.8).astype(np.int64)
        observations, rewards, dones, infos = vec_env.step(actions)
        expected, gains, terminated, truncated, news = envs.step(actions)
        np.testing.assert_equal(observations, expected)
        np.testing.assert_equal(rewards, gains)
        np.testing.assert_equal(dones, terminated | truncated)
        returns, lengths = returns + gains, lengths + 1
        for row, info in enumerate(infos):
            assert bool(info) == dones[row]
            if dones[row]:
                episodes += 1
                assert info["episode"]["r"] == returns[row] and info["episode"]["l"] == lengths[row]
                assert info["TimeLimit.truncated"] is False
                last = news["final_obs"]
                if observation == "dict":
                    last = {name: column[row] for name, column in last.items()}
                    np.testing.assert_equal(info["terminal_observation"], last)
                else:
                    np.testing.assert_equal(info["terminal_observation"], last[row])
                returns[row] = lengths[row] = 0
    assert episodes > 16


def test_a_vec_env_says_what_rows_do_not_have() -> None:
    vec_env = adapter.make_vec_env("zombie-dice-solo", 4)
    with pytest.raises(AttributeError, match="no attributes of their own"):
        vec_env.set_attr("seed", 1)
    with pytest.raises(AttributeError, match="all rows together"):
        vec_env.env_method("save")
    with pytest.raises(ValueError, match="opponent="):
        adapter.make_vec_env("zombie-dice-race", 4)


@pytest.mark.parametrize("algorithm", ["PPO", "DQN", "A2C"])
def test_algorithms_learn_in_a_vec_env(algorithm: str) -> None:
    vec_env = adapter.make_vec_env("zombie-dice-solo", 16)
    words = {"DQN": {"learning_starts": 64}, "PPO": {"n_steps": 16, "batch_size": 64}}.get(algorithm, {})
    model = getattr(baselines, algorithm)("MlpPolicy", vec_env, seed=1, device="cpu", **words)
    model.learn(512)
    # What it tells of its episodes comes from the environment: no Monitor is around it.
    assert len(model.ep_info_buffer) > 16
    evaluation: Any = importlib.import_module("stable_baselines3.common.evaluation")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mean, _ = evaluation.evaluate_policy(model, vec_env, n_eval_episodes=50)
    assert 0 <= mean <= 13


def test_one_seat_is_learned_against_opponents() -> None:
    contrib: Any = pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed: ./scripts/test does it")
    vec_env = adapter.make_vec_env("tokyo", 16, players=2, opponent="angry", bad_action="raise")
    # An illegal action would raise: all that it plays is masked.
    model = contrib.MaskablePPO("MlpPolicy", vec_env, n_steps=32, batch_size=128, seed=1, device="cpu")
    model.learn(1024)
    returns = {episode["r"] for episode in model.ep_info_buffer}
    # A beginner loses: rewards are the learner's, not those of whoever acted last, who would only win.
    assert -1.0 in returns and returns <= {-1.0, 0.0, 1.0}


def test_maskable_ppo_finds_the_masks() -> None:
    contrib: Any = pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed: ./scripts/test does it")
    utils: Any = importlib.import_module("sb3_contrib.common.maskable.utils")
    vec_env = adapter.make_vec_env("zombie-dice-solo", 16, first_roll="mandatory")
    assert utils.is_masking_supported(vec_env)
    model = contrib.MaskablePPO("MlpPolicy", vec_env, n_steps=16, batch_size=64, seed=1, device="cpu")
    model.learn(512)
    observations = vec_env.reset()
    masks = utils.get_action_masks(vec_env)
    # A turn begins with a roll, and nothing else is legal there.
    np.testing.assert_array_equal(masks, [[False, True]] * 16)
    actions, _ = model.predict(observations, action_masks=masks)
    assert actions.all()


def test_the_program_in_the_documentation_runs() -> None:
    names = run_program_of("stable_baselines3")
    assert names["model"].num_timesteps >= 20_000
