"""Modules of torch are policies. ``scripts/test`` runs this where torch is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import necrodome

torch: Any = pytest.importorskip("torch")


def network(fields: int, actions: int) -> Any:
    torch.manual_seed(1)
    layers = [torch.nn.Linear(fields, 32), torch.nn.Tanh(), torch.nn.Dropout(), torch.nn.Linear(32, actions)]
    return torch.nn.Sequential(*layers)


def test_a_module_is_a_policy() -> None:
    module = network(8, 2)
    module[1].eval()
    result = necrodome.evaluate(module, "zombie-dice-solo", answers="logits")
    # As it was: dropout is on again, but not where it was off.
    assert module.training and module[2].training and not module[1].training
    module.eval()

    def by_hand(obs: Any) -> Any:
        return torch.softmax(module(torch.as_tensor(obs, dtype=torch.float32)), dim=1)

    # Tensors with a gradient are read, too.
    assert necrodome.evaluate(by_hand, vectorized=True).value == pytest.approx(result.value, abs=1e-4)
    greedy = necrodome.evaluate(module, "zombie-dice-solo", answers="q")
    assert 0 <= greedy.value <= greedy.best and greedy.value != result.value
    one = necrodome.evaluate(network(8, 1), answers="logits")
    assert 0 < one.value < one.best
    assert necrodome.evaluate(network(8, 2).double(), answers="logits").value > 0


def test_the_race_of_two_networks() -> None:
    one, other = network(10, 2), network(10, 2)
    result = necrodome.evaluate(one, "zombie-dice-race", opponent=other, answers="logits")
    assert result.value == pytest.approx(0.5, abs=1e-4) and result.regret > 0


def test_dropout_that_is_on_is_chance() -> None:
    module = network(8, 2)

    def restless(obs: Any) -> Any:
        with torch.no_grad():
            return module(torch.as_tensor(obs, dtype=torch.float32))

    with pytest.raises(ValueError, match="answers differently when it is asked again"):
        necrodome.evaluate(restless, vectorized=True, answers="logits")
    assert np.isfinite(necrodome.evaluate(module, answers="logits").value)
