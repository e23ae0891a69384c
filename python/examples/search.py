"""Look ahead with saved states: what would somebody score who knows the dice to come?"""

# %% An environment goes on from a saved state as often as one likes, with the same chance
import os

import gymnasium

import necrodome

EPISODES = int(os.environ.get("EPISODES", 2_000))
env = gymnasium.make("necrodome/ZombieDiceSolo-v0").unwrapped
solo = necrodome.solve("zombie-dice-solo")


def best_from(saved: bytes) -> float:
    """The most that is still to be gained from a state: stop gains nothing, go goes on."""
    env.restore(saved)
    _, _, done, _, _ = env.step(0)
    banked = 0.0
    env.restore(saved)
    _, gained, done, _, _ = env.step(1)
    return max(banked, float(gained) + (0.0 if done else best_from(env.save())))


# %% On average: it tells how much of a turn is luck
total = 0.0
for seed in range(EPISODES):
    env.reset(seed=seed)
    total += best_from(env.save())
clairvoyant = total / EPISODES
print(f"a clairvoyant scores {clairvoyant:.3f} on average; nobody else scores more than {solo.value:.6f}")
