"""PufferLib: a `PufferEnv` whose rows are written into PufferLib's buffers.

>>> import pufferlib.vector
>>> from necrodome.adapters.pufferlib import ArenaPufferEnv
>>> words = {"game": "zombie-dice-solo", "num_envs": 1024}
>>> envs = pufferlib.vector.make(ArenaPufferEnv, env_kwargs=words, num_envs=2, backend=pufferlib.vector.Multiprocessing)

PufferLib 3.0 requires Gymnasium 0.29, but works with the newer one that necrodome needs: docs/python.md says how to
install both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pufferlib
from gymnasium.vector import AutoresetMode

from ._learners import make_learners

__all__ = ["ArenaPufferEnv"]

# How many steps pass between two reports of finished episodes.
_REPORT_EVERY = 128


class ArenaPufferEnv(pufferlib.PufferEnv):
    """A vector environment for PufferLib: every row is an agent.

    `options` are those of `necrodome.make_vec`, except `autoreset_mode`, which the library dictates. Games of several
    seats need `opponent` or `opponents`. `buf` has PufferLib's arrays, which may be in shared memory:
    `observations`, `rewards`, `terminals` and `truncations` are written in place. `action_masks` has the legal actions.
    """

    def __init__(
        self, game: str, num_envs: int = 1, *, buf: Any = None, seed: int | None = None, **options: Any
    ) -> None:
        # The buffers are copied into, so the environment's own arrays may be used again.
        self.envs = make_learners(game, num_envs, AutoresetMode.SAME_STEP, {**options, "copy": False})
        if options.get("observation", "vector") != "vector":
            raise ValueError("PufferLib's buffers hold vectors: expected observation='vector'")
        self.single_observation_space = self.envs.single_observation_space
        self.single_action_space = self.envs.single_action_space
        self.num_agents = self.envs.num_envs
        self._seed = seed
        super().__init__(buf)
        self._returns = np.zeros(self.num_agents)
        self._lengths = np.zeros(self.num_agents, dtype=np.int64)
        self._forget()

    def _forget(self) -> None:
        self._steps = self._episodes = 0
        self._sums = [0.0, 0.0]

    def reset(self, seed: int | None = None) -> tuple[npt.NDArray[Any], list[dict[str, Any]]]:
        """Begins a new episode in each row."""
        observations, _ = self.envs.reset(seed=self._seed if seed is None else seed)
        self._seed = None
        np.copyto(self.observations, observations)
        self.rewards[:] = 0
        self.terminals[:] = False
        self.truncations[:] = False
        self._returns[:] = 0
        self._lengths[:] = 0
        self._forget()
        return self.observations, []

    def step(self, actions: npt.NDArray[Any]) -> tuple[Any, Any, Any, Any, list[dict[str, Any]]]:
        """Plays an action in each row. From time to time the list of infos has the means of the episodes that have ended."""
        observations, rewards, terminations, truncations, _ = self.envs.step(np.asarray(actions).ravel())
        np.copyto(self.observations, observations)
        np.copyto(self.rewards, rewards)
        np.copyto(self.terminals, terminations)
        np.copyto(self.truncations, truncations)
        return self.observations, self.rewards, self.terminals, self.truncations, self._report()

    def _report(self) -> list[dict[str, Any]]:
        self._returns += self.rewards
        self._lengths += 1
        self._steps += 1
        ended = np.flatnonzero(self.terminals | self.truncations)
        self._episodes += len(ended)
        self._sums[0] += float(self._returns[ended].sum())
        self._sums[1] += float(self._lengths[ended].sum())
        self._returns[ended] = 0
        self._lengths[ended] = 0
        if self._steps < _REPORT_EVERY or not self._episodes:
            return []
        returned, length = (total / self._episodes for total in self._sums)
        report = {"episode_return": returned, "episode_length": length, "episodes": self._episodes}
        self._forget()
        return [report]

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions: a row of flags for each row."""
        return self.envs.action_masks()

    def close(self) -> None:
        """Closes the vector environment."""
        self.envs.close()
