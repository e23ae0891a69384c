"""Exact values: what positions, choices and policies are worth, without simulation."""

# %% The value of a game, and its options
import numpy as np

import necrodome

solo = necrodome.solve("zombie-dice-solo")
recycled = necrodome.solve("zombie-dice-solo", out_of_dice="recycle_brains")
print(f"a perfect player scores {solo.value:.6f}, with recycled brains {recycled.value:.6f}")

# %% What is each action worth here? 0 is stop, 1 is go.
position = dict.fromkeys(solo.fields, 0) | {
    "brains": 3,
    "shotguns": 1,
    "cup_green": 4,
    "cup_yellow": 3,
    "cup_red": 1,
    "feet_yellow": 1,
}
stop, go = solo.action_values(position)
print(f"with 3 brains and a shotgun: stop {stop:.4f}, go {go:.4f}")

# %% The whole policy as arrays: in how many states does it roll, by brains and shotguns?
states, roll = solo.tables["states"], solo.tables["roll"][0]
brains, shotguns = states[:, 0], states[:, 1]
shares = np.array([[roll[(brains == b) & (shotguns == s)].mean() for b in range(7)] for s in range(3)])
print("share of states in which rolling is right, by shotguns (rows) and brains 0 to 6 (columns)")
print(shares.round(2))

# %% The race: what a lead is worth to the one who moves
race = necrodome.solve("zombie-dice-race")
print("chance to win with 6 brains against 0, 3, 6, 9, 12:", race.tables["value"][6, ::3].round(3))

# %% How good is a simple rule, exactly?
for limit in range(1, 6):
    rule = necrodome.evaluate(lambda obs: obs[0] < limit and obs[1] < 2, "zombie-dice-solo")
    print(f"stop at {limit} brains or 2 shotguns: {rule.value:.6f}, regret {rule.regret:.6f}")

# %% The same rule in the race, all states at once: against the perfect player, and who knows the rule
rule = necrodome.evaluate(lambda obs: (obs[:, 0] < 3) & (obs[:, 1] < 2), "zombie-dice-race", vectorized=True)
assert rule.best_response is not None
print(f"it wins {rule.value:.4f} against perfection; who knows it wins {rule.best_response.mean:.4f}")
