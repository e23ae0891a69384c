"""A vector environment and a policy in numpy: policy gradients, 4096 turns side by side."""

# %% The environment: observations, rewards and flags in arrays that stay as they are
import os

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

import necrodome

STEPS = int(os.environ.get("STEPS", 400))
N = 4096
rng = np.random.default_rng(1)
envs = necrodome.make_vec("zombie-dice-solo", num_envs=N, seed=1, autoreset_mode=AutoresetMode.SAME_STEP)

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


def going(obs: npt.NDArray[np.int16]) -> Floats:
    """The probability of rolling: a logistic function of the features."""
    chance: Floats = 1 / (1 + np.exp(-features(obs) @ weights))
    return chance


# %% Learning: what the choices of a turn have in common with a good end is made more likely
weights = np.zeros(7)
before = necrodome.evaluate(going, vectorized=True)
trace, score = np.zeros((N, 7)), np.zeros(N)
mean, momentum = 0.0, np.zeros(7)
obs, _ = envs.reset()
for step in range(STEPS):
    chance = going(obs)
    actions = rng.random(N) < chance
    trace += (actions - chance)[:, None] * features(obs)
    obs, rewards, terminated, truncated, _ = envs.step(actions.astype(np.int64))
    score += rewards
    done = terminated | truncated
    mean += 0.05 * (score[done].mean() - mean)
    gradient = ((score[done] - mean)[:, None] * trace[done]).mean(axis=0)
    momentum = 0.9 * momentum + gradient
    weights += 0.1 * momentum
    trace[done], score[done] = 0, 0

# %% What it is worth, exactly: as it gambles, and when it always does what it likes better
after = necrodome.evaluate(going, vectorized=True)
firm = necrodome.evaluate(lambda obs: going(obs) > 0.5, vectorized=True)
print(f"before {before.value:.4f}, after {after.value:.4f}, without the dice in its head {firm.value:.4f}")
print(f"that is {firm.value / firm.best:.2%} of the optimum, from {STEPS * N / 1e6:.1f} million steps")
