"""The shared part of adapters to libraries for one learner: a vector environment whose rows are all the learner's."""

from __future__ import annotations

from typing import Any

from gymnasium.vector import AutoresetMode

from ..envs.vector import ArenaVectorEnv


def make_learners(game: str, num_envs: int, mode: AutoresetMode, options: dict[str, Any]) -> ArenaVectorEnv:
    """Makes a vector environment in which every row is an episode of the learner.

    Without opponents, the rows of a game for several players would show all seats in turn, and a library for one learner
    would take them for one player's episode.
    """
    envs = ArenaVectorEnv(game, num_envs, autoreset_mode=mode, **options)
    if envs.players > 1 and options.get("opponent") is None and options.get("opponents") is None:
        raise ValueError(
            f"{game} has {envs.players} seats, and one learner plays one of them: expected "
            'opponent= or opponents= for the others, such as opponent="greedy"'
        )
    if envs.num_envs > envs.num_matches:
        raise ValueError(
            f"{game}: a survivor that is dead waits until its match begins anew, which a library for one learner takes for an "
            "episode: expected copies=1, so that each row is a match of its own, or use make_vec"
        )
    return envs
