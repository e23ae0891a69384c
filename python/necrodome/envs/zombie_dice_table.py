"""Zombie Dice at a table of 2 to 99: the most brains win when somebody has 13 (PettingZoo, AEC).

>>> from necrodome.envs import zombie_dice_table
>>> env = zombie_dice_table.env(players=4)
>>> env.reset(seed=1)
>>> for agent in env.agent_iter():
...     observation, reward, termination, truncation, info = env.last()
...     over = termination or truncation
...     env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))

Actions: 0 stops, 1 goes on. Reward, at the end: from +1 for the first place to -1 for the last in equal
steps; those who tie share the mean. Options of the rules: `out_of_dice`, `first_roll`, `tiebreak`,
`max_rounds`.
"""

from __future__ import annotations

from collections.abc import Sequence

from .aec import CheckedEnv, TurnEnv
from .base import Option

__all__ = ["env", "raw_env"]


def raw_env(
    players: int = 4,
    *,
    names: Sequence[str] | None = None,
    observation: str = "vector",
    render_mode: str | None = None,
    **rules: Option,
) -> TurnEnv:
    """The bare environment: an illegal action is a `ValueError` and changes nothing."""
    return TurnEnv("zombie-dice", players, names, observation, render_mode, rules)


def env(
    players: int = 4,
    *,
    names: Sequence[str] | None = None,
    observation: str = "vector",
    render_mode: str | None = None,
    **rules: Option,
) -> CheckedEnv:
    """The environment with PettingZoo's usual wrappers."""
    return CheckedEnv(
        raw_env(players, names=names, observation=observation, render_mode=render_mode, **rules)
    )
