"""How fast the vector environments are: `python python/benches/speed.py`.

Everything runs on one core, and what is compared runs in turns within one run, because machines are noisy. Each number is
that of the fastest round. Before anything is timed, its answers are checked.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

import necrodome

N = 4096
HERE = pathlib.Path(__file__).parent


class PlainEnv(gymnasium.Env[Any, Any]):
    """Solo in plain Python, as one would write it."""

    FACES = {"green": "BBBFFS", "yellow": "BBFFSS", "red": "BFFSSS"}

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(0, 13, (8,), np.int16)
        self.action_space = gymnasium.spaces.Discrete(2)

    def _observe(self) -> Any:
        count = lambda dice, colour: sum(die == colour for die in dice)  # noqa: E731
        dice = [count(pile, colour) for pile in (self.cup, self.feet) for colour in self.FACES]
        return np.array([self.brains, self.shotguns, *dice], dtype=np.int16)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.cup = ["green"] * 6 + ["yellow"] * 4 + ["red"] * 3
        self.feet: list[str] = []
        self.brains = self.shotguns = 0
        return self._observe(), {}

    def step(self, action: Any) -> Any:
        if not action:
            return self._observe(), 0.0, True, False, {}
        before = self.brains
        hand = self.feet
        while len(hand) < 3:
            hand.append(self.cup.pop(self.np_random.integers(len(self.cup))))
        self.feet = []
        for die in hand:
            face = self.FACES[die][self.np_random.integers(6)]
            self.brains += face == "B"
            self.shotguns += face == "S"
            if face == "F":
                self.feet.append(die)
        busted = self.shotguns >= 3
        reward = -before if busted else self.brains - before
        return self._observe(), float(reward), busted or len(self.cup) + len(self.feet) < 3, False, {}


class CLoop:
    """The plain C loop of baseline.c, with numpy arrays that are made once."""

    def __init__(self, folder: str) -> None:
        library = os.path.join(folder, "baseline.so")
        source = str(HERE / "baseline.c")
        subprocess.run(["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, source], check=True)
        self.code = ctypes.CDLL(library)
        self.code.size_of_env.restype = ctypes.c_size_t
        self.envs = np.zeros(N * self.code.size_of_env(), np.uint8)
        self.obs = np.zeros((N, 8), np.int16)
        self.rewards = np.zeros(N, np.float32)
        self.terminated = np.zeros(N, np.bool_)
        self.truncated = np.zeros(N, np.bool_)
        arrays = (self.obs, self.rewards, self.terminated, self.truncated)
        self._out = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
        self._envs = ctypes.c_void_p(self.envs.ctypes.data)
        self.code.seed_all(self._envs, ctypes.c_size_t(N), ctypes.c_uint64(1))
        self._count = ctypes.c_size_t(N)

    def step(self, actions: Any) -> Any:
        self.code.step_all(self._envs, self._count, ctypes.c_void_p(actions.ctypes.data), *self._out)
        return self.obs, self.rewards, self.terminated, self.truncated, {}


def actions_for(envs: Any, kinds: int = 64, legal: bool = False) -> list[Any]:
    """Random actions, made before anything is timed."""
    chance = np.random.default_rng(7)
    if not legal:
        return [
            chance.integers(envs.single_action_space.n, size=envs.num_envs, dtype=np.uint8) for _ in range(kinds)
        ]
    made = []
    for _ in range(kinds):
        masks = envs.action_masks()
        made.append((chance.random(masks.shape, dtype=np.float32) * masks).argmax(axis=1).astype(np.uint8))
        envs.step(made[-1])
    return made


def fastest(works: dict[str, Callable[[], int]], seconds: float) -> dict[str, float]:
    """Steps a second of the fastest round of each, all of them in turns."""
    best = dict.fromkeys(works, 0.0)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, work in works.items():
            start = time.perf_counter_ns()
            steps = work()
            best[name] = max(best[name], steps / (time.perf_counter_ns() - start) * 1e9)
    return best


def rounds(step: Callable[[Any], Any], actions: list[Any], rows: int, times: int = 256) -> Callable[[], int]:
    place = 0

    def work() -> int:
        nonlocal place
        for _ in range(times):
            step(actions[place])
            place = (place + 1) % len(actions)
        return times * rows

    return work


def check_mean(name: str, step: Callable[[Any], Any], actions: list[Any], expected: float, tolerance: float) -> None:
    """The mean score of an episode of random play must be what it is exactly."""
    total, episodes = 0.0, 0
    for turn in range(600):
        _, rewards, terminated, _, _ = step(actions[turn % len(actions)])
        total += float(rewards.sum())
        episodes += int(terminated.sum())
    mean = total / max(episodes, 1)
    if abs(mean - expected) > tolerance:
        sys.exit(f"{name}: expected {expected:.4f} brains an episode from random play, got {mean:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="how long each comparison may take")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    chosen = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    told: dict[str, float] = {}

    # Solo against the C loop, both beginning anew in the same step, and against plain Python.
    exact = necrodome.evaluate(lambda view: 0.5, "zombie-dice-solo").value
    envs = necrodome.make_vec("zombie-dice-solo", num_envs=N, seed=1, autoreset_mode="same_step")
    envs.reset()
    later = necrodome.make_vec("zombie-dice-solo", num_envs=N, seed=1)
    later.reset()
    actions = actions_for(envs)
    wide = [one.astype(np.int64) for one in actions]
    with tempfile.TemporaryDirectory() as folder:
        c_loop = CLoop(folder)
        check_mean("the kernel", envs.step, actions, exact, 0.01)
        check_mean("the kernel, next step", later.step, actions, exact, 0.01)
        check_mean("the C loop", c_loop.step, actions, exact, 0.01)
        python = gymnasium.vector.SyncVectorEnv(
            [PlainEnv] * N, autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP
        )
        python.reset(seed=1)
        best = fastest(
            {
                "solo, same step": rounds(envs.step, actions, N),
                "solo, same step, int64 actions": rounds(envs.step, wide, N),
                "solo, next step": rounds(later.step, actions, N),
                "C loop": rounds(c_loop.step, actions, N),
            },
            chosen.seconds,
        )
    best |= fastest({"SyncVectorEnv": rounds(python.step, wide, N, 1)}, chosen.seconds)
    told |= best
    told["solo / C loop"] = best["solo, same step"] / best["C loop"]
    told["solo / SyncVectorEnv"] = best["solo, same step"] / best["SyncVectorEnv"]

    others: dict[str, Callable[[], int]] = {}
    for game, players in (("zombie-dice-race", 2), ("tokyo", 2), ("tokyo", 6), ("zombie-dice", 4)):
        made = necrodome.make_vec(game, num_envs=N, seed=1, players=players)
        made.reset()
        name = game if game == "zombie-dice-race" else f"{game}, {players} players"
        others[name] = rounds(made.step, actions_for(made, legal=True), N, 8)
    told |= fastest(others, chosen.seconds)

    # Last Bullet, 20 entries of 50: only survivors that live are counted. Late in a match there are few of them, and as many
    # zombies as there were survivors.
    world = necrodome.make_vec("last-bullet", num_envs=1, seed=1, autoreset_mode="disabled")
    moves = actions_for(world)

    def battle(turns: int) -> Callable[[], int]:
        # Counted once, before anything is timed: the same seed and actions give the same match.
        world.reset(seed=1)
        living: list[int] = []
        while len(living) < turns and (not living or living[-1]):
            living.append(int(world.step(moves[len(living) % len(moves)])[1].sum()))
        steps, played = sum(living), [moves[turn % len(moves)] for turn in range(len(living))]

        def work() -> int:
            world.reset(seed=1)
            for actions in played:
                world.step(actions)
            return steps

        return work

    told |= fastest(
        {"last-bullet, first 20 turns": battle(20), "last-bullet, whole matches": battle(10**6)}, chosen.seconds
    )

    # One step of a few.
    few = necrodome.make_vec("zombie-dice-solo", num_envs=16, seed=1)
    few.reset()
    some = actions_for(few)
    calls = fastest({"calls": rounds(few.step, some, 1, 1000)}, min(chosen.seconds, 2.0))
    told["microseconds of a step of 16"] = 1e6 / calls["calls"]

    if chosen.json:
        print(json.dumps(told, indent=2))
        return
    for name, number in told.items():
        if "/" in name:
            print(f"{name:34} {number:12,.1f} x")
        elif name.startswith("microseconds"):
            print(f"{name:34} {number:12.2f}")
        else:
            print(f"{name:34} {number / 1e6:12,.2f} million steps/s")


if __name__ == "__main__":
    main()
