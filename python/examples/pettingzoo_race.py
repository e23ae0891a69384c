"""Two policies meet in a PettingZoo environment, and the exact chance says whether the result is luck."""

# %% The environment, and two ways to play it
import os

import numpy as np
import numpy.typing as npt

import necrodome
from necrodome.envs import zombie_dice_race

MATCHES = int(os.environ.get("MATCHES", 500))
perfect = necrodome.solve("zombie-dice-race").policy


def greedy(obs: npt.NDArray[np.int16]) -> int:
    """Rolls unless a roll is likely to cost more than it brings."""
    enough = (7, 5, 1)[min(obs[1], 2)]
    return int(obs[0] < enough)


# %% Play: one agent acts after the other, each with what it sees
env = zombie_dice_race.raw_env()
wins = 0
for number in range(MATCHES):
    env.reset(seed=number)
    # Seats change from match to match.
    seat = f"player_{number % 2}"
    for agent in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        assert observation is not None
        if termination or truncation:
            wins += agent == seat and reward > 0
            env.step(None)
        else:
            env.step((greedy if agent == seat else perfect)(observation["observation"]))

# %% The exact chance, and how far the matches are from it
exact = necrodome.evaluate(greedy, "zombie-dice-race")
share = wins / MATCHES
error = np.sqrt(exact.value * (1 - exact.value) / MATCHES)
print(f"greedy won {share:.3f} of {MATCHES} matches, +- {error:.3f}; exactly {exact.value:.4f}")
