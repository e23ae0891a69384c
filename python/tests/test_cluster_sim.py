"""The simulation of a cluster comes to what can be computed without it."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

SIM: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[1] / "benches" / "cluster_sim.py"))
World, simulate = SIM["World"], SIM["simulate"]

#: Nothing differs, nothing fails, nothing costs anything.
PLAIN = {"deviation": 0.0, "worker_overhead": 0.0, "driver_overhead": 0.0}


def test_equal_workers_take_the_work_divided_by_their_number() -> None:
    # 64 units for each of ten workers, so that shards come out even.
    night = simulate(World(workers=10, matches=10 * 64 * 128, shard_seconds=128 * 0.04, **PLAIN), seed=1)
    assert night.seconds == pytest.approx(64 * 128 * 0.04)
    assert night.shards == 640 and night.efficiency == pytest.approx(1)


def test_overheads_add_up() -> None:
    world = World(workers=1, matches=100 * 128, shard_seconds=128 * 0.04, **{**PLAIN, "worker_overhead": 0.5})
    assert simulate(world, seed=1).seconds == pytest.approx(100 * (128 * 0.04 + 0.5))
    # A driver that is too slow decides alone: it merges one shard after the other, and the first comes after its time.
    world = World(workers=100, matches=1000 * 128, shard_seconds=128 * 0.04, **{**PLAIN, "driver_overhead": 1.0})
    assert simulate(world, seed=1).seconds == pytest.approx(128 * 0.04 + 1000)


def test_deaths_cost_what_renewal_theory_says() -> None:
    # A shard of c seconds that begins anew whenever its worker dies (at a rate r), after d seconds, takes (exp(rc) - 1)(1/r + d) on average.
    from math import exp

    c, r, d = 128 * 0.04, 1 / 36.0, 7.0
    world = World(
        workers=1, matches=4000 * 128, shard_seconds=c, hours_to_death=0.01, noticed_after=d, replaced_after=d, copies=False, **PLAIN
    )
    night = simulate(world, seed=1)
    expected = 4000 * (exp(r * c) - 1) * (1 / r + d)
    assert night.seconds == pytest.approx(expected, rel=0.03)
    assert night.deaths == pytest.approx(4000 * (exp(r * c) - 1), rel=0.1)


def test_copies_pay_when_somebody_is_slow() -> None:
    slow = {"stragglers": 0.05, "matches": 200_000, "workers": 100}
    with_copies = [simulate(World(**slow), seed).seconds for seed in range(5)]
    without = [simulate(World(**slow, copies=False), seed).seconds for seed in range(5)]
    assert sum(with_copies) < sum(without)
