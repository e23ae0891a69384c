"""How fast the environments are: `python python/benches/speed.py`.

Each game is compared with a lean loop in C (`baseline.c`), single and vector environments of Gymnasium with a lean
environment in plain Python. Everything runs on one core but for the line about threads, and what is compared runs in turns
within one run, because machines are noisy; each number is that of the fastest round. Before anything is timed, its answers are
checked. `--check` fails where a ratio is below its floor in `docs/python.md`.

`NECRODOME_INSTRUCTIONS=avx2` compares a lesser instruction set; the C loop is then compiled for the same.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import numpy.typing as npt

import necrodome
from necrodome.envs.solo import SoloEnv

N = 4096
# Arrays that are written again, and no masks: what the C loops do.
LEAN: dict[str, Any] = {"copy": False, "masks": False}
HERE = pathlib.Path(__file__).parent

# What the C loop is compiled for, by the instruction set of the kernels.
TARGETS = {"sse2": "x86-64", "avx2": "haswell", "avx512": "native"}

# One round: the number of steps, and how many nanoseconds they took.
Round = Callable[[], tuple[int, int]]


class Game(NamedTuple):
    """What is compared with the C loop."""

    name: str
    game: str
    players: int
    c_name: str
    # How many times as fast as the C loop it has to be, by instruction set. Where a goal is not reached yet (docs/python.md), a
    # floor that is: below it something has become slower.
    floors: dict[str, float]


GAMES = (
    Game("solo", "zombie-dice-solo", 1, "solo", {"avx2": 7, "avx512": 10}),
    Game("race", "zombie-dice-race", 2, "race", {"avx2": 5.5, "avx512": 6.5}),
    Game("tokyo, 2 players", "tokyo", 2, "tokyo", {"avx2": 5, "avx512": 6}),
    Game("tokyo, 6 players", "tokyo", 6, "tokyo", {}),
    Game("table, 2 players", "zombie-dice", 2, "table", {"avx2": 5, "avx512": 5}),
    Game("table, 4 players", "zombie-dice", 4, "table", {"avx2": 5, "avx512": 5}),
)


class LeanEnv(gymnasium.Env[Any, Any]):
    """Solo in plain Python, as fast as one would write it: counts of dice, and the quickest random numbers that Python has."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(0, 13, (8,), np.int16)
        self.action_space = gymnasium.spaces.Discrete(2)
        self._obs = np.zeros(8, np.int16)
        self._infos: dict[str, Any] = {}
        self._random = random.Random(1).random

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            self._random = random.Random(seed).random
        self._brains = self._shotguns = 0
        self._green, self._yellow, self._red = 6, 4, 3
        self._feet = [0, 0, 0]
        self._obs[:] = (0, 0, 6, 4, 3, 0, 0, 0)
        return self._obs, self._infos

    def step(self, action: Any) -> Any:
        if not action:
            return self._obs, 0.0, True, False, self._infos
        draw = self._random
        before = brains = self._brains
        shotguns = self._shotguns
        green, yellow, red = self._green, self._yellow, self._red
        hand = self._feet
        for _ in range(3 - hand[0] - hand[1] - hand[2]):
            place = draw() * (green + yellow + red)
            if place < green:
                green -= 1
                hand[0] += 1
            elif place < green + yellow:
                yellow -= 1
                hand[1] += 1
            else:
                red -= 1
                hand[2] += 1
        feet = [0, 0, 0]
        for colour in (0, 1, 2):
            for _ in range(hand[colour]):
                side = draw() * 6
                if side < 3 - colour:
                    brains += 1
                elif side < 5 - colour:
                    feet[colour] += 1
                else:
                    shotguns += 1
        self._brains, self._shotguns, self._feet = brains, shotguns, feet
        self._green, self._yellow, self._red = green, yellow, red
        self._obs[:] = (brains, shotguns, green, yellow, red, *feet)
        if shotguns >= 3:
            return self._obs, float(-before), True, False, self._infos
        over = green + yellow + red + feet[0] + feet[1] + feet[2] < 3
        return self._obs, float(brains - before), over, False, self._infos


class Out(ctypes.Structure):
    """Where the C loop writes."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("obs", "rewards", "terminated", "truncated", "final_rewards")]


class CLoop:
    """A plain C loop of baseline.c, with numpy arrays that are made once."""

    def __init__(self, code: ctypes.CDLL, game: str, players: int, width: int) -> None:
        size = getattr(code, f"{game}_size")
        size.restype = ctypes.c_size_t
        self._state = np.zeros(N * size(), np.uint8)
        self.obs = np.zeros((N, width), np.int16)
        self.rewards = np.zeros(N, np.float32)
        self.terminated = np.zeros(N, np.bool_)
        self.truncated = np.zeros(N, np.bool_)
        self.final_rewards = np.zeros((N, players), np.float32)
        arrays = (self.obs, self.rewards, self.terminated, self.truncated, self.final_rewards)
        self._out = Out(*(array.ctypes.data for array in arrays))
        self._step = getattr(code, f"{game}_step")
        self._start = (ctypes.c_void_p(self._state.ctypes.data), ctypes.c_size_t(N), ctypes.c_int(players))
        getattr(code, f"{game}_seed")(*self._start, ctypes.c_uint64(1))
        # The first observations: nothing but stops that change little.
        self.step(np.zeros(N, np.uint8))

    def step(self, actions: Any) -> Any:
        self._step(*self._start, ctypes.c_void_p(actions.ctypes.data), ctypes.byref(self._out))
        return self.obs, self.rewards, self.terminated, self.truncated, {}


def compile_c(folder: str) -> ctypes.CDLL:
    library = os.path.join(folder, "baseline.so")
    target = TARGETS.get(necrodome.instruction_set(), "native")
    source = str(HERE / "baseline.c")
    subprocess.run(["gcc", "-O3", f"-march={target}", "-shared", "-fPIC", "-o", library, source], check=True)
    return ctypes.CDLL(library)


class Player:
    """Plays legal actions at random; only the environment's own time is counted."""

    def __init__(self, game: str, step: Callable[[Any], Any], obs: Any, rows: int = N, dtype: Any = np.uint8) -> None:
        chance = np.random.default_rng(7)
        kinds = 64 if game == "tokyo" else 2
        self._game, self._step, self._obs, self._dtype = game, step, obs, dtype
        self._actions = [chance.integers(kinds, size=rows, dtype=np.uint8) for _ in range(64)]
        self._turn = 0
        self.rows = rows

    def actions(self) -> Any:
        self._turn += 1
        actions, obs = self._actions[self._turn % len(self._actions)], self._obs
        if self._game == "tokyo":
            actions = np.where(obs[:, 0] == 1, 64 + (actions & 1), actions)
        if self._game == "zombie-dice":
            # The first roll of a turn is no choice.
            actions = actions | (obs[:, 2:5].sum(axis=1) == 13)
        return actions.astype(self._dtype)

    def round(self, times: int) -> Round:
        def work() -> tuple[int, int]:
            total = 0
            for _ in range(times):
                actions = self.actions()
                start = time.perf_counter_ns()
                told = self._step(actions)
                total += time.perf_counter_ns() - start
                self._obs = told[0]
            return times * self.rows, total

        return work

    def statistics(self, steps: int) -> npt.NDArray[np.float64]:
        """Episodes a step, rewards an episode, and the mean of each number of an observation, in many steps."""
        sums: Any = 0
        episodes = rewards = 0.0
        for _ in range(steps):
            self._obs, reward, terminated, _, _ = self._step(self.actions())
            episodes += float(terminated.sum())
            rewards += float(reward.sum())
            sums = sums + self._obs.sum(axis=0, dtype=np.int64)
        total = steps * self.rows
        return np.array([episodes / total, rewards / max(episodes, 1), *(sums / total)])


def fastest(works: dict[str, Round], seconds: float) -> dict[str, float]:
    """Steps a second of the fastest round of each, all of them in turns."""
    best = dict.fromkeys(works, 0.0)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, work in works.items():
            steps, nanoseconds = work()
            best[name] = max(best[name], steps / nanoseconds * 1e9)
    return best


def check_same(game: Game, ours: Player, theirs: Player) -> None:
    """Two programs that play the same game come to the same averages."""
    steps = 600 if game.players < 4 else 1200
    # What a seat has at first is rare later.
    ours.statistics(steps)
    theirs.statistics(steps)
    one, other = ours.statistics(steps), theirs.statistics(steps)
    # Where some win what others lose, the mean is nothing, and so is what counts as rare.
    least = np.array([0.001, 0.5, *[0.05] * (len(one) - 2)])
    off = np.abs(one - other) / np.maximum(np.maximum(np.abs(one), np.abs(other)), least)
    if off.max() > 0.05:
        sys.exit(f"{game.name}: kernel and C loop do not play the same game: {one} {other}")


def check_mean(name: str, player: Player, expected: float) -> None:
    """The mean score of an episode of random play must be what it is exactly."""
    mean = float(player.statistics(600)[1])
    if abs(mean - expected) > 0.01:
        sys.exit(f"{name}: expected {expected:.4f} brains an episode from random play, got {mean:.4f}")


def make(game: str, rows: int, players: int | None = None, **options: Any) -> tuple[Any, Any]:
    envs = necrodome.make_vec(game, num_envs=rows, seed=1, players=players, **options)
    return envs, envs.reset()[0]


def compare(game: Game, code: ctypes.CDLL, seconds: float) -> dict[str, float]:
    """A game through numpy against the C loop: lean, which gives what the C loop gives, and as `make_vec` is by default."""
    works: dict[str, Round] = {}
    same: dict[str, Any] = {"autoreset_mode": "same_step", "players": game.players}
    envs, obs = make(game.game, N, **LEAN, **same)
    fast = Player(game.game, envs.step, obs)
    c_loop = CLoop(code, game.c_name, game.players, obs.shape[1])
    plain = Player(game.game, c_loop.step, c_loop.obs)
    check_same(game, fast, plain)
    usual, usual_obs = make(game.game, N, **same)
    later, later_obs = make(game.game, N, **LEAN, players=game.players)
    if game.name == "solo":
        exact = necrodome.evaluate(lambda view: 0.5, game.game).value
        check_mean("the kernel", fast, exact)
        check_mean("the C loop", plain, exact)
    works[f"{game.name}, lean"] = fast.round(64)
    works[f"{game.name}, default"] = Player(game.game, usual.step, usual_obs).round(64)
    works[f"{game.name}, lean, next step"] = Player(game.game, later.step, later_obs).round(64)
    works[f"{game.name}, C loop"] = plain.round(64)
    best = fastest(works, seconds)
    for how in ("lean", "default"):
        best[f"{game.name}, {how} / C loop"] = best[f"{game.name}, {how}"] / best[f"{game.name}, C loop"]
    return best


def steps_of(env: Any, times: int = 1000) -> Round:
    """Steps of one environment, which is reset when its episode is over."""
    env.reset(seed=1)
    actions = [int(action) for action in np.random.default_rng(7).integers(2, size=times)]

    def work() -> tuple[int, int]:
        start = time.perf_counter_ns()
        for action in actions:
            if env.step(action)[2]:
                env.reset()
        return times, time.perf_counter_ns() - start

    return work


def compare_python(seconds: float) -> dict[str, float]:
    """Single environments, and Gymnasium's vector environment of them."""
    best = fastest({"SoloEnv": steps_of(SoloEnv()), "plain Python": steps_of(LeanEnv())}, seconds)
    python = gymnasium.vector.SyncVectorEnv([LeanEnv] * N, autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP)
    player = Player("zombie-dice-solo", python.step, python.reset(seed=1)[0], dtype=np.int64)
    best |= fastest({"SyncVectorEnv of plain Python": player.round(1)}, seconds)
    best["SoloEnv / plain Python"] = best["SoloEnv"] / best["plain Python"]
    return best


def battles(seconds: float) -> dict[str, float]:
    """Last Bullet, 20 entries of 50: only survivors that live are counted.

    Late in a match there are few of them, and as many zombies as there were survivors.
    """
    rows = 20 * 50
    world = necrodome.make_vec("last-bullet", num_envs=rows, seed=1, autoreset_mode="disabled", **LEAN)
    chance = np.random.default_rng(7)
    moves = [chance.integers(130, size=rows, dtype=np.uint8) for _ in range(64)]

    def battle(turns: int) -> Round:
        # Counted once, before anything is timed: the same seed and actions give the same match.
        world.reset(seed=1)
        living: list[int] = []
        while len(living) < turns and (not living or living[-1]):
            living.append(int(world.step(moves[len(living) % len(moves)])[1].sum()))
        played = [moves[turn % len(moves)] for turn in range(len(living))]

        def work() -> tuple[int, int]:
            world.reset(seed=1)
            start = time.perf_counter_ns()
            for actions in played:
                world.step(actions)
            return sum(living), time.perf_counter_ns() - start

        return work

    return fastest({"last-bullet, first 20 turns": battle(20), "last-bullet, whole matches": battle(10**6)}, seconds)


def small_steps(seconds: float) -> dict[str, float]:
    """One step of a few matches, in microseconds."""
    told = {}
    for rows in (1, 16):
        for how, options in (("lean", LEAN), ("default", {})):
            envs, _ = make("zombie-dice-solo", rows, **options)
            actions = [np.full(rows, place % 2, np.uint8) for place in range(1000)]

            def work(step: Any = envs.step, actions: Any = actions) -> tuple[int, int]:
                start = time.perf_counter_ns()
                for some in actions:
                    step(some)
                return len(actions), time.perf_counter_ns() - start

            told[f"microseconds of a step of {rows}, {how}"] = 1e6 / fastest({"": work}, seconds)[""]
    return told


def threads(seconds: float) -> dict[str, float]:
    """Two threads against one. Only a machine with two idle cores can tell."""
    rows = 65536
    works = {}
    for count in (1, 2):
        envs, obs = make("zombie-dice-solo", rows, **LEAN, threads=count)
        works[f"{count}"] = Player("zombie-dice-solo", envs.step, obs, rows).round(8)
    best = fastest(works, seconds)
    return {"two threads / one, 65536 matches": best["2"] / best["1"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="how long each comparison may take")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    parser.add_argument("--check", action="store_true", help="fail where a ratio is below its floor")
    chosen = parser.parse_args()
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    instructions = necrodome.instruction_set()
    told: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        code = compile_c(folder)
        for game in GAMES:
            told |= compare(game, code, chosen.seconds)
    told |= compare_python(chosen.seconds)
    told |= battles(chosen.seconds)
    told |= small_steps(min(chosen.seconds, 1.0))
    if len(cores) > 1:
        os.sched_setaffinity(0, cores)
        told |= threads(chosen.seconds)

    if chosen.json:
        print(json.dumps({"instructions": instructions, **told}, indent=2))
    else:
        print(f"instructions: {instructions}")
        for name, number in told.items():
            if "/" in name:
                print(f"{name:44} {number:12,.1f} x")
            elif name.startswith("microseconds"):
                print(f"{name:44} {number:12.2f}")
            else:
                print(f"{name:44} {number / 1e6:12,.2f} million steps/s")

    short = []
    for game in GAMES:
        ratio, least = told[f"{game.name}, lean / C loop"], game.floors.get(instructions, 0)
        if ratio < least:
            short.append(f"{game.name}: expected at least {least} times the C loop on {instructions}, got {ratio:.1f}")
    if told["SoloEnv / plain Python"] < 1:
        short.append(f"SoloEnv: expected the speed of plain Python, got {told['SoloEnv / plain Python']:.2f} times that")
    if chosen.check and short:
        sys.exit("\n".join(short))


if __name__ == "__main__":
    main()
