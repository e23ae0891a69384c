"""Training on Ray actors with fixed seeds: policy gradients, the same weights on any number of nodes."""

# %% Actors: each steps its own turns, from a seed of its own
import os
from typing import Any

import numpy as np
import numpy.typing as npt
import ray
from gymnasium.vector import AutoresetMode

import necrodome

STEPS = int(os.environ.get("STEPS", 400))
ACTORS = int(os.environ.get("ACTORS", 4))
N = 1024

Floats = npt.NDArray[np.float64]


def features(obs: npt.NDArray[np.int16]) -> Floats:
    """What the policy looks at: brains and shotguns, together and apart, and how red the dice are."""
    brains, shotguns = obs[:, 0] / 4.0, obs[:, 1].astype(float)
    dice = obs[:, 2:5] + 2.0 * obs[:, 5:8]
    danger = (dice[:, 1] + 2 * dice[:, 2]) / np.maximum(1, dice.sum(axis=1))
    ones = np.ones(len(obs))
    return np.column_stack(
        [ones, brains, shotguns, brains * shotguns, shotguns == 2, danger, danger * brains]
    )


def going(obs: npt.NDArray[np.int16], weights: Floats) -> Floats:
    """The probability of rolling: a logistic function of the features."""
    chance: Floats = 1 / (1 + np.exp(-features(obs) @ weights))
    return chance


class Actor:
    """Turns side by side. They follow from the number of the actor and the weights that it is told."""

    def __init__(self, number: int) -> None:
        self.envs = necrodome.make_vec(
            "zombie-dice-solo", num_envs=N, seed=number, autoreset_mode=AutoresetMode.SAME_STEP
        )
        self.rng = np.random.default_rng(number)
        self.obs, _ = self.envs.reset()
        self.trace, self.score, self.mean = np.zeros((N, 7)), np.zeros(N), 0.0

    def gradient(self, weights: Floats, steps: int) -> Floats:
        """Plays some steps with these weights; gives the mean gradient of them."""
        total = np.zeros(7)
        for _ in range(steps):
            chance = going(self.obs, weights)
            actions = self.rng.random(N) < chance
            self.trace += (actions - chance)[:, None] * features(self.obs)
            self.obs, rewards, terminated, truncated, _ = self.envs.step(actions.astype(np.int64))
            self.score += rewards
            done = terminated | truncated
            if done.any():
                self.mean += 0.05 * (self.score[done].mean() - self.mean)
                total += ((self.score[done] - self.mean)[:, None] * self.trace[done]).mean(axis=0)
                self.trace[done], self.score[done] = 0, 0
        return total / steps


# %% Learning: `RAY_ADDRESS=auto` trains on the cluster of this machine; without it, Ray starts here
ray.init(address=os.environ.get("RAY_ADDRESS", "local"), log_to_driver=False, ignore_reinit_error=True)
# A tenth of a CPU each, so that all of them fit on one small node, too.
remote: Any = ray.remote(num_cpus=0.1, scheduling_strategy="SPREAD")(Actor)
actors = [remote.remote(number) for number in range(ACTORS)]
weights, momentum = np.zeros(7), np.zeros(7)
for update in range(STEPS // 4):
    # In the order of the actors, whoever is first: sums of floats depend on it.
    gradients = ray.get([actor.gradient.remote(weights, 4) for actor in actors])
    momentum = 0.9 * momentum + np.mean(gradients, axis=0)
    weights = weights + 0.3 * momentum

# %% What it is worth, exactly
after = necrodome.evaluate(lambda obs: going(obs, weights), vectorized=True)
firm = necrodome.evaluate(lambda obs: going(obs, weights) > 0.5, vectorized=True)
print(f"{ACTORS} actors: {after.value:.4f}, without the dice in its head {firm.value:.4f}")
print(f"that is {firm.value / firm.best:.2%} of the optimum, {STEPS * N * ACTORS / 1e6:.1f} million steps")
