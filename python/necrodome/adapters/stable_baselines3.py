"""Stable-Baselines3: a `VecEnv` directly on a vector environment, without an object for each row.

>>> from stable_baselines3 import PPO
>>> from necrodome.adapters.stable_baselines3 import make_vec_env
>>> model = PPO("MlpPolicy", make_vec_env("zombie-dice-solo", 256)).learn(100_000)

`MaskablePPO` of sb3-contrib finds the masks automatically.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from ..envs.vector import ArenaVectorEnv
from ._learners import make_learners

__all__ = ["ArenaVecEnv", "make_vec_env"]

Indices = None | int | Iterable[int]


def make_vec_env(game: str, num_envs: int = 1, **options: Any) -> ArenaVecEnv:
    """Makes many episodes of a game, for the algorithms of Stable-Baselines3.

    `options` are those of `necrodome.make_vec`, except `autoreset_mode`, which the library dictates. Games of several
    seats need `opponent` or `opponents`.
    """
    return ArenaVecEnv(make_learners(game, num_envs, AutoresetMode.SAME_STEP, options))


class ArenaVecEnv(VecEnv):
    """A vector environment for Stable-Baselines3.

    The `info` of a row whose episode has ended has `terminal_observation`, `TimeLimit.truncated` and, as from `Monitor`,
    `episode`: the sum of rewards `r`, the length `l` and the seconds since the start `t`.
    """

    def __init__(self, envs: ArenaVectorEnv) -> None:
        if envs.autoreset_mode is not AutoresetMode.SAME_STEP:
            raise ValueError(f"expected AutoresetMode.SAME_STEP, got {envs.autoreset_mode}")
        self.envs = envs
        self._actions: Any = None
        self._seed: int | None = None
        self._returns = np.zeros(envs.num_envs)
        self._lengths = np.zeros(envs.num_envs, dtype=np.int64)
        self._start = time.time()
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Sets the seed of the next `reset`, from which the streams of the rows follow."""
        seeds: Sequence[int | None] = super().seed(seed)
        self._seed = seeds[0]
        return seeds

    def reset(self) -> Any:
        """Begins a new episode in each row."""
        observations, _ = self.envs.reset(seed=self._seed)
        self._seed = None
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = 0
        self._lengths[:] = 0
        return observations

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Keeps the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Plays the actions of `step_async`."""
        observations, rewards, terminations, truncations, news = self.envs.step(self._actions)
        dones = terminations | truncations
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = np.flatnonzero(dones)
        if len(ended):
            seconds = round(time.time() - self._start, 6)
            for row in map(int, ended):
                infos[row] = {
                    "terminal_observation": _row(news["final_obs"], row),
                    "TimeLimit.truncated": bool(truncations[row] and not terminations[row]),
                    "episode": {
                        "r": float(self._returns[row]),
                        "l": int(self._lengths[row]),
                        "t": seconds,
                    },
                }
            self._returns[ended] = 0
            self._lengths[ended] = 0
        return observations, rewards, dones, infos

    def close(self) -> None:
        """Closes the vector environment."""
        self.envs.close()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions: a row of flags for each row."""
        return self.envs.action_masks()

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **words: Any) -> list[Any]:
        """Calls a method of the vector environment, which returns something for each row, and selects these rows."""
        result = getattr(self.envs, method_name)(*args, **words)
        if not isinstance(result, np.ndarray) or len(result) != self.num_envs:
            raise AttributeError(f"{method_name} is a method of all rows together: call envs.{method_name}")
        return [result[row] for row in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Returns an attribute of the vector environment, which all rows share."""
        value = getattr(self.envs, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Raises an error: rows have no attributes of their own."""
        raise AttributeError(f"{attr_name}: rows of a vector environment have no attributes of their own")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """Says that rows are wrapped in `Monitor`, since they report their episodes as it does, and in no other class."""
        monitored = wrapper_class is Monitor
        return [monitored for _ in self._get_indices(indices)]


def _row(observations: Any, row: int) -> Any:
    """A copy of one row."""
    if isinstance(observations, dict):
        return {name: column[row].copy() for name, column in observations.items()}
    return observations[row].copy()
