"""Every example runs, and what it claims is so. Those that would be slow run with fewer rounds."""

import ast
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(monkeypatch: pytest.MonkeyPatch, name: str, **settings: int) -> dict[str, Any]:
    for key, value in settings.items():
        monkeypatch.setenv(key, str(value))
    return runpy.run_path(str(EXAMPLES / name))


def test_q_learning_comes_within_two_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    names = run(monkeypatch, "q_learning.py", EPISODES=30_000)
    assert names["learned"].best == pytest.approx(2.258550969971, abs=1e-12)
    assert names["share"] > 0.98
    assert names["learned"].value <= names["learned"].best


def test_policy_gradients_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    names = run(monkeypatch, "vector_policy.py", STEPS=200)
    assert names["before"].value < 0.75
    assert names["after"].value > 1.9
    assert names["firm"].value > 0.95 * names["firm"].best


def test_exact_values(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    names = run(monkeypatch, "exact_values.py")
    assert "a perfect player scores 2.258551" in capsys.readouterr().out
    assert 0 < names["rule"].value < 0.5 < names["rule"].best_response.mean


def test_search_knows_the_dice(monkeypatch: pytest.MonkeyPatch) -> None:
    names = run(monkeypatch, "search.py", EPISODES=300)
    assert names["clairvoyant"] > names["solo"].value + 0.5


def test_the_race_in_pettingzoo_is_near_its_exact_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    names = run(monkeypatch, "pettingzoo_race.py", MATCHES=200)
    assert abs(names["share"] - names["exact"].value) < 4 * names["error"]
    assert names["exact"].value < 0.5


def test_a_party_has_winners_and_losers(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = run(monkeypatch, "infection_party.py")["outcome"]
    assert len(outcome["places"]) == 8 and min(outcome["places"]) == 1 < max(outcome["places"])


def test_tournament(monkeypatch: pytest.MonkeyPatch) -> None:
    names = run(monkeypatch, "tournament.py", BLOCKS=20)
    first, second = names["ledger"].totals
    assert first["regret"] < second["regret"]
    assert {row["name"] for row in names["report"]["standings"]} == {"mine", "timid", "greedy", "perfect"}
    assert names["mine"].value > 0.95 * names["mine"].best


def test_a_model_that_plays_in_words_has_its_price(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MODEL_URL", raising=False)
    names = run(monkeypatch, "text_policy.py", MATCHES=10)
    # Most of its decisions are right, but four brains are lost.
    assert names["bad"] == {"unparsable": names["bad"]["unparsable"]}
    assert 0.01 < sum(names["regrets"]) / len(names["regrets"]) < 0.2 and 0.5 < names["perfect"] < 1
    assert "10 matches of zombie-dice-race" in capsys.readouterr().out


TORCH = "torch is not installed: ./scripts/test runs these with Debian's"


def test_dqn_learns_with_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason=TORCH)
    names = run(monkeypatch, "dqn_solo.py", STEPS=300)
    # Who rolls or stops at random gets 0.69, and who never rolls gets nothing.
    assert 1.0 < names["learned"].value <= names["learned"].best


def test_ppo_learns_to_race_with_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason=TORCH)
    names = run(monkeypatch, "ppo_race.py", UPDATES=10, ROWS=64)
    # Rolling or stopping at random wins hardly ever.
    assert 0.15 < names["after"].value < names["after"].best


def test_self_play_in_tokyo_beats_random_play_with_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason=TORCH)
    names = run(monkeypatch, "tokyo_self_play.py", UPDATES=4, EXACT=0)
    assert names["won"] > names["lost"] > 0


def test_actors_on_a_cluster_learn_the_same_weights_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    ray = pytest.importorskip("ray", reason="Ray is not installed: scripts/test-cluster runs this")
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "node_ip_address": "127.0.0.1"})
    try:
        nodes.add_node(num_cpus=1, node_ip_address="127.0.0.1")
        for key, value in {"STEPS": "200", "ACTORS": "3", "RAY_ADDRESS": nodes.address}.items():
            monkeypatch.setenv(key, value)
        # As a script: what is in a script travels to the workers.
        names = runpy.run_path(str(EXAMPLES / "ray_policy.py"), run_name="__main__")
    finally:
        ray.shutdown()
        nodes.shutdown()
    assert names["after"].value > 1.7
    assert names["firm"].value > 0.93 * names["firm"].best
    # The same actors without Ray.
    actors = [names["Actor"](number) for number in range(3)]
    weights = momentum = np.zeros(7)
    for _ in range(200 // 4):
        momentum = 0.9 * momentum + np.mean([actor.gradient(weights, 4) for actor in actors], axis=0)
        weights = weights + 0.3 * momentum
    assert weights.tolist() == names["weights"].tolist()


def test_my_bot_is_a_program_of_the_arena() -> None:
    import necrodome

    played = necrodome.match("zombie-dice-race", [str(EXAMPLES / "my_bot.py"), "cautious"], seed=1)
    assert played.faults == [] and len(played.winners) == 1


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_is_made_of_cells(path: Path) -> None:
    text = path.read_text()
    assert ast.get_docstring(ast.parse(text))
    assert text.count("\n# %% ") >= 2
    assert max(map(len, text.splitlines())) <= 110


def test_all_examples_are_tested_here() -> None:
    here = Path(__file__).read_text() + (Path(__file__).parent / "test_models.py").read_text()
    assert [path.name for path in EXAMPLES.glob("*.py") if f'"{path.name}"' not in here] == []


def test_an_example_runs_as_a_script() -> None:
    environment = {**os.environ, "MATCHES": "2"}
    subprocess.run(
        [sys.executable, EXAMPLES / "pettingzoo_race.py"], check=True, env=environment, capture_output=True
    )
