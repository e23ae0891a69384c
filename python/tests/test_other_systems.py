"""The package as it is on systems other than Linux, where the native module has no arena."""

from __future__ import annotations

import subprocess
import sys

#: Takes away what crates/py/src/lib.rs exports on Linux only.
WITHOUT_ARENA = """
from necrodome import _native

for name in ("Legal", "Replay", "ZombieSeat", "analyze", "play", "run_stage"):
    delattr(_native, name)
"""


def run(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_ARENA + code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_environments_and_exact_values_work_without_the_arena() -> None:
    run("""
import gymnasium
import necrodome
import necrodome.envs
from necrodome import opponents
from necrodome.compat import gamezombies, godzilla, zombiedice

for name in necrodome.__all__:
    getattr(necrodome, name)
gymnasium.make("necrodome/ZombieDiceSolo-v0").reset(seed=1)
envs = necrodome.make_vec("zombie-dice-race", num_envs=4, seed=1, opponent="optimal")
envs.reset()
envs.step([1, 1, 1, 1])
assert necrodome.solve("zombie-dice-solo").value > 2
assert necrodome.evaluate("greedy", "zombie-dice-solo").value > 1
zombies = [zombiedice.examples.RandomCoinFlipZombie(name="one"), zombiedice.examples.RandomCoinFlipZombie(name="two")]
zombiedice.runGame(zombies)
""")


def test_matches_say_that_they_need_linux() -> None:
    run("""
import necrodome
from necrodome.compat import zombiedice

for ask in (
    lambda: necrodome.match("zombie-dice", ["greedy", "cautious"]),
    lambda: necrodome.tournament("zombie-dice", ["greedy", "cautious"]),
    lambda: necrodome.analyze(b""),
    lambda: zombiedice.serve("zombie.py", None),
):
    try:
        ask()
    except NotImplementedError as error:
        assert "on Linux" in str(error) and "environments, solve and evaluate work everywhere" in str(error), error
    else:
        raise AssertionError("it went on")
""")
