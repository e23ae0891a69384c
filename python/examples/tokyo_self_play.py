"""Self-play in Tokyo for two: PPO with masks, in which one network plays both monsters."""

# %% The environment: 256 matches side by side, each shown to the monster that is to decide
import os
import time

import numpy as np
import numpy.typing as npt
import torch
from gymnasium.vector import AutoresetMode
from torch import nn

import necrodome

UPDATES = int(os.environ.get("UPDATES", 60))
EXACT = os.environ.get("EXACT", "1") == "1"
MATCHES, STEPS, EPOCHS, MINIBATCHES = 256, 64, 4, 4
LAMBDA, CLIP, ENTROPY, RATE = 0.95, 0.2, 0.01, 1e-3

torch.manual_seed(1)
torch.set_num_threads(1)  # small networks: more only wait for each other
SAME_STEP = AutoresetMode.SAME_STEP
envs = necrodome.make_vec("tokyo", MATCHES, players=2, seed=1, autoreset_mode=SAME_STEP)
ACTIONS = int(envs.action_masks().shape[1])
scale = torch.as_tensor(np.array([field.high for field in envs.layout.fields]), dtype=torch.float32)


# %% Dice in a fixed order: which of them shows a face makes no difference, and there is less to learn
DICE = np.array([column for column, field in enumerate(envs.layout.fields) if field.name.startswith("die_")])
KEEPS = 1 << len(DICE)  # the first actions keep dice, a bit for each; two more leave Tokyo or stay

Observations = npt.NDArray[np.int16]
Numbers = npt.NDArray[np.int64]


def in_order(observations: Observations) -> tuple[torch.Tensor, torch.Tensor, Numbers]:
    """Observations with sorted dice, the legal actions, and which die each of the sorted ones was."""
    order: Numbers = np.argsort(observations[:, DICE], axis=1, kind="stable")
    seen = observations.copy()
    seen[:, DICE] = np.take_along_axis(seen[:, DICE], order, axis=1)
    leaves = observations[:, :1] == 1  # the phase
    return torch.as_tensor(seen), torch.as_tensor((np.arange(ACTIONS) >= KEEPS) == leaves), order


def as_rolled(actions: Numbers, order: Numbers) -> Numbers:
    """The same actions for the dice as they lie."""
    bits = (actions[:, None] >> np.arange(len(DICE))) & 1
    kept: Numbers = (bits << order).sum(axis=1)
    return np.where(actions < KEEPS, kept, actions)


# %% The network: a policy over the legal actions, and the chance to win between -1 and 1
class Agent(nn.Module):
    """Dice are told as one of five faces each, everything else as a number from 0 to 1."""

    def __init__(self) -> None:
        super().__init__()
        rest = np.setdiff1d(np.arange(len(scale)), DICE)
        self.rest, self.dice = torch.as_tensor(rest), torch.as_tensor(DICE)
        width = 5 * len(DICE) + len(rest)
        self.body = nn.Sequential(nn.Linear(width, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())
        self.policy = nn.Linear(128, ACTIONS)
        self.value = nn.Linear(128, 1)

    def forward(self, seen: torch.Tensor, masks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logarithms of the probabilities of all actions, and the value to the one who decides."""
        faces = nn.functional.one_hot(seen[:, self.dice].long(), 5).flatten(1).float()
        body = self.body(torch.cat([faces, (seen.float() / scale)[:, self.rest]], dim=1))
        scores = self.policy(body).masked_fill(~masks, -1e9)
        return torch.log_softmax(scores, dim=1), torch.tanh(self.value(body)[:, 0])


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=RATE, eps=1e-5)


# %% Playing: what one monster wins the other loses, so the next value counts against who has just acted
def play(observations: Observations) -> tuple[Observations, list[torch.Tensor]]:
    """Plays some steps of all matches; gives the next observations and what there is to learn."""
    seen = torch.zeros((STEPS, MATCHES, len(scale)), dtype=torch.int16)
    masks = torch.zeros((STEPS, MATCHES, ACTIONS), dtype=torch.bool)
    actions = torch.zeros((STEPS, MATCHES), dtype=torch.int64)
    logs, rewards, signs = (torch.zeros((STEPS, MATCHES)) for _ in range(3))
    values = torch.zeros((STEPS + 1, MATCHES))
    with torch.no_grad():
        for step in range(STEPS):
            seen[step], masks[step], order = in_order(observations)
            log, values[step] = agent(seen[step], masks[step])
            actions[step] = torch.multinomial(log.exp(), 1)[:, 0]
            logs[step] = log.gather(1, actions[step][:, None])[:, 0]
            before = envs.to_act().copy()
            played = as_rolled(actions[step].numpy(), order)
            observations, reward, terminated, truncated, _ = envs.step(played)
            rewards[step] = torch.as_tensor(reward)
            # 1: the same monster goes on; -1: it is the other's turn; 0: the match is over.
            turn = np.where(envs.to_act() == before, 1.0, -1.0) * ~(terminated | truncated)
            signs[step] = torch.as_tensor(turn)
        seen_last, masks_last, _ = in_order(observations)
        values[STEPS] = agent(seen_last, masks_last)[1]
    advantages = torch.zeros((STEPS + 1, MATCHES))
    for step in reversed(range(STEPS)):
        error = rewards[step] + signs[step] * values[step + 1] - values[step]
        advantages[step] = error + LAMBDA * signs[step] * advantages[step + 1]
    returns = advantages[:-1] + values[:-1]
    parts = (seen, masks, actions, logs, advantages[:-1], returns)
    return observations, [part.flatten(0, 1) for part in parts]


def learn(parts: list[torch.Tensor]) -> None:
    """Proximal policy optimisation."""
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(parts[0])).chunk(MINIBATCHES):
            seen, masks, actions, logs, advantages, returns = (part[rows] for part in parts)
            log, value = agent(seen, masks)
            ratio = (log.gather(1, actions[:, None])[:, 0] - logs).exp()
            gain = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
            policy_loss = -torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
            entropy = -(log.exp() * log).sum(dim=1).mean()
            loss = policy_loss + 0.5 * (value - returns).square().mean() - ENTROPY * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


# %% Learning
start = time.process_time()
observations, _ = envs.reset()
for update in range(UPDATES):
    optimizer.param_groups[0]["lr"] = RATE * (1 - update / UPDATES)
    observations, parts = play(observations)
    learn(parts)
seconds = time.process_time() - start


# %% What it has learned: in matches against somebody who plays at random, and exactly
def act(observations: Observations) -> Numbers:
    """The action that it likes best."""
    seen, masks, order = in_order(observations)
    with torch.no_grad():
        return as_rolled(agent(seen, masks)[0].argmax(dim=1).numpy(), order)


def guess(observations: Observations) -> Numbers:
    """A random legal action."""
    actions: Numbers = torch.multinomial(in_order(observations)[1].float(), 1)[:, 0].numpy()
    return actions


observations, _ = envs.reset(seed=2)
seat = np.arange(MATCHES) % 2
won = lost = 0
for step in range(100):
    mover = envs.to_act().copy()
    actions = np.where(mover == seat, act(observations), guess(observations))
    observations, reward = envs.step(actions)[:2]
    gain = np.where(mover == seat, reward, -reward)
    won, lost = won + int((gain > 0).sum()), lost + int((gain < 0).sum())
print(f"{UPDATES * STEPS * MATCHES:,} decisions in {seconds:.0f} s of CPU time")
print(f"it wins {won / (won + lost):.3f} of {won + lost} matches against random play")

# %% The exact chance against the perfect player: all 34 million positions, which takes some minutes
if EXACT:
    exact = necrodome.evaluate(act, "tokyo", answers="actions", vectorized=True)
    print(f"against the perfect player it wins {exact.value:.4f} (best {exact.best:.4f})")
