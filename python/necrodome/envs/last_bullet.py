"""Last Bullet: survivors on a torus, rising zombies, three bullets each (PettingZoo, parallel).

>>> from necrodome.envs import last_bullet
>>> env = last_bullet.parallel_env(entries=2, copies=4, max_turns=10)
>>> observations, infos = env.reset(seed=1)
>>> while env.agents:
...     actions = {
...         agent: env.action_space(agent).sample(observations[agent]["action_mask"]) for agent in env.agents
...     }
...     observations, rewards, terminations, truncations, infos = env.step(actions)

An observation is the window of 17 x 17 squares around the survivor, from north to south and from west to east
(0 empty, 1 corpse, 2 zombie, 3 survivor of the own entry, 4 of another), then its bullets. Actions: 0 to 8
move (northwest, north, northeast, west, stay, east, southwest, south, southeast); 9 + (dy + 5) * 11 + (dx +
5) shoots at the square dx to the east and dy to the south. Reward: +1 for each clock that the
survivor lives to see. Options of the rules: `copies`, `density`, `max_turns`.
"""

from __future__ import annotations

from typing import Any

from .parallel import SurvivorsEnv

__all__ = ["parallel_env"]


def parallel_env(entries: int = 2, **options: Any) -> SurvivorsEnv:
    """Makes an environment with an agent for each survivor of each entry.

    Keywords are the options of the rules, `names` (which then set the number of entries), `observation`
    ("vector" or "dict"), `render_mode` and `bad_action` ("play" or "raise").
    """
    return SurvivorsEnv(entries, **options)
