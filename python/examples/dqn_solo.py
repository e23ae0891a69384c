"""DQN for solo in one file: 99.9% of the optimum after 2.5 minutes of CPU time on a busy core (AVX-512)."""

# %% The environment: 256 turns side by side
import os
import time

import numpy as np
import numpy.typing as npt
import torch
from gymnasium.vector import AutoresetMode
from torch import nn

import necrodome

STEPS = int(os.environ.get("STEPS", 3_000))  # of all rows at once
ROWS, BATCH, CAPACITY, LEARNING_STARTS, TARGET_EVERY = 256, 1024, 400_000, 50, 50
# Rolling is tried more often than stopping: what comes after a roll has to be learned, too.
EXPLORED_ROLLS = 0.8

torch.manual_seed(1)
torch.set_num_threads(1)  # small networks: more only wait for each other
rng = np.random.default_rng(1)
envs = necrodome.make_vec("zombie-dice-solo", ROWS, seed=1, autoreset_mode=AutoresetMode.SAME_STEP)
scale = torch.as_tensor(np.array([field.high for field in envs.layout.fields]), dtype=torch.float32)

Observations = npt.NDArray[np.int16]


# %% The network: what each action is worth
class QNetwork(nn.Module):
    """Values of both actions, from the numbers of an observation."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(len(scale), 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2)
        )

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """One row of values for each observation."""
        values: torch.Tensor = self.layers(observations.float() / scale)
        return values


q, target = QNetwork(), QNetwork()
target.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)


def act(observations: Observations) -> npt.NDArray[np.int64]:
    """The better action of each row."""
    with torch.no_grad():
        actions: npt.NDArray[np.int64] = q(torch.as_tensor(observations)).argmax(dim=1).numpy()
    return actions


# %% The replay buffer: arrays that are filled again and again
seen = np.zeros((CAPACITY, len(scale)), np.int16)
seen_next = np.zeros_like(seen)
acted = np.zeros(CAPACITY, np.int64)
rewarded = np.zeros(CAPACITY, np.float32)
ended = np.zeros(CAPACITY, np.float32)


def learn(filled: int) -> None:
    """One step of gradient descent. Rewards sum to the score, so nothing is discounted."""
    rows = rng.integers(filled, size=BATCH)
    with torch.no_grad():
        following = torch.as_tensor(seen_next[rows])
        best = q(following).argmax(dim=1, keepdim=True)  # double DQN
        value = target(following).gather(1, best)[:, 0]
        goal = torch.as_tensor(rewarded[rows]) + (1 - torch.as_tensor(ended[rows])) * value
    guess = q(torch.as_tensor(seen[rows])).gather(1, torch.as_tensor(acted[rows])[:, None])[:, 0]
    loss = nn.functional.mse_loss(guess, goal)  # not Huber: a bust is rare and large, and has to count
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# %% Learning
start = time.process_time()
observations, _ = envs.reset()
for step in range(STEPS):
    progress = step / STEPS
    explores = rng.random(ROWS) < max(0.1, 1 - 2 * progress)
    actions = np.where(explores, rng.random(ROWS) < EXPLORED_ROLLS, act(observations)).astype(np.int64)
    following, rewards, terminated, truncated, infos = envs.step(actions)
    over = terminated | truncated
    rows = (step * ROWS + np.arange(ROWS)) % CAPACITY
    seen[rows], acted[rows], rewarded[rows], ended[rows] = observations, actions, rewards, terminated
    # Where an episode has ended, the next one begins at once: its last observation is in the infos.
    seen_next[rows] = np.where(over[:, None], infos["final_obs"], following) if over.any() else following
    observations = following
    if step >= LEARNING_STARTS:
        optimizer.param_groups[0]["lr"] = 1e-3 * (1 - progress)
        learn(min((step + 1) * ROWS, CAPACITY))
    if step % TARGET_EVERY == 0:
        target.load_state_dict(q.state_dict())
seconds = time.process_time() - start

# %% What it has learned, exactly
learned = necrodome.evaluate(act, "zombie-dice-solo", vectorized=True)
share = learned.value / learned.best
print(f"{STEPS * ROWS:,} steps in {seconds:.0f} s of CPU time")
print(f"value {learned.value:.4f} of {learned.best:.4f}, {share:.2%}")
