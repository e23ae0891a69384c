"""PufferLib steps the environments in its own buffers, in one process and in several."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documented import run_program_of

import necrodome


@pytest.fixture(autouse=True, scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """PufferLib links a folder into the current one when it is imported."""
    here = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("pufferlib"))
    yield
    os.chdir(here)


@pytest.fixture
def vector() -> Any:
    pytest.importorskip("pufferlib", reason="PufferLib is not installed: scripts/test-adapters pufferlib does it")
    return importlib.import_module("pufferlib.vector")


@pytest.fixture
def adapter(vector: Any) -> Any:
    return importlib.import_module("necrodome.adapters.pufferlib")


def test_rows_are_written_into_the_buffers_of_the_caller(adapter: Any) -> None:
    rows = 32
    envs = necrodome.make_vec("zombie-dice-solo", rows, autoreset_mode="same_step", copy=True)
    space = envs.single_observation_space
    buffers = {
        "observations": np.zeros((rows, *space.shape), space.dtype),  # type: ignore[misc]
        "rewards": np.zeros(rows, np.float32),
        "terminals": np.zeros(rows, bool),
        "truncations": np.zeros(rows, bool),
        "masks": np.ones(rows, bool),
        "actions": np.zeros(rows, np.int32),
    }
    puffer = adapter.ArenaPufferEnv("zombie-dice-solo", rows, buf=buffers)
    observations, infos = puffer.reset(seed=9)
    assert observations is buffers["observations"] and infos == []
    np.testing.assert_array_equal(buffers["observations"], envs.reset(seed=9)[0])
    rng, reports = np.random.default_rng(9), []
    scores, episodes = 0.0, 0
    for _ in range(200):
        actions = (rng.random(rows) < 0.8).astype(np.int32)
        *_, infos = puffer.step(actions)
        seen, rewards, terminated, truncated, _ = envs.step(actions)
        np.testing.assert_array_equal(buffers["observations"], seen)
        np.testing.assert_array_equal(buffers["rewards"], rewards)
        np.testing.assert_array_equal(buffers["terminals"], terminated)
        if not reports:
            scores, episodes = scores + float(rewards.sum()), episodes + int(terminated.sum())
            reports += infos
    (report,) = reports[:1]
    assert report["episodes"] == episodes and 1 < report["episode_length"] < 10
    # What unfinished episodes have got so far is not in the report.
    assert report["episode_return"] == pytest.approx(scores / episodes, abs=rows * 13 / episodes)


@pytest.mark.parametrize("backend", ["Serial", "Multiprocessing"])
def test_the_vectorisation_of_the_library_takes_it(vector: Any, adapter: Any, backend: str) -> None:
    words = {"game": "zombie-dice-solo", "num_envs": 8}
    more = {"overwork": True} if backend == "Multiprocessing" else {}
    envs = vector.make(
        adapter.ArenaPufferEnv, env_kwargs=words, num_envs=2, backend=getattr(vector, backend), **more
    )
    try:
        observations, _ = envs.reset(seed=1)
        assert observations.shape == (16, 8)
        episodes = 0
        for _ in range(20):
            observations, rewards, terminals, *_ = envs.step(envs.action_space.sample())
            episodes += int(terminals.sum())
        assert episodes > 16
    finally:
        envs.close()


def test_several_seats_need_opponents(adapter: Any) -> None:
    with pytest.raises(ValueError, match="opponent="):
        adapter.ArenaPufferEnv("zombie-dice-race", 4)


def test_the_program_in_the_documentation_runs(adapter: Any) -> None:
    envs = run_program_of("pufferlib")["envs"]
    assert envs.reset()[0].shape == (2048, 8)
    envs.close()
