"""Zombie Dice at a table of 2 to 99: the most brains win when somebody has 13 (PettingZoo, AEC).

>>> from necrodome.envs import zombie_dice_table
>>> env = zombie_dice_table.env(players=4)
>>> env.reset(seed=1)
>>> for agent in env.agent_iter():
...     observation, reward, termination, truncation, info = env.last()
...     over = termination or truncation
...     env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))

Actions: 0 stops, 1 goes on. Reward, at the end: from +1 for the first place to -1 for the last in equal
steps; players who tie share the mean. Options of the rules: `out_of_dice`, `first_roll`, `tiebreak`,
`max_rounds`.
"""

from __future__ import annotations

from typing import Any

from .aec import CheckedEnv, TurnEnv

__all__ = ["env", "raw_env"]


def raw_env(players: int = 4, **options: Any) -> TurnEnv:
    """Makes the environment without wrappers.

    Keywords are the options of the rules, `names` (which then set the number of players), `observation` ("vector" or
    "dict"), `render_mode` and `bad_action` ("play" or "raise").
    """
    return TurnEnv("zombie-dice", players, **options)


def env(players: int = 4, **options: Any) -> CheckedEnv:
    """Makes the environment with PettingZoo's check of the order of calls."""
    return CheckedEnv(raw_env(players, **options))
