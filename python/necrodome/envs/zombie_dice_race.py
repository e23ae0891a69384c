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

from collections.abc import Sequence

from .aec import CheckedEnv, TurnEnv
from .base import Option

__all__ = ["env", "raw_env"]


def raw_env(
    *,
    names: Sequence[str] | None = None,
    observation: str = "vector",
    render_mode: str | None = None,
    **rules: Option,
) -> TurnEnv:
    """The bare environment: an illegal action is a `ValueError` and changes nothing."""
    return TurnEnv("zombie-dice-race", 2, names, observation, render_mode, rules)


def env(
    *,
    names: Sequence[str] | None = None,
    observation: str = "vector",
    render_mode: str | None = None,
    **rules: Option,
) -> CheckedEnv:
    """The environment with PettingZoo's usual wrappers."""
    return CheckedEnv(raw_env(names=names, observation=observation, render_mode=render_mode, **rules))
