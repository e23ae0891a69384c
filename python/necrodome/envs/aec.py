"""Environments in which agents act one after the other (PettingZoo's AEC)."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from .. import _native
from .arguments import not_begun, whole
from .base import RENDER_MODES, Option, RefereeEnv, seat_names
from .spaces import Layout

if TYPE_CHECKING:
    from typing_extensions import Self

# {"observation": a vector or a dict of named numbers, "action_mask": 1 for each legal action}
Observation: TypeAlias = dict[str, Any]

# Two numbers and two flags.
_BY_AGENT = ("rewards", "cumulative", "terminations", "truncations")


class TurnEnv(RefereeEnv, AECEnv[str, Observation, int]):
    """A match with one agent for each seat: `player_0`, `player_1` and so on.

    An observation is exactly what the seat may know, from its point of view. Rewards come at the end. An
    illegal action is played by the game's rule for a bad action, and the agent's info says `"bad_action": True` until it
    acts again; with `bad_action="raise"` it is a `ValueError`, and nothing has changed.
    """

    metadata: dict[str, Any] = {
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        game: str,
        players: int,
        *,
        names: Sequence[str] | None = None,
        observation: str = "vector",
        render_mode: str | None = None,
        bad_action: str = "play",
        **rules: Option,
    ) -> None:
        seats = seat_names(names, whole("players", players, 1), "player")
        super().__init__(game, seats, rules, observation, render_mode, bad_action)
        self.metadata = {**type(self).metadata, "name": f"{game.replace('-', '_')}_v0"}
        self.possible_agents = [f"player_{seat}" for seat in range(len(self.names))]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.layout = Layout.from_json(self._referee.fields())
        self.state_space = self.layout.stack_space(len(self.possible_agents))
        self._observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}
        self._action_spaces = {agent: spaces.Discrete(self._referee.actions()) for agent in self._seats}

    def _observation_space(self) -> spaces.Space[Any]:
        inner: spaces.Space[Any] = (
            self.layout.dict_space() if self._observation == "dict" else self.layout.vector_space()
        )
        mask = spaces.Box(0, 1, (self._referee.actions(),), dtype=np.int8)
        return spaces.Dict({"observation": inner, "action_mask": mask})

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of observations."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of actions, which are numbers."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a new match."""
        self._begin(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None  # type: ignore[assignment]  # None is what the base class sets too.
        self._select()
        if self.render_mode == "human":
            self.render()

    def _select(self) -> None:
        if to_act := self._referee.to_act():
            self.agent_selection = self.possible_agents[to_act[0]]

    def step(self, action: int | None) -> None:
        """Plays the action of `agent_selection`."""
        if self._random is None:
            raise not_begun()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)  # type: ignore[arg-type]
            return
        if action is None:
            raise TypeError(f"{agent} is to act: expected an action, got None")
        self.infos[agent] = {} if self._play(action, self._seats[agent]) else {"bad_action": True}
        self._follow()

    def _follow(self) -> None:
        """Tells the agents the result of the last action."""
        self._cumulative_rewards[self.agent_selection] = 0.0
        self.rewards = dict(zip(self.agents, self._referee.rewards()))
        self._accumulate_rewards()
        self._select()
        if not self._referee.to_act():
            self.terminations = dict.fromkeys(self.agents, True)
            self._deads_step_first()
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        """What an agent may know now, and its legal actions: none unless it is to act."""
        seat = self._seats[agent]
        vector = self._referee.observe(seat)
        return {
            "observation": self.layout.named(vector) if self._observation == "dict" else vector,
            "action_mask": self._referee.mask(seat).astype(np.int8),
        }

    def view(self, agent: str) -> str:
        """What an agent may know now, as the JSON of the bot protocol."""
        return self._referee.view(self._seats[agent])

    def state(self) -> npt.NDArray[np.int16]:
        """The observations of all agents, one per row."""
        return np.stack([self._referee.observe(seat) for seat in self._seats.values()])

    def _agent_keys(self) -> tuple[str, ...]:
        return ("agents", "selection", "next", *_BY_AGENT)

    def _by_agent(self) -> dict[str, dict[str, Any]]:
        values = (self.rewards, self._cumulative_rewards, self.terminations, self.truncations)
        return dict(zip(_BY_AGENT, values))

    def _save_agents(self) -> dict[str, Any]:
        return {
            "agents": self.agents,
            "selection": self.agent_selection,
            "next": self._skip_agent_selection,
            **self._by_agent(),
        }

    def _restore_agents(self, parts: Mapping[str, Any], referee: _native.Referee) -> None:
        agents, selection, following = parts["agents"], parts["selection"], parts["next"]
        known = set(self.possible_agents)
        whole = (
            isinstance(agents, list)
            and agents == [agent for agent in self.possible_agents if agent in agents]
            and selection in (agents or known)
            and (following is None or following in known)
            and all(isinstance(parts[key], dict) and parts[key].keys() == set(agents) for key in _BY_AGENT)
            and all(isinstance(value, (int, float)) for key in _BY_AGENT[:2] for value in parts[key].values())
            and all(isinstance(value, bool) for key in _BY_AGENT[2:] for value in parts[key].values())
            and (bool(referee.to_act()) or all(parts["terminations"].values()))
        )
        if not whole:
            raise ValueError("a saved environment: what it tells of its agents does not fit")
        self.agents = agents
        self.agent_selection, self._skip_agent_selection = selection, following
        self.rewards, self._cumulative_rewards = parts["rewards"], parts["cumulative"]
        self.terminations, self.truncations = parts["terminations"], parts["truncations"]
        self.infos = {agent: {} for agent in agents}


class CheckedEnv(OrderEnforcingWrapper[str, Observation, int]):
    """An environment with PettingZoo's usual wrappers. It treats illegal actions as `TurnEnv` does."""

    def __init__(self, env: TurnEnv) -> None:
        super().__init__(env)
        self._inner = env

    def step(self, action: int | None) -> None:
        """Plays the action of `agent_selection`."""
        if not self._has_reset:
            raise not_begun()
        super().step(action)  # type: ignore[arg-type]  # None is the action of whoever is done.

    def clone(self, *, seed: int | None = None) -> Self:
        """An independent copy that continues exactly as this one would, or, with a seed, with other dice."""
        other = copy.deepcopy(self)
        if seed is not None:
            other._inner._reseed(seed)
        return other

    def save(self) -> bytes:
        """The whole state, including the coming dice. Keep it from agents: it reveals the future."""
        return self._inner.save()

    def restore(self, saved: bytes) -> None:
        """Restores what `save` returned; a damaged save is a `ValueError`, and changes nothing."""
        self._inner.restore(saved)
        self._has_reset = self._has_updated = True
