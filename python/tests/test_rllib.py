"""RLlib plays the multi-agent environments, and its PPO learns in them with its own masking module."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from documented import run_program_of

pytest.importorskip("ray.rllib", reason="RLlib is not installed: scripts/test-adapters rllib does it")
adapter: Any = importlib.import_module("necrodome.adapters.rllib")


@pytest.mark.parametrize(
    ("game", "players"), [("zombie-dice-race", 2), ("zombie-dice", 4), ("tokyo", 3), ("infection", 5)]
)
def test_a_random_match_keeps_the_contract(game: str, players: int) -> None:
    env = adapter.ArenaMultiAgentEnv({"game": game, "players": players})
    rng = np.random.default_rng(1)
    observations, infos = env.reset(seed=1)
    sums = dict.fromkeys(env.possible_agents, 0.0)
    for _ in range(100_000):
        (agent,) = observations
        assert env.observation_spaces[agent].contains(observations[agent]) and set(infos) <= set(observations)
        action = int(rng.choice(np.flatnonzero(observations[agent]["action_mask"])))
        observations, rewards, terminated, truncated, infos = env.step({agent: action})
        for one, reward in rewards.items():
            sums[one] += reward
        if terminated["__all__"]:
            break
    assert set(observations) == set(env.possible_agents) and env.agents == []
    # Somebody has won what others have lost.
    assert sum(sums.values()) == pytest.approx(0, abs=1e-5) and max(sums.values()) > 0


def test_an_action_of_somebody_else_is_refused() -> None:
    env = adapter.ArenaMultiAgentEnv({"game": "zombie-dice-race"})
    env.reset(seed=1)
    with pytest.raises(ValueError, match="player_0 is to act"):
        env.step({"player_1": 1})
    with pytest.raises(ValueError, match="expected a game"):
        adapter.ArenaMultiAgentEnv({})


def test_ppo_learns_with_the_masks() -> None:
    pytest.importorskip("torch")
    ppo: Any = importlib.import_module("ray.rllib.algorithms.ppo")
    modules: Any = importlib.import_module("ray.rllib.core.rl_module.rl_module")
    masking: Any = importlib.import_module("ray.rllib.examples.rl_modules.classes.action_masking_rlm")
    multi: Any = importlib.import_module("ray.rllib.core.rl_module.multi_rl_module")
    env = adapter.ArenaMultiAgentEnv({"game": "tokyo", "players": 2})
    spec = modules.RLModuleSpec(
        module_class=masking.ActionMaskingTorchRLModule,
        observation_space=env.observation_spaces["player_0"],
        action_space=env.action_spaces["player_0"],
        model_config={"head_fcnet_hiddens": [32]},
    )
    config = (
        ppo.PPOConfig()
        .environment(adapter.ArenaMultiAgentEnv, env_config={"game": "tokyo", "players": 2})
        .env_runners(num_env_runners=0, rollout_fragment_length=256)
        .training(train_batch_size_per_learner=512, minibatch_size=128, num_epochs=1)
        .multi_agent(policies={"both"}, policy_mapping_fn=lambda *_, **__: "both")
        .rl_module(rl_module_spec=multi.MultiRLModuleSpec(rl_module_specs={"both": spec}))
    )
    algorithm = config.build_algo()
    try:
        result = algorithm.train()
        assert result["env_runners"]["num_episodes"] > 0
        assert np.isfinite(result["learners"]["both"]["policy_loss"])
    finally:
        algorithm.stop()


def test_the_program_in_the_documentation_runs() -> None:
    names = run_program_of("rllib")
    assert names["config"].env is names["ArenaMultiAgentEnv"]
