"""Stable-Baselines3 accepts the environments and learns in them.

Its torch comes from Debian (`apt install python3-torch`): that of the registry pulls in gigabytes for
graphics cards.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import gymnasium
import pytest

import necrodome.envs  # noqa: F401

# Torch must be there too: Stable-Baselines3 is installed without what it depends on.
pytest.importorskip("torch", reason="torch is not installed: ./scripts/test does it")
baselines: Any = pytest.importorskip(
    "stable_baselines3", reason="stable-baselines3 is not installed: ./scripts/test does it"
)
checker: Any = importlib.import_module("stable_baselines3.common.env_checker")


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
