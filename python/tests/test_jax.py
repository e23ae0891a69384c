"""Arrays go to JAX and torch by DLPack, and those of one step are never written by the next."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from documented import run_program_of

import necrodome

jax: Any = pytest.importorskip("jax", reason="jax is not installed: ./scripts/test does it")
jnp: Any = importlib.import_module("jax.numpy")
adapter: Any = importlib.import_module("necrodome.adapters.jax")


@pytest.mark.parametrize("observation", ["vector", "dict"])
def test_a_jax_environment_plays_the_same_episodes(observation: str) -> None:
    words = {"seed": 5, "observation": observation, "autoreset_mode": "same_step"}
    ours, theirs = necrodome.make_vec("zombie-dice-solo", 64, copy=True, **words), adapter.make_vec(
        "zombie-dice-solo", 64, **words
    )
    seen, shown = ours.reset()[0], theirs.reset()[0]
    kept = []
    for step in range(20):
        np.testing.assert_equal(jax.tree.map(np.asarray, shown), seen)
        kept.append((seen, shown))
        actions = jnp.arange(64) % (step % 5 + 2) > 0
        seen, *rest, _ = ours.step(np.asarray(actions))
        shown, *others, infos = theirs.step(actions)
        for mine, other in zip(rest, others):
            assert isinstance(other, jax.Array)
            np.testing.assert_array_equal(mine, np.asarray(other))
        if "final_obs" in infos:
            assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(infos["final_obs"]))
    # Arrays of earlier steps are as they were.
    for seen, shown in kept:
        np.testing.assert_equal(jax.tree.map(np.asarray, shown), seen)


def test_observations_are_shared_not_copied() -> None:
    envs = necrodome.make_vec("zombie-dice-solo", 64, seed=1, copy=True)
    observations, _ = envs.reset()
    exported = np.from_dlpack(observations)
    assert np.shares_memory(exported, observations)
    # Only JAX may ask for more than numpy: memory that is aligned to its vectors.
    assert adapter.as_jax(observations).dtype == observations.dtype


def test_arrays_that_would_change_are_refused() -> None:
    with pytest.raises(ValueError, match="copy=True"):
        adapter.make_vec("zombie-dice-solo", 4, copy=False)


def test_a_jitted_policy_plays() -> None:
    envs = adapter.make_vec("zombie-dice-solo", 512, seed=2, autoreset_mode="same_step")
    act = jax.jit(lambda seen: (seen[:, 0] < 3) & (seen[:, 1] < 2))
    observations, _ = envs.reset()
    scores, episodes = 0.0, 0
    for _ in range(100):
        observations, rewards, terminations, _, _ = envs.step(act(observations))
        scores, episodes = scores + float(rewards.sum()), episodes + int(terminations.sum())
    exact = necrodome.evaluate(lambda seen: seen[0] < 3 and seen[1] < 2)
    assert scores / episodes == pytest.approx(exact.value, abs=0.1)


def test_the_program_in_the_documentation_runs() -> None:
    names = run_program_of("jax")
    assert names["observations"].shape == (4096, 8)
