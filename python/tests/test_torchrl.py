"""TorchRL accepts the specs, resets rows by itself, and never plays what is masked."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from documented import run_program_of

torch: Any = pytest.importorskip("torch", reason="torch is not installed: scripts/test-adapters torchrl does it")
torch_envs: Any = pytest.importorskip(
    "torchrl.envs", reason="TorchRL is not installed: scripts/test-adapters torchrl does it"
)
adapter: Any = importlib.import_module("necrodome.adapters.torchrl")


def test_the_specs_are_true() -> None:
    torch_envs.check_env_specs(adapter.ArenaTorchEnv("zombie-dice-solo", 8), seed=1)


def test_rows_that_have_ended_begin_anew() -> None:
    env = adapter.ArenaTorchEnv("zombie-dice-solo", 64, seed=3)
    rollout = env.rollout(50, break_when_any_done=False)
    assert rollout.batch_size == torch.Size([64, 50])
    over = rollout["next", "terminated"][:, :-1, 0]
    assert over.any() and not over.all()
    # The row after an end is the start of a turn: nothing rolled, all dice in the cup.
    first = rollout["observation"][0, 0]
    assert (rollout["observation"][:, 1:][over] == first).all()
    # And any other row goes on from what the step gave.
    assert (
        rollout["observation"][:, 1:][~over] == rollout["next", "observation"][:, :-1][~over]
    ).all()


def test_masked_actions_are_never_played() -> None:
    env = torch_envs.TransformedEnv(
        adapter.ArenaTorchEnv("zombie-dice-solo", 64, seed=3, first_roll="mandatory"), torch_envs.ActionMask()
    )
    rollout = env.rollout(30, break_when_any_done=False)
    legal = rollout["action_mask"].gather(-1, rollout["action"].unsqueeze(-1))
    assert legal.all()
    # The first roll of a turn is the only legal action there; later both are, and both are played.
    assert not rollout["action_mask"].all() and (rollout["action"] == 0).any()


def test_a_seed_gives_the_same_episodes() -> None:
    def played() -> Any:
        env = adapter.ArenaTorchEnv("zombie-dice-solo", 16)
        env.set_seed(7)
        torch.manual_seed(7)
        return env.rollout(20, break_when_any_done=False)["next", "observation"]

    assert (played() == played()).all()


def test_the_program_in_the_documentation_runs() -> None:
    names = run_program_of("torchrl")
    assert names["rollout"].batch_size == (64, 20)
