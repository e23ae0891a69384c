"""Tournaments on a Ray cluster: the results, bit for bit, that one machine would get.

``python -m necrodome.cluster PLAN --address auto --store night.store`` plays the plan that ``necrodome tournament ... --plan-out PLAN`` has
written; :func:`necrodome.tournament` with ``cluster="ray"`` plans and plays in one call. See ``docs/cluster.md``.

Ray decides where a shard is played, and plays it again if its worker or its node dies. This module cuts the blocks into shards of about ten
seconds, and merges them into one store as they arrive. Merged shards are on disk: after Ctrl-C, or if the driver or the head dies, the
same command resumes with the missing blocks.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import math
import os
import re
import shlex
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _arena, _native
from .play import Report, launcher

__all__ = ["ClusterError", "Settings", "play_plan"]

#: A half-open range of blocks.
Blocks = tuple[int, int]

#: How much of a custom resource a shard takes: enough to be placed by it, too little to be held up by it.
_PINCH = 0.001
#: How many names of files that are not packed are printed.
_MOST_TOLD = 8
#: The limits of programs that a plan can raise.
_LIMITS = (
    "decision_ms", "match_ms", "idle_ms", "start_ms", "memory_mb", "processes", "files", "file_mb", "line_bytes", "wall_factor",
    "restarts", "decision_fuel_m", "match_fuel_m", "start_fuel_m", "wasm_memory_mb",
)
#: What is said of a tournament without a store that cannot go on.
_NOT_KEPT = "nothing is kept: give store= to keep what is merged, and to go on with it"
#: How long the head may be silent before the driver looks whether it still listens, in seconds.
_SILENCE = 3.0


class ClusterError(RuntimeError):
    """The cluster cannot go on. The merged shards are in the store."""


@dataclass(frozen=True)
class Settings:
    """Settings for spreading a tournament over a cluster. Results do not depend on them."""

    #: The cluster: ``"auto"``, or the ``host:port`` of its head.
    address: str = "auto"
    #: Custom resources that a node must have, with what a shard takes of them: ``{"java": 0.001}``.
    resources: Mapping[str, float] = field(default_factory=dict)
    #: How long a shard should take, in seconds.
    seconds: float = 10.0
    #: How often Ray plays a shard again whose worker or node has died.
    retries: int = 5
    #: How long to wait for a node when none is left, in seconds.
    patience: float = 60.0
    #: How often standings are printed, in seconds; 0 for never.
    standings: float = 60.0
    #: Whether a bar shows how far it is.
    progress: bool = True
    #: Whether nodes may have another build of the driver's version, such as one for another processor.
    any_build: bool = False
    #: How many megabytes all bots together may take.
    max_mb: int = 64
    #: The least confinement of programs that you allow: ``"full"``, ``"strict"`` (by default) or ``"limits"``.
    sandbox: str | None = None
    #: Whether the plan may let programs reach the network.
    allow_network: bool = False
    #: The environment variables that the plan may give to programs.
    pass_env: Sequence[str] = ()
    #: The highest limits of programs that you allow, like the table ``[limits]`` of a tournament's file; by default the usual ones.
    limits: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, amount in self.resources.items():
            if not amount > 0:
                raise ValueError(f"resources: expected a number above 0 of {name}, such as {_PINCH}, got {amount}")

    @property
    def allows(self) -> tuple[str | None, bool, list[str], dict[str, int]]:
        """What a plan may ask for: it may be a stranger's."""
        return self.sandbox, self.allow_network, list(self.pass_env), dict(self.limits)


def play_plan(
    plan: str | os.PathLike[str], store: str | os.PathLike[str] | None, settings: Settings | None = None
) -> Report:
    """Plays a plan on a Ray cluster into a store, or resumes it, and returns the report. Without a store nothing is kept.

    Ctrl-C stops it: ``KeyboardInterrupt`` is raised once all finished shards are merged. A :class:`ClusterError` says why the cluster
    cannot go on; a ``ValueError`` or ``OSError`` says what is wrong with the plan or the store.
    """
    _arena.need()
    plan = os.path.abspath(plan)
    settings = settings or Settings()
    with ExitStack() as opened:
        if store is None:
            path = opened.enter_context(tempfile.TemporaryDirectory(prefix="necrodome-store-")) + "/store"
        else:
            path = os.path.abspath(store)
        # Closed at once: else an error that somebody keeps would keep the store from the next call.
        merging = opened.enter_context(closing(_Merging(path, plan)))
        if not merging.state["complete"]:
            try:
                _play_missing(plan, merging, settings)
            except ClusterError as error:
                of = merging.state["of"]
                kept = _NOT_KEPT if store is None else f"{of - merging.missing} of {of} blocks are merged in {path}"
                raise ClusterError(f"{error}\n{kept}") from error
        return merging.report()


def _play_missing(plan: str, merging: _Merging, settings: Settings) -> None:
    """Plays the blocks that are missing in a store."""
    info = json.loads(_native.plan_info(plan, launcher(), settings.allows))
    if info["sandbox"] is not None:
        gifts = ["the network"] * info["gifts"]["network"] + info["gifts"]["environment"]
        given = f", and given {', '.join(gifts)}" if gifts else ""
        print(f"programs are confined at the level {info['sandbox']}{given}", file=sys.stderr)
    pack, bots, left_out = _native.pack_plan(plan, launcher(), settings.max_mb << 20)
    if merging.merger.bots() not in (None, bots):
        raise ValueError(
            f"the files beside the bots are not those that the blocks in {merging.store} were played with: "
            "restore them, or begin a new store"
        )
    if left_out:
        told = ", ".join(left_out[:_MOST_TOLD]) + (", ..." if len(left_out) > _MOST_TOLD else "")
        print(f"not packed: {told}", file=sys.stderr)
    merging.bots = bots
    with _connected(settings.address) as ray:
        driver = _Driver(ray, settings, info, merging, pack)
        try:
            driver.run()
        finally:
            driver.end()


@functools.cache
def build() -> str:
    """The fingerprint of this installation: a hash of its Python files and its native module, since two builds may have the same version."""
    folder = Path(__file__).parent
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".so"):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
            digest.update(hashlib.blake2b(path.read_bytes()).digest())
    return digest.hexdigest()


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """Connects Ray to the cluster for a while. An existing connection is used, and stays open."""
    try:
        import ray
    except ImportError as error:
        raise ClusterError("Ray is not installed: pip install 'necrodome[ray]'") from error
    if ray.is_initialized():
        yield ray
        return
    if address not in ("auto", "local") and not re.fullmatch(r"[^/\s]+:\d+", address):
        raise ValueError(f"address: expected auto or the HOST:PORT of a head, got {address!r}")
    why_not = _why_closed(address)
    if why_not is not None:
        raise ClusterError(f"there is no Ray cluster at {address}: {why_not}")
    # Ray lets workers import modules from the folder that the driver is in. Bots may lie there, and they are strangers.
    folder = os.getcwd()
    # Ray takes this signal for itself.
    handler = signal.getsignal(signal.SIGTERM)
    os.chdir("/")
    try:
        ray.init(address=address, log_to_driver=False, logging_level="warning", namespace="necrodome")
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise ClusterError(_why_unconnected(address, error)) from error
    finally:
        os.chdir(folder)
    try:
        yield ray
    finally:
        ray.shutdown()


def _why_closed(address: str) -> str | None:
    """Says why nobody listens at an address; None if somebody does, or if it names no port."""
    host, colon, port = address.rpartition(":")
    if not colon:
        return None
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=3).close()
    except OSError as error:
        return error.strerror or str(error)
    except OverflowError:
        return "ports are at most 65535"
    return None


def _why_unconnected(address: str, error: Exception) -> str:
    if isinstance(error, ConnectionError) and ":" in address:
        return (
            f"something listens at {address}, but it does not let this driver in. Is it the head of a Ray cluster? "
            "If the cluster has a token, the driver needs the same one, and RAY_AUTH_MODE=token"
        )
    return f"cannot connect to the Ray cluster at {address}: {error}"


class _Merging:
    """The store, and its progress."""

    def __init__(self, store: str, plan: str) -> None:
        self.store, self.plan = store, plan
        #: The hash of the files beside the bots, once it is known: a node that says something else is not believed.
        self.bots: str | None = None
        self.merger = _native.Merger(store, plan)
        self.state: dict[str, Any] = json.loads(self.merger.state())

    def add(self, shards: list[tuple[bytes, str]]) -> None:
        """Merges shards, all or none of them."""
        try:
            self.state = json.loads(self.merger.add(shards, self.bots))
        except (OSError, RuntimeError, ValueError):
            # Nothing was merged, and this merger has forgotten its tournament.
            del self.merger
            self.merger = _native.Merger(self.store, self.plan)
            raise

    def report(self) -> Report:
        return Report(self.merger.report())

    def close(self) -> None:
        """Closes the store, so that others can use it."""
        del self.merger

    @property
    def missing(self) -> int:
        return sum(end - first for first, end in self.state["gaps"])


@dataclass
class Sizes:
    """Chooses the size of shards: one unit at first, then as many blocks as take ``seconds`` seconds.

    >>> sizes = Sizes(unit=4, seconds=10)
    >>> sizes.next(missing=100_000, workers=2)
    4
    >>> sizes.measured(blocks=4, seconds=0.2)
    >>> sizes.next(missing=100_000, workers=2)     # 200 would take ten seconds, but one measurement may mislead
    32
    >>> sizes.next(missing=40, workers=2)          # so that all workers finish at about the same time
    8
    """

    unit: int
    seconds: float
    #: Seconds of a block, measured, with the latest counting most.
    pace: float | None = None
    largest: int = 0

    def measured(self, blocks: int, seconds: float) -> None:
        """Notes the time that a shard took."""
        pace = seconds / max(blocks, 1)
        self.pace = pace if self.pace is None else 0.7 * self.pace + 0.3 * pace
        self.largest = max(self.largest, blocks)

    def next(self, missing: int, workers: int) -> int:
        """The size of the next shard, a multiple of the unit."""
        if self.pace is None:
            return self.unit
        wanted = self.seconds / max(self.pace, 1e-9)
        # Eight times what was seen is the most that a measurement can vouch for.
        wanted = min(wanted, 8 * self.largest, missing / (2 * max(workers, 1)))
        return max(int(wanted) // self.unit, 1) * self.unit


def next_part(gaps: list[Blocks], running: list[Blocks], size: int, unit: int) -> Blocks | None:
    """The first missing blocks that nobody plays, at most ``size``, ending at a multiple of the unit if possible.

    >>> next_part([(0, 100)], [(0, 10)], 20, 10)
    (10, 30)
    >>> next_part([(5, 100)], [], 20, 10)
    (5, 20)
    >>> next_part([(0, 10), (20, 25)], [(0, 10)], 20, 10)
    (20, 25)
    """
    taken = sorted(running)
    for first, end in gaps:
        for busy_first, busy_end in taken:
            if busy_first > first:
                end = min(end, busy_first)
                break
            first = max(first, busy_end)
        if first < end:
            stop = (first + size) // unit * unit
            return first, min(end, stop if stop > first else first + size)
    return None


class _Head:
    """The nodes of the cluster, as the head last listed them.

    A thread asks once a second. Ray itself waits a minute for a head that is gone, and then ends the process without a message.
    """

    def __init__(self, ray: Any) -> None:
        self.ray, self.address = ray, ray.get_runtime_context().gcs_address
        self.nodes: list[dict[str, Any]] = ray.nodes()
        self.answered = time.monotonic()
        self.ended = threading.Event()
        self.asking = threading.Thread(target=self._ask, name="necrodome-head", daemon=True)
        self.asking.start()

    def _ask(self) -> None:
        while not self.ended.wait(1):
            try:
                self.nodes = self.ray.nodes()
                self.answered = time.monotonic()
            except Exception:  # The driver finds out why.
                continue

    def check(self, silence: float = _SILENCE) -> None:
        """Raises an error if the head is gone. A head that is only busy still lets callers connect."""
        if time.monotonic() - self.answered >= silence:
            why = _why_closed(self.address)
            if why is not None:
                raise ClusterError(f"the head of the cluster, {self.address}, is gone: {why}")

    def end(self) -> None:
        """Stops asking. If the head is gone, the thread waits for an answer and ends with Ray."""
        self.ended.set()
        self.asking.join(timeout=1)


@dataclass
class _Task:
    """A shard that Ray plays."""

    blocks: Blocks
    began: float


class _Driver:
    """Hands out shards, and merges the results."""

    def __init__(self, ray: Any, settings: Settings, info: Mapping[str, Any], merging: _Merging, pack: bytes) -> None:
        self.ray, self.settings, self.info, self.merging = ray, settings, info, merging
        self.sizes = Sizes(max(info["unit"], 1), settings.seconds)
        #: Named by content, so that a node has each pack once; with the driver's process, so that two drivers do not share it.
        self.pack_name = f"{hashlib.blake2b(pack, digest_size=12).hexdigest()}-{os.getpid()}"
        self.pack = ray.put(pack)
        self.head = _Head(ray)
        self.play = ray.remote(num_cpus=1, max_retries=settings.retries)(_shard_function())
        self.running: dict[Any, _Task] = {}
        #: Nodes that are not asked any more: their names, and why.
        self.refused: dict[str, tuple[str, str]] = {}
        self.used: set[str] = set()
        self.slots = 0
        self.looked = -math.inf

    def run(self) -> None:
        """Plays until every block is merged."""
        shown = _Shown(self.merging, self.settings)
        try:
            while not self.merging.state["complete"]:
                self.look()
                self.hand_out()
                self.collect(timeout=0.5)
                shown.update(self.slots)
        except BaseException:
            # What has come back already is not played again.
            with suppress(ClusterError):
                self.collect(timeout=0)
            raise
        finally:
            shown.close()

    def end(self) -> None:
        """Stops the shards that still run, and removes the pack from the nodes: it contains the secret of the dice."""
        ray = self.ray
        self.head.end()
        if not ray.is_initialized() or _why_closed(self.head.address) is not None:
            # Without a head, no node can be told anything.
            return
        for task in self.running:
            ray.cancel(task, force=False)
        if self.running:
            # Each removes the bots that it has unpacked, before Ray ends its worker.
            ray.wait(list(self.running), num_returns=len(self.running), timeout=5)
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        alive = {node["NodeID"] for node in self.head.nodes if node["Alive"]}
        sweep = ray.remote(_sweep_function())
        swept = []
        for node in alive & (self.used | self.refused.keys()):
            there = NodeAffinitySchedulingStrategy(node, soft=False)
            swept.append(sweep.options(num_cpus=0, scheduling_strategy=there).remote(self.pack_name))
        if swept:
            ray.wait(swept, num_returns=len(swept), timeout=10)

    def look(self) -> None:
        """Counts the workers, once a second; raises an error if there is none, or no head."""
        now = time.monotonic()
        if now - self.looked < 1:
            return
        self.looked = now
        began = now
        while True:
            self.head.check()
            nodes = [node for node in self.head.nodes if node["Alive"]]
            self.slots = sum(
                self.room(node["Resources"]) for node in nodes if node["NodeID"] not in self.refused
            )
            if self.slots > 0:
                return
            # The nodes that could do it all refused: waiting does not help. Else some may have died, and come back.
            all_refused = bool(self.refused) and any(node["NodeID"] in self.refused for node in nodes)
            if all_refused or not self.used or time.monotonic() - began > self.settings.patience:
                raise ClusterError(self.nobody())
            time.sleep(1)

    def room(self, resources: Mapping[str, float]) -> int:
        """The number of shards that a node can play at once."""
        wanted = {"CPU": 1.0, **self.settings.resources}
        return min(int(resources.get(name, 0) / amount + 1e-9) for name, amount in wanted.items())

    def nobody(self) -> str:
        """Says why there is no worker."""
        wanted = ", ".join(["a CPU", *self.settings.resources])
        reasons = [f"\n  {name}: {why}" for name, why in self.refused.values()]
        if not reasons:
            return f"no node of the cluster has what a shard needs ({wanted})"
        return f"no node of the cluster is left that has {wanted} and can play this tournament:" + "".join(reasons)

    def hand_out(self) -> None:
        """Keeps all workers busy, and some shards waiting for them."""
        most = self.slots + self.slots // 4 + 1
        unit = self.sizes.unit
        while len(self.running) < most:
            running = [task.blocks for task in self.running.values()]
            missing = self.merging.missing - sum(end - first for first, end in set(running))
            size = self.sizes.next(missing, self.slots)
            gaps = [(first, end) for first, end in self.merging.state["gaps"]]
            part = next_part(gaps, running, size, unit)
            if part is None:
                self.hand_out_again()
                return
            self.submit(part)

    def hand_out_again(self) -> None:
        """Hands out a second copy of a slow shard, once nothing else is left. The first result counts; both must agree."""
        if len(self.running) >= self.slots:
            return
        now = time.monotonic()
        all_blocks = [task.blocks for task in self.running.values()]
        for task in sorted(self.running.values(), key=lambda task: task.began):
            first, end = task.blocks
            usual = (self.sizes.pace or 1.0) * (end - first)
            if all_blocks.count(task.blocks) == 1 and now - task.began > 2 * usual + 2:
                self.submit(task.blocks)
                return

    def submit(self, part: Blocks) -> None:
        first, end = part
        options: dict[str, Any] = {"name": f"{self.info['game']} {self.info['id'][:8]} blocks {first}..{end}"}
        if self.settings.resources:
            options["resources"] = dict(self.settings.resources)
        if self.refused:
            options["label_selector"] = {"ray.io/node-id": f"!in({','.join(self.refused)})"}
        wanted = (_native.version(), None if self.settings.any_build else build(), self.settings.allows)
        task = self.play.options(**options).remote([self.pack], self.pack_name, wanted, first, end)
        self.running[task] = _Task(part, time.monotonic())

    def collect(self, timeout: float) -> None:
        """Merges the shards that have come back."""
        if not self.running:
            return
        ready, _ = self.ray.wait(list(self.running), num_returns=1, timeout=timeout)
        if ready:
            ready, _ = self.ray.wait(list(self.running), num_returns=len(self.running), timeout=0)
        shards: list[dict[str, Any]] = []
        lost: tuple[Blocks, Exception] | None = None
        try:
            for task in ready:
                blocks = self.running[task].blocks
                try:
                    answer = self.ray.get(task)
                except self.ray.exceptions.TaskCancelledError:
                    del self.running[task]
                    continue
                except self.ray.exceptions.RayError as error:
                    del self.running[task]
                    lost = lost or (blocks, error)
                    continue
                del self.running[task]
                if answer["refused"] is not None:
                    self.refuse(answer, answer["refused"])
                    continue
                self.used.add(answer["node"])
                self.sizes.measured(blocks[1] - blocks[0], answer["seconds"])
                shards.append(answer)
        finally:
            # Whatever goes wrong with one shard, or Ctrl-C: the others are merged.
            self.merge(shards)
        if lost is not None:
            (first, end), why = lost
            self.head.check(silence=0)
            raise ClusterError(
                f"blocks {first}..{end} could not be played, after {self.settings.retries} retries: "
                f"{str(why).strip().splitlines()[0]}"
            ) from why

    def merge(self, shards: list[dict[str, Any]]) -> None:
        if not shards:
            return
        named = [(shard["bytes"], f"{shard['name']}, blocks {shard['first']}..{shard['end']}") for shard in shards]
        try:
            self.merging.add(named)
        except OSError as error:
            raise ClusterError(f"{self.merging.store}: {error}") from error
        except (RuntimeError, ValueError) as error:
            if len(shards) > 1:
                # It is about one of them, and all the others are merged.
                with ExitStack() as each:
                    for shard in reversed(shards):
                        each.callback(self.merge, [shard])
                return
            if isinstance(error, RuntimeError):
                raise ClusterError(f"two nodes disagree, and an audit finds out who is right: {error}") from error
            self.refuse(shards[0], f"its shard cannot be merged: {error}")
        self.cancel_copies()

    def cancel_copies(self) -> None:
        """Stops shards whose blocks have arrived from elsewhere."""
        gaps = self.merging.state["gaps"]
        for task, playing in list(self.running.items()):
            first, end = playing.blocks
            if not any(first < gap_end and gap_first < end for gap_first, gap_end in gaps):
                self.ray.cancel(task, force=False)
                del self.running[task]

    def refuse(self, answer: Mapping[str, Any], why: str) -> None:
        """Gives a node no more shards. Its blocks are still missing, so they go elsewhere."""
        if answer["node"] not in self.refused:
            self.refused[answer["node"]] = (answer["name"], why)
            self.looked = -math.inf
            print(f"refused: {answer['name']}: {why}", file=sys.stderr)


def _shard_function() -> Callable[..., dict[str, Any]]:
    """Makes the function that a worker runs. It is sent by value, since a node may have another version of this package, or none."""

    def shard(pack: list[Any], name: str, wanted: tuple[str, str | None, Any], first: int, end: int) -> dict[str, Any]:
        import fcntl
        import os
        import socket
        import tempfile
        import time

        import ray

        node = ray.get_runtime_context().get_node_id()
        answer = {
            "node": node, "name": f"{socket.gethostname()} (node {node[:8]})", "refused": None, "first": first, "end": end,
        }
        try:
            import necrodome

            version, build, allows = wanted
            if necrodome.version() != version:
                raise ValueError(f"it has necrodome {necrodome.version()}, and the driver has {version}")
            from necrodome import _native, cluster
            from necrodome.play import launcher

            its_build = cluster.build() if hasattr(cluster, "build") else "unknown"
            if build is not None and build != its_build:
                raise ValueError(
                    f"it has another build of necrodome {version}: {its_build[:12]}, and the driver has {build[:12]}. "
                    "Install the same wheel on all nodes, or allow other builds (--any-build)"
                )

            folder = os.path.join(tempfile.gettempdir(), f"necrodome-cluster-{os.getuid()}")
            os.makedirs(folder, mode=0o700, exist_ok=True)
            found = os.lstat(folder)
            if found.st_uid != os.getuid() or found.st_mode & 0o170077 != 0o040000:
                raise ValueError(f"{folder} is not a folder of this user alone")
            path = os.path.join(folder, f"{name}-{node[:16]}.pack")
            with open(f"{path}.lock", "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                # A pack that is there was checked.
                if not os.path.exists(path):
                    new = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
                    try:
                        contents = ray.get(pack[0])
                    except ray.exceptions.RayError as error:
                        raise ValueError(f"it cannot get the pack from the driver: {str(error).splitlines()[0]}") from error
                    with open(new, "wb") as file:
                        file.write(contents)
                    _native.plan_check(f"{path}.new", launcher(), allows)
                    os.rename(f"{path}.new", path)
            began = time.monotonic()
            answer["bytes"] = _native.play_shard(path, first, end, launcher(), 1, node[:8], allows)
            answer["seconds"] = time.monotonic() - began
        except Exception as error:
            answer["refused"] = f"{error}" or type(error).__name__
        return answer

    return shard


def _sweep_function() -> Callable[[str], None]:
    """Makes the function that removes a pack from a node."""

    def sweep(name: str) -> None:
        import glob
        import os
        import tempfile

        folder = os.path.join(tempfile.gettempdir(), f"necrodome-cluster-{os.getuid()}")
        for path in glob.glob(os.path.join(folder, f"{name}-*")):
            os.unlink(path)

    return sweep


class _Shown:
    """The progress bar, and standings from time to time."""

    def __init__(self, merging: _Merging, settings: Settings) -> None:
        from tqdm.auto import tqdm

        self.merging, self.every = merging, settings.standings if settings.progress else 0
        state = merging.state
        self.bar = tqdm(
            unit=" blocks", total=state["of"], initial=state["of"] - merging.missing, disable=not settings.progress
        )
        self.told = time.monotonic()

    def update(self, workers: int) -> None:
        state = self.merging.state
        done = state["blocks"] if state["complete"] else state["of"] - self.merging.missing
        self.bar.set_postfix(workers=workers, refresh=False)
        self.bar.update(done - self.bar.n)
        now = time.monotonic()
        if self.every and now - self.told > self.every and state["blocks"] > 0:
            self.bar.write(repr(self.merging.report()), file=sys.stderr)
            # A large report takes a while: never more than a twentieth of the time.
            took = time.monotonic() - now
            self.told = time.monotonic() + 20 * took - min(self.every, 20 * took)

    def close(self) -> None:
        self.bar.close()


def _resource(text: str) -> tuple[str, float]:
    name, _, amount = text.partition("=")
    try:
        value = float(amount) if amount else _PINCH
    except ValueError:
        value = 0
    if not name or not value > 0:
        raise argparse.ArgumentTypeError(f"expected NAME or NAME=AMOUNT, such as java or java=1, got {text!r}")
    return name, value


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number of seconds, got {text!r}")
    return value


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 on, got {text!r}")
    return int(text)


_EXAMPLES = """\
examples:
  necrodome tournament zombie-dice greedy ./bots/ada.py --blocks 20000 \\
      --plan-out plan.toml
  python -P -m necrodome.cluster plan.toml --store night.store
  python -P -m necrodome.cluster plan.toml --store night.store \\
      --address 10.0.0.1:6379 --resource java --json > report.json

The same command goes on after Ctrl-C or a crash: what was merged is in the
store. SIGTERM is the same as Ctrl-C.

Exit codes: 0 all is played, 1 the cluster cannot go on, 2 a mistake in the
command, the plan or the store, 130 interrupted. `necrodome docs cluster` says
more.
"""


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -P -m necrodome.cluster",
        description="Play a tournament on a Ray cluster, with the results that one machine would get.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("plan", help="a plan (`necrodome tournament --plan-out`), or a pack (`necrodome pack`)")
    parser.add_argument("--store", required=True, help="the store that results are merged into; made if it is not there")
    parser.add_argument("--address", default="auto", help="the head of the cluster, HOST:PORT; by default the one on this machine")
    parser.add_argument(
        "--resource", action="append", default=[], type=_resource, metavar="NAME[=AMOUNT]",
        help="a custom resource that a node must have, such as java; may be repeated",
    )
    seconds: dict[str, Any] = {"metavar": "SECONDS", "type": _seconds}
    parser.add_argument("--seconds", default=10, help="how long a shard should take (default 10)", **seconds)
    parser.add_argument(
        "--retries", type=_count, default=5, metavar="N",
        help="how often Ray plays a shard again whose worker has died (default 5)",
    )
    parser.add_argument("--patience", default=60, help="how long to wait for a node when none is left (default 60)", **seconds)
    parser.add_argument("--standings", default=60, help="how often to print standings; 0 for never (default 60)", **seconds)
    parser.add_argument("--any-build", action="store_true", help="let nodes have another build of the driver's version")
    parser.add_argument(
        "--max-mb", type=_count, default=64, metavar="N", help="the most megabytes that all bots together may take (default 64)"
    )
    parser.add_argument(
        "--sandbox", choices=("full", "strict", "limits"),
        help="the least confinement of programs that you allow (default strict)",
    )
    parser.add_argument("--allow-network", action="store_true", help="let programs reach the network, if the plan says so")
    parser.add_argument(
        "--pass-env", action="append", default=[], metavar="NAME",
        help="give programs this environment variable, if the plan says so; may be repeated",
    )
    limits = parser.add_argument_group("the highest limits of programs that you allow a plan", "by default the usual ones")
    for name in _LIMITS:
        limits.add_argument(f"--{name.replace('_', '-')}", type=_count, metavar="N")
    parser.add_argument("--quiet", action="store_true", help="no bar, no standings on the way")
    parser.add_argument("--json", action="store_true", help="print the report as one JSON document")
    return parser


def main(words: list[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    words = sys.argv[1:] if words is None else words
    given = _arguments().parse_args(words)
    settings = Settings(
        address=given.address, resources=dict(given.resource), seconds=given.seconds, retries=given.retries,
        patience=given.patience, standings=given.standings, progress=not given.quiet, any_build=given.any_build,
        max_mb=given.max_mb, sandbox=given.sandbox, allow_network=given.allow_network, pass_env=given.pass_env,
        limits={name: getattr(given, name) for name in _LIMITS if getattr(given, name) is not None},
    )
    again = f"to go on: python {'-P ' if getattr(sys.flags, 'safe_path', False) else ''}-m necrodome.cluster {shlex.join(words)}"
    # A scheduler that ends this process asks first: the same as Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Ray asks a head that does not let it in twenty times.
    os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "5")
    try:
        # Ray prints what its nodes report to standard output, which is for the report.
        with redirect_stdout(sys.stderr):
            report = play_plan(given.plan, given.store, settings)
    except KeyboardInterrupt:
        # All is done: Ctrl-C once more would only change the exit code.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print(f"stopped; what was merged is in {given.store}\n{again}", file=sys.stderr)
        return 130
    except ClusterError as error:
        print(f"error: {error}\n{again}", file=sys.stderr)
        return 1
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if given.json:
        print(report.text)
    else:
        print(f"{report!r}\nhash {report['hash']}\n`necrodome report {given.store}` prints all of it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
