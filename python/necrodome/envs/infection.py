"""Infection: a party game of hidden roles for 2 to 500 players (PettingZoo, AEC and parallel).

>>> from necrodome.envs import infection
>>> env = infection.env(players=8)
>>> env.reset(seed=1)
>>> for agent in env.agent_iter():
...     observation, reward, termination, truncation, info = env.last()
...     over = termination or truncation
...     env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))

Actions: 0 ends the turn; the next 7 answer the player who asks, with nothing, a precaution, 1 to 4 viruses or all
(more than 4); then 7 for each other player, the next seat first, meet that player with the same commitments.
The second half does the same after taking the antidote. Reward, at the end: from +1 for the first place to -1 for
the last in equal steps; players who tie share the mean. Options of the rules: `zombies`, `max_turns`,
`start_antibodies`, `start_viruses`, `surplus_virus`; `rules="classic"` with `interaction_limit` and
`antidote_limit` (then a precaution never works).
"""

from __future__ import annotations

from typing import Any

from .aec import CheckedEnv, TurnEnv
from .parallel import AskedEnv

__all__ = ["env", "parallel_env", "raw_env"]


def raw_env(players: int = 8, **options: Any) -> TurnEnv:
    """Makes the environment without wrappers.

    Keywords are the options of the rules, `names` (which then set the number of players), `observation` ("vector" or
    "dict"), `render_mode` and `bad_action` ("play" or "raise").
    """
    return TurnEnv("infection", players, **options)


def env(players: int = 8, **options: Any) -> CheckedEnv:
    """Makes the environment with PettingZoo's check of the order of calls."""
    return CheckedEnv(raw_env(players, **options))


def parallel_env(players: int = 8, **options: Any) -> AskedEnv:
    """Makes an environment in which all agents step at once. Only the action of the agent that is asked counts."""
    return AskedEnv(raw_env(players, **options))
