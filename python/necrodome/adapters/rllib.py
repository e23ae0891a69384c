"""RLlib: a match with an agent for each seat, as a `MultiAgentEnv`.

>>> from ray.rllib.algorithms.ppo import PPOConfig
>>> from necrodome.adapters.rllib import ArenaMultiAgentEnv
>>> config = PPOConfig().environment(ArenaMultiAgentEnv, env_config={"game": "tokyo", "players": 3})

Observations are `{"observations": ..., "action_mask": ...}`, as RLlib's `ActionMaskingTorchRLModule` expects.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from ..envs.aec import TurnEnv

__all__ = ["ArenaMultiAgentEnv"]

_ByAgent = dict[str, Any]


class ArenaMultiAgentEnv(MultiAgentEnv):
    """A match in which the seats act one after the other: `player_0`, `player_1` and so on.

    The config has `game`, `players` and the options of the rules. Only the agent to act gets an observation, and at the
    end every agent. An agent gets its reward in the step in which the game gives it. An illegal action is played by
    the game's rule for a bad action, and the agent's info has `bad_action`.
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__()
        config = dict(config or {})
        if "game" not in config:
            raise ValueError('env_config: expected a game, such as {"game": "tokyo", "players": 3}')
        self.env = TurnEnv(config.pop("game"), config.pop("players", 2), **config)
        self.possible_agents = list(self.env.possible_agents)
        self.agents = list(self.possible_agents)
        self.observation_spaces = {agent: self._space(agent) for agent in self.possible_agents}
        self.action_spaces = {agent: self.env.action_space(agent) for agent in self.possible_agents}

    def _space(self, agent: str) -> spaces.Dict:
        seen = self.env.observation_space(agent)
        assert isinstance(seen, spaces.Dict)
        numbers = seen["observation"]
        if not isinstance(numbers, spaces.Box):
            raise ValueError("RLlib masks actions of vectors: expected observation='vector'")
        # RLlib's networks take floats as they are.
        low, high = numbers.low.astype(np.float32), numbers.high.astype(np.float32)
        mask = spaces.Box(0.0, 1.0, seen["action_mask"].shape, dtype=np.float32)
        return spaces.Dict({"action_mask": mask, "observations": spaces.Box(low, high, dtype=np.float32)})

    def _seen(self, agents: list[str]) -> _ByAgent:
        return {agent: self._observe(agent) for agent in agents}

    def _observe(self, agent: str) -> dict[str, npt.NDArray[np.float32]]:
        seen = self.env.observe(agent)
        return {
            "action_mask": seen["action_mask"].astype(np.float32),
            "observations": seen["observation"].astype(np.float32),
        }

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_ByAgent, _ByAgent]:
        """Begins a new match."""
        self.env.reset(seed=seed, options=options)
        self.agents = list(self.possible_agents)
        first = [self.env.agent_selection]
        return self._seen(first), {first[0]: {}}

    def step(self, action_dict: _ByAgent) -> tuple[_ByAgent, _ByAgent, _ByAgent, _ByAgent, _ByAgent]:
        """Plays the action of the agent that is to act."""
        agent = self.env.agent_selection
        if set(action_dict) != {agent}:
            raise ValueError(f"{agent} is to act: expected its action, got those of {sorted(action_dict)}")
        self.env.step(int(action_dict[agent]))
        over = all(self.env.terminations.values())
        shown = self.possible_agents if over else [self.env.agent_selection]
        # RLlib wants one for everybody who is shown something.
        rewards = {one: float(reward) for one, reward in self.env.rewards.items()}
        infos: _ByAgent = {one: self.env.infos[one] if one == agent else {} for one in shown}
        terminated = {**({one: True for one in shown} if over else {}), "__all__": over}
        if over:
            self.agents = []
        return self._seen(shown), rewards, terminated, {"__all__": False}, infos

    def render(self) -> Any:
        """Renders the match in the environment's `render_mode`."""
        return self.env.render()
