"""A party of Infection in PettingZoo: hidden roles, and each agent sees its own view only."""

# %% A party of eight
from typing import Any

import numpy as np

from necrodome.envs import infection

env = infection.raw_env(players=8, start_antibodies=10, max_turns=6)
env.reset(seed=3)
rng = np.random.default_rng(3)
# As many actions again take the antidote first.
half = len(env.observe("player_0")["action_mask"]) // 2


# %% A simple way to play for each side: an agent knows what it was told to be, and no more
def act(observation: dict[str, Any]) -> int:
    """A zombie brings all it has to everybody; a human meets one other, with a precaution, and goes home."""
    seen = env.layout.named(observation["observation"])
    legal = np.flatnonzero(observation["action_mask"])
    zombie = seen["identity"] == 1
    if not zombie and seen["has_met"] and legal[0] == 0:
        return 0
    # What is committed: 0 nothing, 1 a precaution, 2 and more viruses.
    commitment = (legal - 1) % 7
    wanted = legal[(legal > 0) & (legal < half) & (commitment == (commitment.max() if zombie else 1))]
    return int(rng.choice(wanted if len(wanted) else legal))


# %% Play it
for agent in env.agent_iter():
    observation, reward, termination, truncation, _ = env.last()
    assert observation is not None
    env.step(None if termination or truncation else act(observation))

# %% Who won?
outcome = env.outcome()
assert outcome is not None
for name, place, score in zip(env.names, outcome["places"], outcome["scores"]):
    print(f"{name}: place {place}, score {score}")
