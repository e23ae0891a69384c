"""Tabular Q-learning for solo: within 2% of the exact optimum, and proved to be."""

# %% The environment, and a table of what each action is worth
import os
from collections import defaultdict

import gymnasium
import numpy as np
import numpy.typing as npt

import necrodome

EPISODES = int(os.environ.get("EPISODES", 60_000))
rng = np.random.default_rng(1)
env = gymnasium.make("necrodome/ZombieDiceSolo-v0")


def key(obs: npt.NDArray[np.int16]) -> tuple[int, ...]:
    """What the agent looks at: brains, shotguns, and how red the dice are that it would roll from."""
    brains, shotguns, *dice = (int(number) for number in obs)
    green, yellow, red = (dice[i] + 2 * dice[i + 3] for i in range(3))
    danger = (yellow + 2 * red) / max(1, green + yellow + red)
    return min(brains, 8), shotguns, int(danger * 4)


table: defaultdict[tuple[int, ...], npt.NDArray[np.float64]] = defaultdict(lambda: np.zeros(2))
visits: defaultdict[tuple[int, ...], npt.NDArray[np.int64]] = defaultdict(lambda: np.zeros(2, np.int64))

# %% Learning: rewards are changes of the score, so nothing is discounted
for episode in range(EPISODES):
    obs, _ = env.reset(seed=1 if episode == 0 else None)
    done = False
    while not done:
        state = key(obs)
        # Rolling is tried far more often than it is right: what comes after has to be learned, too.
        action = int(rng.random() < 0.8) if rng.random() < 0.5 else int(table[state].argmax())
        obs, reward, terminated, truncated, _ = env.step(action)
        done = terminated or truncated
        target = float(reward) + (0.0 if done else table[key(obs)].max())
        visits[state][action] += 1
        rate = max(0.002, visits[state][action] ** -0.8)
        table[state][action] += rate * (target - table[state][action])

# %% What has been learned is worth exactly this much: no simulation
learned = necrodome.evaluate(lambda obs: table[key(obs)].argmax(), "zombie-dice-solo")
share = learned.value / learned.best
print(f"{EPISODES} episodes, {len(table)} states in the table")
print(f"learned {learned.value:.6f}, optimum {learned.best:.6f}: {share:.2%}")
