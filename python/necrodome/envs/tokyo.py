"""Tokyo: 2 to 6 monsters, six dice; 20 points or the last one standing wins (PettingZoo, AEC).

>>> from necrodome.envs import tokyo
>>> env = tokyo.env(players=4)
>>> env.reset(seed=1)
>>> for agent in env.agent_iter():
...     observation, reward, termination, truncation, info = env.last()
...     over = termination or truncation
...     env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))

Actions: 0 to 63 name the dice to keep (bit i is die i), 64 leaves Tokyo, 65 stays. Reward, at the end: from
+1 for the first place to -1 for the last in equal steps; those who tie share the mean. Option of the rules:
`max_turns`.
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
    return TurnEnv("tokyo", players, names, observation, render_mode, rules)


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
