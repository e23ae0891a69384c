"""Tournaments on a real Ray cluster: three raylets and more, on one machine. ``scripts/test-cluster`` installs Ray and runs this."""

from __future__ import annotations

import itertools
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import necrodome
from necrodome import _native
from necrodome.play import launcher

# So that Ray keeps to 127.0.0.1: else it connects to the address that others could reach. Programs that are started here inherit it.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# Else a token in the home folder would count.
os.environ["RAY_AUTH_MODE"] = "disabled"
pytest.importorskip("ray", reason="Ray is not installed: scripts/test-cluster runs these")
cluster_utils = pytest.importorskip("ray.cluster_utils")

import ray  # noqa: E402

from necrodome import cluster  # noqa: E402

# A whole tournament on this machine takes some seconds, in many shards.
GAME, BLOCKS, SEED, SECRET = "zombie-dice-race", 1500, 7, "5a" * 64

BOT = """\
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"type": "ready", "protocol": 1, "deterministic": True}
    elif message["type"] == "decide":
        go = message["view"]["turn"]["brains"] < BRAINS
        answer = {"id": message["id"], "action": {"type": "go" if go else "stop"}}
    else:
        continue
    print(json.dumps(answer), flush=True)
"""


class Cluster:
    """A cluster on this machine whose nodes are told apart by custom resources."""

    def __init__(self) -> None:
        head = {**self.node("head", "all", "good"), "include_dashboard": False}
        self.ray = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
        self.address = self.ray.address

    def node(self, *resources: str, cpus: int = 1) -> dict[str, Any]:
        return {"num_cpus": cpus, "resources": {name: 1 for name in resources}, "node_ip_address": "127.0.0.1"}

    def add(self, *resources: str, package: Path | None = None) -> Any:
        """Adds a node, with a package of its own if it is given."""
        environment = {} if package is None else {"env_vars": {**os.environ, "PYTHONPATH": str(package)}}
        return self.ray.add_node(**self.node(*resources), **environment)

    def settings(self, resource: str, **more: Any) -> cluster.Settings:
        return cluster.Settings(
            address=self.address, resources={resource: 0.001}, progress=False, sandbox="limits", **{"seconds": 0.5, **more}
        )


@pytest.fixture(scope="module")
def nodes() -> Iterator[Cluster]:
    started = Cluster()
    started.add("all", "good")
    started.add("all", "good")
    yield started
    ray.shutdown()
    started.ray.shutdown()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a bot and the plan of a tournament."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "bots").mkdir()
    (folder / "bots" / "mine.py").write_text(BOT.replace("BRAINS", "2"))
    write_plan(folder, "./bots/mine.py")
    return folder


def write_plan(folder: Path, bot: str, plan: str = "plan.toml") -> Path:
    """Writes the plan of a tournament between a bot and one that is built in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        entries = [{"name": None, "text": text} for text in ("greedy", bot)]
        from necrodome.play import order

        more: dict[str, Any] = {
            "blocks": BLOCKS, "format": None, "seats": None, "until_decided": False, "margin": None, "test": None,
            "rank_by": "luck-adjusted", "threads": None, "store": None, "only": [], "new_version": False,
            "plan_out": plan,
        }
        wanted = order(GAME, entries, (SEED, False, SECRET), None, ("limits", False, ()), {}, more)
        _native.play(wanted, [None, None], True, lambda *_: None)
    return folder / plan


@pytest.fixture(scope="module")
def alone(home: Path) -> Any:
    """The hash of the tournament on one machine, without any cluster."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        return necrodome.tournament(
            GAME, ["greedy", "./bots/mine.py"], blocks=BLOCKS, seed=SEED, secret=SECRET, sandbox="limits", progress=False
        )["hash"]


def overlay(folder: Path, more: str, *, lies: bool = False) -> Path:
    """The installed package once more, with some lines at its end: a node that is not like the others. It may say that it is."""
    installed = Path(necrodome.__file__).parent
    target = folder / "necrodome"
    shutil.copytree(installed, target, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for native in installed.glob("*.so"):
        (target / native.name).symlink_to(native)
    with (target / "__init__.py").open("a") as file:
        file.write(more)
    if lies:
        with (target / "cluster.py").open("a") as file:
            file.write(f"\ndef build():\n    return {cluster.build()!r}\n")
    return folder


def test_the_hash_is_that_of_one_machine(
    nodes: Cluster, home: Path, alone: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    called: list[str] = []
    usual = cluster._Driver.merge

    def merge(self: Any, shards: list[dict[str, Any]]) -> None:
        called.extend(shard["node"] for shard in shards)
        usual(self, shards)

    monkeypatch.setattr(cluster._Driver, "merge", merge)
    store = tmp_path / "night.store"
    report = necrodome.tournament(
        GAME, ["greedy", Path("bots/mine.py")], blocks=BLOCKS, seed=SEED, secret=SECRET, sandbox="limits", progress=False,
        store=store, cluster="ray", address=nodes.address, resources={"good": 0.001},
    )
    assert report["hash"] == alone and report["blocks"] == BLOCKS
    assert len(set(called)) >= 2, "one node has played everything"
    # It is all there, so the same call only reports.
    calls = len(called)
    again = cluster.play_plan(home / "plan.toml", store, nodes.settings("good"))
    assert again["hash"] == alone and len(called) == calls
    honest = json.loads(_native.audit_store(str(store), 10, "1", launcher(), str(home / "plan.toml"), ("limits", False, [], {})))
    assert len(honest["blocks"]) == 10 and honest["differ"] == []
    # No node keeps the secret of the dice.
    import tempfile

    left = Path(tempfile.gettempdir(), f"necrodome-cluster-{os.getuid()}").glob(f"*-{os.getpid()}-*")
    assert list(left) == []


def test_a_node_that_is_killed_loses_nothing(
    nodes: Cluster, home: Path, alone: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = nodes.add("good", "doomed")
    usual, calls = cluster._Driver.merge, itertools.count(1)

    def merge(self: Any, shards: list[dict[str, Any]]) -> None:
        usual(self, shards)
        if shards and next(calls) == 3:
            nodes.ray.remove_node(victim, allow_graceful=False)

    monkeypatch.setattr(cluster._Driver, "merge", merge)
    report = cluster.play_plan(home / "plan.toml", tmp_path / "store", nodes.settings("good"))
    assert report["hash"] == alone
    assert next(calls) > 3


def test_a_slow_node_does_not_hold_up_the_others(nodes: Cluster, home: Path, alone: Any, tmp_path: Path) -> None:
    slow = overlay(tmp_path / "slow", """
import time
import necrodome._native as _slow_native
_quick = _slow_native.play_shard
def _crawl(*words):
    time.sleep(40)
    return _quick(*words)
_slow_native.play_shard = _crawl
""", lies=True)
    node = nodes.add("good", package=slow)
    began = time.monotonic()
    report = cluster.play_plan(home / "plan.toml", tmp_path / "store", nodes.settings("good"))
    assert report["hash"] == alone
    assert time.monotonic() - began < 40
    nodes.ray.remove_node(node, allow_graceful=False)


def test_a_node_with_another_version_is_refused_by_name(
    nodes: Cluster, home: Path, alone: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    old = overlay(tmp_path / "old", "\ndef version():\n    return '0.0.1'\n")
    node = nodes.add("good", "old", package=old)
    report = cluster.play_plan(home / "plan.toml", tmp_path / "store", nodes.settings("good"))
    assert report["hash"] == alone
    said = capfd.readouterr().err
    assert f"(node {node.node_id[:8]}): it has necrodome 0.0.1, and the driver has {necrodome.version()}" in said
    with pytest.raises(cluster.ClusterError, match="(?s)no node .* is left .*it has necrodome 0.0.1"):
        cluster.play_plan(home / "plan.toml", tmp_path / "other", nodes.settings("old"))
    nodes.ray.remove_node(node, allow_graceful=False)


def test_a_node_with_another_build_is_refused_unless_that_is_allowed(
    nodes: Cluster, home: Path, alone: Any, tmp_path: Path
) -> None:
    node = nodes.add("patched", package=overlay(tmp_path / "patched", "\n# The same version, another build.\n"))
    with pytest.raises(cluster.ClusterError) as refused:
        cluster.play_plan(home / "plan.toml", tmp_path / "store", nodes.settings("patched"))
    said = str(refused.value)
    assert f"(node {node.node_id[:8]}): it has another build of necrodome {necrodome.version()}: " in said
    assert f", and the driver has {cluster.build()[:12]}. Install the same wheel on all nodes" in said
    assert f"0 of {BLOCKS} blocks are merged in {tmp_path / 'store'}" in said
    report = cluster.play_plan(home / "plan.toml", tmp_path / "store", nodes.settings("patched", any_build=True))
    assert report["hash"] == alone
    nodes.ray.remove_node(node, allow_graceful=False)


def test_progress_standings_and_the_names_of_tasks(
    nodes: Cluster, home: Path, alone: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    usual, merge = cluster._shard_function, cluster._Driver.merge
    seen: list[dict[str, Any]] = []

    def named() -> Callable[..., dict[str, Any]]:
        shard = usual()

        def task(*words: Any) -> dict[str, Any]:
            import ray

            return {**shard(*words), "task": ray.get_runtime_context().get_task_name()}

        return task

    def watching(self: Any, shards: list[dict[str, Any]]) -> None:
        seen.extend(shards)
        merge(self, shards)

    monkeypatch.setattr(cluster, "_shard_function", named)
    monkeypatch.setattr(cluster._Driver, "merge", watching)
    settings = cluster.Settings(address=nodes.address, resources={"good": 0.001}, sandbox="limits", seconds=0.5, standings=0.01)
    assert cluster.play_plan(home / "plan.toml", tmp_path / "store", settings)["hash"] == alone
    tournament = json.loads(_native.plan_info(str(home / "plan.toml"), launcher()))["id"][:8]
    assert seen and all(
        shard["task"] == f"{GAME} {tournament} blocks {shard['first']}..{shard['end']}" for shard in seen
    )
    said = capfd.readouterr().err
    assert re.search(rf"\d+/{BLOCKS} \[.*workers=[1-9]", said), said
    # Standings on the way, before the last block is there.
    assert "greedy" in said and "mine" in said, said


def test_a_node_that_lacks_what_a_bot_needs_is_refused_and_the_bot_is_not_charged(
    nodes: Cluster, home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # A command is run by what the node has, and this one has no folder of programs.
    bare = overlay(tmp_path / "bare", "\nimport os\nos.environ['PATH'] = '/nowhere'\n", lies=True)
    node = nodes.add("good", "bare", package=bare)
    plan = write_plan(home, "cmd:python3 bots/mine.py", "command.toml")
    report = cluster.play_plan(plan, tmp_path / "store", nodes.settings("good"))
    assert report["faults"] == [] and report["blocks"] == BLOCKS
    with pytest.raises(cluster.ClusterError) as refused:
        cluster.play_plan(plan, tmp_path / "other", nodes.settings("bare"))
    told = str(refused.value)
    assert f"(node {node.node_id[:8]}): mine: " in told and "is no such program" in told
    nodes.ray.remove_node(node, allow_graceful=False)
    # A folder beside a bot that lies beside the plan is not packed.
    (home / "beside").mkdir()
    (home / "beside" / "knows.py").write_text("")
    (home / "ada.py").write_text("import beside.knows\n" + BOT.replace("BRAINS", "2"))
    plan = write_plan(home, "./ada.py", "ada.toml")
    capfd.readouterr()
    with pytest.raises(cluster.ClusterError, match="ada does not start on this machine, though it did .*No module named"):
        cluster.play_plan(plan, tmp_path / "third", nodes.settings("good"))
    assert "not packed: beside/" in capfd.readouterr().err


def test_files_beside_a_bot_must_stay_as_they_were(nodes: Cluster, home: Path, tmp_path: Path) -> None:
    store, beside = tmp_path / "store", home / "bots" / "knows.py"
    plan = str(home / "plan.toml")
    pack = tmp_path / "some.pack"
    pack.write_bytes(_native.pack_plan(plan, launcher(), 1 << 20)[0])
    first = _native.play_shard(str(pack), 0, 4, launcher(), 1, "4cb6493c", ("limits", False, [], {}))
    _native.Merger(str(store), plan).add([(first, "first")])
    beside.write_text("changed = True\n")
    try:
        with pytest.raises(ValueError, match="the files beside the bots are not those"):
            cluster.play_plan(plan, store, nodes.settings("good"))
    finally:
        beside.unlink()
    assert cluster.play_plan(plan, store, nodes.settings("good"))["blocks"] == BLOCKS


def test_a_call_without_a_secret_goes_on_with_that_of_the_store(
    nodes: Cluster, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    usual = cluster._Driver.merge

    def stop(self: Any, shards: list[dict[str, Any]]) -> None:
        usual(self, shards)
        if shards:
            raise KeyboardInterrupt

    def play() -> necrodome.Report:
        return necrodome.tournament(
            GAME, ["greedy", "./bots/mine.py"], blocks=BLOCKS, seed=SEED, sandbox="limits", progress=False,
            store=tmp_path / "store", cluster="ray", address=nodes.address, resources={"good": 0.001},
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster._Driver, "merge", stop)
        with pytest.raises(KeyboardInterrupt):
            play()
    done = play()
    assert done["blocks"] == BLOCKS and play()["hash"] == done["hash"]


def test_a_resource_that_no_node_has_is_an_error_at_once(nodes: Cluster, home: Path, tmp_path: Path) -> None:
    with pytest.raises(cluster.ClusterError, match=r"no node of the cluster has what a shard needs \(a CPU, cobol\)"):
        cluster.play_plan(home / "plan.toml", tmp_path / "store", nodes.settings("cobol"))


def test_a_forging_worker_is_found_by_the_audit(nodes: Cluster, home: Path, alone: Any, tmp_path: Path) -> None:
    # The bot on this node is another one: what runs Python there starts it instead.
    cheat, python = tmp_path / "cheat.py", tmp_path / "python"
    cheat.write_text(BOT.replace("BRAINS", "9"))
    python.write_text(
        f'#!/bin/sh\ncase "$*" in *_launch.py*) exec {sys.executable} "$@";; *) exec {sys.executable} {cheat};; esac\n'
    )
    python.chmod(0o755)
    forging = overlay(tmp_path / "forging", f"""
import necrodome._native as _honest_native
_honest = _honest_native.play_shard
def _forge(plan, first, end, words, *more):
    return _honest(plan, first, end, [{str(python)!r}, *words[1:]], *more)
_honest_native.play_shard = _forge
""", lies=True)
    node = nodes.add("good", package=forging)
    store = tmp_path / "store"
    report = cluster.play_plan(home / "plan.toml", store, nodes.settings("good"))
    nodes.ray.remove_node(node, allow_graceful=False)
    assert report["hash"] != alone
    audit = json.loads(_native.audit_store(str(store), 25, "1", launcher(), str(home / "plan.toml"), ("limits", False, [], {})))
    assert audit["differ"] and audit["differ"][0]["origin"]["host"]


def command(home: Path, store: Path, address: str, *words: str) -> list[str]:
    return [
        sys.executable, "-P" if sys.version_info >= (3, 11) else "-u", "-m", "necrodome.cluster", str(home / "plan.toml"),
        "--store", str(store), "--address", address, "--resource", "good", "--seconds", "0.5", "--json",
        "--sandbox", "limits", *words,
    ]


class Running:
    """A command in the middle of a tournament."""

    def __init__(self, words: list[str], log: Path, environment: Mapping[str, str]) -> None:
        self.log = log
        with log.open("wb") as file:
            # Whoever started the tests may ignore SIGINT (`nohup`, `&`), and programs inherit that.
            self.process = subprocess.Popen(
                words, stderr=file, env={**os.environ, **environment},
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )

    def merged(self) -> int:
        """How many blocks the bar has counted."""
        counted = re.findall(rf"(\d+)/{BLOCKS} \[", self.log.read_text())
        return int(counted[-1]) if counted else 0

    def wait_until_merged(self, more_than: int) -> None:
        end = time.monotonic() + 40
        while self.merged() <= more_than:
            assert time.monotonic() < end and self.process.poll() is None, self.log.read_text()
            time.sleep(0.05)

    def ends(self) -> tuple[int, str]:
        """Its exit code, and what it has said."""
        return self.process.wait(40), self.log.read_text()


def stored(store: Path, home: Path) -> int:
    """How many blocks are in a store that is not complete."""
    state: dict[str, Any] = json.loads(_native.Merger(str(store), str(home / "plan.toml")).state())
    assert not state["complete"]
    missing: int = sum(end - first for first, end in state["gaps"])
    return BLOCKS - missing


def test_a_command_that_is_stopped_or_killed_goes_on(nodes: Cluster, home: Path, alone: Any, tmp_path: Path) -> None:
    store = tmp_path / "store"
    before = 0
    for stop, code in ((signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -signal.SIGKILL)):
        running = Running(command(home, store, nodes.address), tmp_path / "said", {})
        running.wait_until_merged(before)
        running.process.send_signal(stop)
        ended, said = running.ends()
        assert ended == code, said
        assert (f"what was merged is in {store}\nto go on: python " in said) == (code == 130) and "Traceback" not in said
        after = stored(store, home)
        assert after > before
        before = after
    done = subprocess.run(command(home, store, nodes.address, "--quiet"), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["hash"] == alone


def test_standard_output_is_for_the_report(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def play(*_: Any) -> necrodome.Report:
        # As Ray does when a node has died.
        print("(raylet) The node with node id 4cb6493c has died")
        return necrodome.tournament("zombie-dice-solo", ["greedy", "cautious"], blocks=20, seed=7, progress=False)

    monkeypatch.setattr(cluster, "play_plan", play)
    # What the command sets for its whole process.
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setenv("RAY_NUM_REDIS_GET_RETRIES", "5")
    assert cluster.main(["plan.toml", "--store", "night.store", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["blocks"] == 20 and "(raylet) The node" in said.err


HEAD = """
import sys
from ray.cluster_utils import Cluster
cluster = Cluster(
    initialize_head=True,
    head_node_args={"num_cpus": 2, "resources": {"good": 1}, "node_ip_address": "127.0.0.1", "include_dashboard": False},
)
print(cluster.address, flush=True)
if sys.stdin.readline() == "die\\n":
    cluster.remove_node(cluster.head_node, allow_graceful=False)
else:
    cluster.shutdown()
"""


@contextmanager
def a_head(environment: Mapping[str, str]) -> Iterator[tuple[str, Callable[[], None]]]:
    """A cluster of its own: its address, and what kills it without grace."""
    process = subprocess.Popen(
        [sys.executable, "-c", HEAD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, **environment},
    )
    assert process.stdout is not None

    def kill() -> None:
        process.communicate("die\n", timeout=40)

    try:
        yield process.stdout.readline().strip(), kill
    finally:
        if process.poll() is None:
            process.communicate(timeout=40)


def test_a_head_that_dies_is_noticed_and_a_new_one_goes_on(home: Path, alone: Any, tmp_path: Path) -> None:
    store = tmp_path / "store"
    with a_head({}) as (address, kill):
        running = Running(command(home, store, address), tmp_path / "said", {})
        running.wait_until_merged(0)
        kill()
        # Ray itself would wait for a minute, and end the process without a word.
        code, said = running.ends()
    merged = stored(store, home)
    assert code == 1 and f"error: the head of the cluster, {address}, is gone: " in said, said
    assert merged > 0 and f"{merged} of {BLOCKS} blocks are merged in {store}\nto go on: python " in said
    assert "Traceback" not in said
    with a_head({}) as (address, _):
        words = command(home, store, address, "--quiet")
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["hash"] == alone


def test_a_driver_needs_the_token_of_the_cluster(home: Path, alone: Any, tmp_path: Path) -> None:
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    strangers = [
        ({"RAY_AUTH_MODE": "disabled"}, "does not let this driver in"),
        ({**token, "RAY_AUTH_TOKEN": "0" * 64}, "does not let this driver in"),
        ({"RAY_AUTH_MODE": "token", "HOME": str(tmp_path)}, "no authentication token was found"),
    ]
    with a_head(token) as (address, _):
        words = command(home, tmp_path / "store", address, "--quiet")
        for environment, why in strangers:
            # Ray asks twenty times, once a second.
            refused = subprocess.run(
                words, capture_output=True, text=True, timeout=60,
                env={**os.environ, **environment, "RAY_NUM_REDIS_GET_RETRIES": "1"},
            )
            assert refused.returncode == 1 and why in refused.stderr and "Traceback" not in refused.stderr, refused.stderr
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, env={**os.environ, **token})
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["hash"] == alone


def test_sizes_grow_to_the_time_that_is_wanted_and_shrink_at_the_end() -> None:
    sizes = cluster.Sizes(unit=64, seconds=10)
    assert sizes.next(10**6, 50) == 64
    for _ in range(6):
        blocks = sizes.next(10**9, 50)
        sizes.measured(blocks, blocks * 0.001)
    assert sizes.next(10**9, 50) == 9984
    assert sizes.next(6400, 50) == 64


def test_parts_cover_all_gaps_once() -> None:
    gaps = [(3, 130), (200, 201), (640, 1000)]
    parts: list[tuple[int, int]] = []
    while (part := cluster.next_part(gaps, parts, 128, 64)) is not None:
        parts.append(part)
    covered = sorted(block for first, end in parts for block in range(first, end))
    assert covered == [block for first, end in gaps for block in range(first, end)]
    assert (3, 128) in parts and (128, 130) in parts
