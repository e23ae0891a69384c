"""What stragglers and failures cost a tournament on many workers: a small discrete-event simulation.

    python python/benches/cluster_sim.py            the table of docs/cluster.md, in some seconds

Assumptions, all of them numbers below:

- a million matches, each 40 ms of a worker's time: a process bot that thinks 1 ms for each of some forty decisions;
- shards of ten seconds at the usual speed, smaller ones at the end, as `necrodome.cluster` cuts them;
- speeds of workers differ: each is drawn once from a log-normal distribution with a deviation of 10%, and a share of them is a straggler, five
  times slower;
- a worker dies after an exponentially distributed time (mean 20 hours, or 1 hour on machines that may be taken away); the shard that it plays is lost
  and handed out again 10 seconds later, when Ray has noticed; another worker takes its place after a minute;
- a shard costs its worker 10 ms beyond playing, and the driver 3 ms, one shard after the other, whatever comes at once;
- when nothing is left to hand out, what takes more than twice its usual time is played a second time by an idle worker (switched off to compare).

Not in it: the network (a shard of process bots is some hundred KB with its replays), a dead head or driver (all that was merged stays), and nodes
of many workers that die together.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass


@dataclass(frozen=True)
class World:
    """What is simulated."""

    workers: int
    matches: int = 1_000_000
    seconds_per_match: float = 0.040
    #: Matches that belong together: no shard is smaller.
    unit: int = 128
    shard_seconds: float = 10.0
    deviation: float = 0.10
    stragglers: float = 0.0
    straggler_factor: float = 5.0
    #: Mean time until a worker dies, in hours; none for never.
    hours_to_death: float | None = None
    noticed_after: float = 10.0
    replaced_after: float = 60.0
    worker_overhead: float = 0.010
    driver_overhead: float = 0.003
    #: Whether what takes too long is played twice at the end.
    copies: bool = True


@dataclass
class Outcome:
    """What came of it."""

    seconds: float
    #: The seconds that the same workers would take if nothing was ever idle, lost or played twice.
    ideal: float
    deaths: int
    shards: int

    @property
    def efficiency(self) -> float:
        return self.ideal / self.seconds


class Night:
    """One night on a cluster. Events are (time, number, what, worker, shard), the earliest first."""

    def __init__(self, world: World, seed: int) -> None:
        self.world, self.chance = world, random.Random(seed)
        self.speeds = [self.new_speed() for _ in range(world.workers)]
        self.idle = list(range(world.workers))
        #: Matches that were never handed out, and shards that were lost.
        self.missing = world.matches
        self.lost: list[int] = []
        #: Of each shard that is not done: its matches, when it was handed out, and who plays it.
        self.playing: dict[int, tuple[int, float, set[int]]] = {}
        self.events: list[tuple[float, int, str, int, int]] = []
        self.now, self.count, self.shards, self.deaths = 0.0, 0, 0, 0
        #: When the driver has merged all that has come.
        self.driver_free = 0.0

    def run(self) -> Outcome:
        ideal = self.world.matches / sum(self.speeds)
        self.hand_out()
        while self.missing or self.lost or self.playing:
            self.now, _, what, worker, shard = heapq.heappop(self.events)
            getattr(self, what)(worker, shard)
            self.hand_out()
        return Outcome(max(self.now, self.driver_free), ideal, self.deaths, self.shards)

    def new_speed(self) -> float:
        """The matches a second of a new worker."""
        world = self.world
        factor = self.chance.lognormvariate(0.0, world.deviation)
        slow = world.straggler_factor if self.chance.random() < world.stragglers else 1.0
        return factor / (world.seconds_per_match * slow)

    def later(self, after: float, what: str, worker: int, shard: int = -1) -> None:
        self.count += 1
        heapq.heappush(self.events, (self.now + after, self.count, what, worker, shard))

    def hand_out(self) -> None:
        while self.idle:
            if self.lost:
                shard = self.lost.pop()
            elif self.missing:
                matches = self.next_size()
                self.missing -= matches
                shard, self.shards = self.shards, self.shards + 1
                self.playing[shard] = (matches, self.now, set())
            elif (late := self.late()) is not None:
                shard = late
            else:
                return
            self.begin(self.idle.pop(), shard)

    def next_size(self) -> int:
        world = self.world
        size = min(world.shard_seconds / world.seconds_per_match, self.missing / (2 * world.workers))
        return min(self.missing, max(int(size) // world.unit, 1) * world.unit)

    def late(self) -> int | None:
        """The shard that has taken too long, if somebody may play it again. While none is late, somebody looks again in a second."""
        if not self.world.copies:
            return None
        alone = [(began, shard) for shard, (_, began, at_it) in self.playing.items() if len(at_it) == 1]
        for began, shard in sorted(alone):
            if self.now - began > 2 * self.playing[shard][0] * self.world.seconds_per_match + 2:
                return shard
        if alone and not any(what == "look" for _, _, what, _, _ in self.events):
            self.later(1.0, "look", -1)
        return None

    def begin(self, worker: int, shard: int) -> None:
        world = self.world
        matches, _, at_it = self.playing[shard]
        self.playing[shard] = (matches, self.now, at_it | {worker})
        took = world.worker_overhead + matches / self.speeds[worker]
        # Death has no memory: it is drawn anew for each shard.
        dies = None if world.hours_to_death is None else self.chance.expovariate(1 / (3600 * world.hours_to_death))
        if dies is not None and dies < took:
            self.later(dies, "die", worker, shard)
        else:
            self.later(took, "finish", worker, shard)

    def look(self, _worker: int, _shard: int) -> None:
        """Nothing has happened but time."""

    def finish(self, worker: int, shard: int) -> None:
        self.idle.append(worker)
        # Whoever comes second was cancelled when the first was merged; here it plays to its end, which is the worse case.
        if self.playing.pop(shard, None) is not None:
            self.driver_free = max(self.driver_free, self.now) + self.world.driver_overhead

    def die(self, worker: int, shard: int) -> None:
        self.deaths += 1
        self.later(self.world.noticed_after, "notice", worker, shard)
        self.later(self.world.replaced_after, "replace", worker)

    def notice(self, worker: int, shard: int) -> None:
        if shard in self.playing:
            self.playing[shard][2].discard(worker)
            if not self.playing[shard][2]:
                self.lost.append(shard)

    def replace(self, worker: int, _shard: int) -> None:
        self.speeds[worker] = self.new_speed()
        self.idle.append(worker)


def simulate(world: World, seed: int) -> Outcome:
    """Plays one night."""
    return Night(world, seed).run()


def main() -> None:
    """Prints the table of docs/cluster.md: the mean of ten nights."""
    cases = [
        ("nothing goes wrong", {}),
        ("2% of the workers are five times slower", {"stragglers": 0.02}),
        ("the same, without second copies", {"stragglers": 0.02, "copies": False}),
        ("a worker dies after 20 hours on average", {"hours_to_death": 20.0}),
        ("a worker dies after 1 hour on average, 2% are slow", {"hours_to_death": 1.0, "stragglers": 0.02}),
        ("the same, with shards of 100 s", {"hours_to_death": 1.0, "stragglers": 0.02, "shard_seconds": 100.0}),
    ]
    print("| a million matches of 40 ms | 50 workers | efficiency | 1,000 workers | efficiency |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, settings in cases:
        cells = []
        for workers in (50, 1000):
            nights = [simulate(World(workers=workers, **settings), seed) for seed in range(10)]
            cells.append(f"{sum(night.seconds for night in nights) / len(nights):.0f} s")
            cells.append(f"{100 * sum(night.efficiency for night in nights) / len(nights):.0f}%")
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
