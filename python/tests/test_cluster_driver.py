"""What the driver of a cluster does with answers and wishes, without Ray."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

import necrodome
from necrodome import _native, cluster
from necrodome.play import launcher, order


class RayError(Exception):
    pass


class TaskCancelledError(RayError):
    pass


class Ray:
    """Tasks that have all come back, each with an answer or an error."""

    class exceptions:
        RayError, TaskCancelledError = RayError, TaskCancelledError

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers

    def wait(self, tasks: list[str], **_: Any) -> tuple[list[str], list[str]]:
        return tasks, []

    def get(self, task: str) -> Any:
        answer = self.answers[task]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def cancel(self, task: str, **_: Any) -> None:
        pass


class Merging:
    """A store that does not agree with a forged shard."""

    def __init__(self) -> None:
        self.store, self.state, self.merged = "night.store", {"gaps": [(0, 12)]}, list[bytes]()

    def add(self, shards: list[tuple[bytes, str]]) -> None:
        if any(contents == b"forged" for contents, _ in shards):
            raise RuntimeError("block 4 was played twice")
        self.merged.extend(contents for contents, _ in shards)


class Head:
    def check(self, silence: float) -> None:
        pass


def driver(answers: dict[str, Any]) -> Any:
    driven: Any = object.__new__(cluster._Driver)
    driven.ray, driven.merging, driven.head, driven.settings = Ray(answers), Merging(), Head(), cluster.Settings()
    driven.sizes, driven.refused, driven.used = cluster.Sizes(1, 10), {}, set()
    driven.running = {task: cluster._Task((4 * place, 4 * place + 4), 0.0) for place, task in enumerate(answers)}
    return driven


def answer(contents: bytes) -> dict[str, Any]:
    return {"node": "n", "name": "some node", "refused": None, "first": 0, "end": 4, "bytes": contents, "seconds": 1.0}


@pytest.mark.parametrize(
    ("bad", "why"), [(RayError("the worker died"), "blocks 4..8 could not be played"), (answer(b"forged"), "two nodes disagree")]
)
def test_one_bad_shard_does_not_lose_those_that_came_with_it(bad: Any, why: str) -> None:
    driven = driver({"a": answer(b"a"), "b": bad, "c": answer(b"c")})
    with pytest.raises(cluster.ClusterError, match=why):
        driven.collect(timeout=0)
    assert driven.merging.merged == [b"a", b"c"] and not driven.running


def plan(folder: Path, **limits: int) -> str:
    more: dict[str, Any] = {
        "blocks": 4, "format": None, "seats": None, "until_decided": False, "margin": None, "test": None,
        "rank_by": "luck-adjusted", "threads": None, "store": None, "only": [], "new_version": False,
        "plan_out": str(folder / "plan.toml"),
    }
    entries = [{"name": None, "text": text} for text in ("greedy", "cautious")]
    wanted = order("zombie-dice-race", entries, (7, True, None), limits, ("auto", False, ()), {}, more)
    _native.play(wanted, [None, None], True, lambda *_: None)
    return str(folder / "plan.toml")


def test_limits_that_a_plan_raises_must_be_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = plan(tmp_path, memory_mb=1025, restarts=4)
    for allowed, flags in (({}, "--memory-mb 1025 --restarts 4"), ({"restarts": 4}, "add --memory-mb 1025")):
        with pytest.raises(ValueError, match=flags):
            _native.plan_info(wanted, launcher(), cluster.Settings(limits=allowed).allows)
    seen: list[cluster.Settings] = []

    def play(_plan: str, _store: str, settings: cluster.Settings) -> None:
        seen.append(settings)
        raise cluster.ClusterError("not today")

    monkeypatch.setattr(cluster, "play_plan", play)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setenv("RAY_NUM_REDIS_GET_RETRIES", "5")
    assert cluster.main([wanted, "--store", "s", "--memory-mb", "1025", "--restarts", "4"]) == 1
    assert seen[0].limits == {"memory_mb": 1025, "restarts": 4}
    _native.plan_info(wanted, launcher(), seen[0].allows)
    # Each limit has a flag.
    _native.plan_info(wanted, launcher(), cluster.Settings(limits=dict.fromkeys(cluster._LIMITS, 1_000_000)).allows)


def test_a_wish_that_a_cluster_cannot_fulfil_is_refused() -> None:
    play: Any = necrodome.tournament
    for wish in ("threads", "on_error"):
        with pytest.raises(ValueError, match=f"{wish} means nothing on a cluster"):
            play("tokyo", ["angry", "random"], cluster="ray", **{wish: {"threads": 2, "on_error": "fault"}[wish]})
    with pytest.raises(ValueError, match="resources: expected a number above 0 of java, such as 0.001, got 0"):
        play("tokyo", ["angry", "random"], cluster="ray", blocks=4, resources={"java": 0})


def test_without_a_store_no_file_is_named_that_is_gone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(*_: Any) -> None:
        raise cluster.ClusterError("no node is left")

    monkeypatch.setattr(cluster, "_play_missing", fail)
    wanted = plan(tmp_path)
    with pytest.raises(cluster.ClusterError, match="no node is left\nnothing is kept: give store= to keep") as refused:
        cluster.play_plan(wanted, None)
    assert "/" not in str(refused.value)
    with pytest.raises(cluster.ClusterError, match=f"0 of 4 blocks are merged in {tmp_path / 'store'}"):
        cluster.play_plan(wanted, tmp_path / "store")
