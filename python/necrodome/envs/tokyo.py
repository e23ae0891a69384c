"""Tokyo: 2 to 6 monsters, six dice; 20 points or the last one standing wins (PettingZoo, AEC).

>>> from necrodome.envs import tokyo
>>> env = tokyo.env(players=4)
>>> env.reset(seed=1)
>>> for agent in env.agent_iter():
...     observation, reward, termination, truncation, info = env.last()
...     over = termination or truncation
...     env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))

Actions: 0 to 63 name the dice to keep (bit i is die i), 64 leaves Tokyo, 65 stays. Reward, at the end: from
+1 for the first place to -1 for the last in equal steps; players who tie share the mean. Option of the rules:
`max_turns`.
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
    return TurnEnv("tokyo", players, **options)


def env(players: int = 4, **options: Any) -> CheckedEnv:
    """Makes the environment with PettingZoo's check of the order of calls."""
    return CheckedEnv(raw_env(players, **options))
