"""Zombie Dice, race: two players, the first to bank 13 brains wins (PettingZoo, AEC).

>>> from necrodome.envs import zombie_dice_race
>>> env = zombie_dice_race.env(out_of_dice="recycle_brains")
>>> env.reset(seed=1)
>>> for agent in env.agent_iter():
...     observation, reward, termination, truncation, info = env.last()
...     over = termination or truncation
...     env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))

Actions: 0 stops, 1 goes on. Reward: +10 for the winner and -10 for the loser, at the end.
Options of the rules: `out_of_dice`, `first_roll`, `max_rounds`.
"""

from __future__ import annotations

from typing import Any

from .aec import CheckedEnv, TurnEnv

__all__ = ["env", "raw_env"]


def raw_env(**options: Any) -> TurnEnv:
    """Makes the environment without wrappers.

    Keywords are the options of the rules, `names`, `observation` ("vector" or "dict") and `render_mode`.
    """
    return TurnEnv("zombie-dice-race", 2, **options)


def env(**options: Any) -> CheckedEnv:
    """Makes the environment with PettingZoo's check of the order of calls."""
    return CheckedEnv(raw_env(**options))
