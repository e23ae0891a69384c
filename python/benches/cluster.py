"""What it costs to play a tournament in parts, measured on this machine.

    python python/benches/cluster.py                        all of it; Ray only where it is installed
    python python/benches/cluster.py --scale 0.1 --check    a tenth of the blocks; fails if a goal is missed

The package has to be built with optimisation: `pip install './python[ray]'`. Every ratio compares runs that take turns, the least of
each; all hashes must be the same. Goals are about time of the processor, since that is the same on a busy machine, but for Ray, where
the clock counts. The clock is told as well.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Ray keeps to 127.0.0.1.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import necrodome
from necrodome import _native
from necrodome.play import launcher, order

GAME = "zombie-dice"
BOT = """\
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"type": "ready", "protocol": 1, "deterministic": True}
    elif message["type"] == "decide":
        go = message["view"]["turn"]["brains"] < 2
        answer = {"id": message["id"], "action": {"type": "go" if go else "stop"}}
    else:
        continue
    print(json.dumps(answer), flush=True)
"""


class Case:
    """A tournament, and its plan."""

    def __init__(self, bots: list[str], blocks: int, parts: int) -> None:
        self.bots, self.blocks, self.parts = bots, blocks, parts
        self.plan = f"plan-{len(bots)}-{blocks}.toml"
        more = {
            "blocks": blocks, "format": None, "seats": None, "until_decided": False, "margin": None, "test": None,
            "rank_by": "luck-adjusted", "threads": None, "store": None, "only": [], "new_version": False, "plan_out": self.plan,
        }
        entries = [{"name": None, "text": text} for text in bots]
        wanted = order(GAME, entries, (7, True, None), None, ("limits", False, ()), {}, more)
        _native.play(wanted, [None] * len(bots), True, lambda *_: None)
        info = json.loads(_native.plan_info(self.plan, launcher()))
        self.unit, self.matches = info["unit"], info["matches_per_block"] * blocks

    def plain(self, threads: int) -> str:
        with tempfile.TemporaryDirectory() as folder:
            report = necrodome.tournament(
                GAME, self.bots, blocks=self.blocks, seed=7, public_dice=True, threads=threads, sandbox="limits",
                store=f"{folder}/store", progress=False,
            )
        return str(report["hash"])

    def shards(self) -> list[tuple[bytes, str]]:
        size = -(-self.blocks // self.parts // self.unit) * self.unit
        ends = [(first, min(first + size, self.blocks)) for first in range(0, self.blocks, size)]
        return [(_native.play_shard(self.plan, first, end, launcher(), 1), f"{first}") for first, end in ends]

    def merge(self, shards: list[tuple[bytes, str]]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            merger = _native.Merger(f"{folder}/store", self.plan)
            for shard in shards:
                merger.add([shard])
            return str(json.loads(merger.report())["hash"])

    def in_parts(self) -> str:
        return self.merge(self.shards())


class Cost:
    """What a run takes: seconds on the clock, and of the processor, its children's included."""

    def __init__(self, wall: float, cpu: float) -> None:
        self.wall, self.cpu = wall, cpu


def cpu_seconds() -> float:
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


def fastest(rounds: int, *runs: Callable[[], str]) -> list[Cost]:
    """The least that each takes, in turns. All give the same hash."""
    best = [Cost(float("inf"), float("inf")) for _ in runs]
    hashes = set()
    for _ in range(rounds):
        for least, run in zip(best, runs):
            began, spent = time.perf_counter(), cpu_seconds()
            hashes.add(run())
            least.wall = min(least.wall, time.perf_counter() - began)
            least.cpu = min(least.cpu, cpu_seconds() - spent)
    assert len(hashes) == 1, hashes
    return best


class Goals:
    """Figures with what they should be."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def tell(self, what: str, figure: str, goal: str, reached: bool) -> None:
        print(f"{what:<66} {figure:>30}   goal {goal}{'' if reached else '   MISSED'}", flush=True)
        if not reached:
            self.missed.append(what)


def measure_ray(goals: Goals, scale: float) -> None:
    try:
        import ray
        from ray.cluster_utils import Cluster
    except ImportError:
        print("Ray is not installed: its figures are left out")
        return
    from necrodome import cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "node_ip_address": "127.0.0.1"})
    try:
        ray.init(address=nodes.address, log_to_driver=False, logging_level="warning")
        seen: list[tuple[int, float]] = []
        usual = cluster.Sizes.measured

        def measured(self: Any, blocks: int, seconds: float) -> None:
            seen.append((blocks, seconds))
            usual(self, blocks, seconds)

        setattr(cluster.Sizes, "measured", measured)

        def on_ray(case: Case, seconds: float) -> str:
            with tempfile.TemporaryDirectory() as folder:
                settings = cluster.Settings(address=nodes.address, progress=False, seconds=seconds)
                return str(cluster.play_plan(case.plan, Path(folder, "store"), settings)["hash"])

        # Workers start, and import the package.
        on_ray(Case(["greedy", "cautious"], 2000, 1), 0.1)
        small = Case(["greedy", "cautious"], int(200_000 * scale), 1)
        seen.clear()
        began = time.perf_counter()
        on_ray(small, 0.2)
        wall = time.perf_counter() - began
        overhead = (2 * wall - sum(seconds for _, seconds in seen)) / len(seen)
        goals.tell(f"Ray, for each of {len(seen)} small shards, of a worker's time", f"{1000 * overhead:.1f} ms", "< 100 ms", overhead < 0.1)
        large = Case(["greedy", "./bots/mine.py"], int(12_800 * scale), 1)
        threads, workers = fastest(2, lambda: large.plain(2), lambda: on_ray(large, 2.0))
        two_threads, share = threads.wall, threads.wall / workers.wall
        goals.tell(
            f"two workers of Ray against two threads ({two_threads:.1f} s)", f"{100 * share:.0f}%", ">= 90%", share >= 0.9
        )
    finally:
        ray.shutdown()
        nodes.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    goals = Goals()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("bots").mkdir()
        Path("bots/mine.py").write_text(BOT)
        for name, case in (
            ("built-in bots", Case(["greedy", "cautious"], int(400_000 * given.scale), 10)),
            ("a program", Case(["greedy", "./bots/mine.py"], int(6400 * given.scale), 10)),
        ):
            plain, parts = fastest(given.rounds, lambda: case.plain(1), case.in_parts)
            over, by_clock = parts.cpu / plain.cpu - 1, parts.wall / plain.wall - 1
            told = f"{name}: {case.parts} shards and merging, over one run ({plain.cpu:.1f} s)"
            goals.tell(told, f"{100 * over:+.1f}% (clock {100 * by_clock:+.1f}%)", "< 3%", over < 0.03)
            shards = case.shards()
            size = sum(len(shard) for shard, _ in shards)
            (merging,) = fastest(given.rounds, lambda: case.merge(shards))
            speed, by_clock = case.matches / merging.cpu / 1e6, case.matches / merging.wall / 1e6
            told = f"{name}: merging, {size / case.matches:.1f} bytes a match, report included"
            # Programs have replays, which are kept. Two million were wanted there, too; what is checked is that merging keeps up with play.
            times = plain.cpu / merging.cpu
            reached = speed >= 2 if name == "built-in bots" else times >= 100
            goal = ">= 2 million/s" if name == "built-in bots" else f"100 times as fast as play: {times:.0f}"
            goals.tell(told, f"{speed:.2f} million/s (clock {by_clock:.2f})", goal, reached)
        measure_ray(goals, given.scale)
        os.chdir("/")
    if given.check and goals.missed:
        raise SystemExit("missed: " + "; ".join(goals.missed))


if __name__ == "__main__":
    main()
