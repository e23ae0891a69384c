"""Environments in which all agents act at once (PettingZoo's parallel API)."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from pettingzoo import ParallelEnv

from .. import _native
from . import render
from .arguments import checked_action, not_begun, whole
from .aec import Observation, TurnEnv
from .base import RENDER_MODES, Option, RefereeEnv, seat_names
from .spaces import Layout

if TYPE_CHECKING:
    from typing_extensions import Self

Infos: TypeAlias = dict[str, dict[str, Any]]
# Observations, rewards, terminations, truncations, infos.
Step: TypeAlias = tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], Infos]

WINDOW = 17


class AskedEnv(ParallelEnv[str, Observation, int]):
    """A game that asks one agent at a time, for learners that step all agents at once.

    Only the action of the agent that is asked counts: the one with legal actions in its mask. If it is illegal, it is
    played by the game's rule for a bad action, and the agent's info says `"bad_action": True`; with
    `bad_action="raise"` it is a `ValueError`, and nothing has changed.
    """

    def __init__(self, turns: TurnEnv) -> None:
        self._turns = turns
        self.metadata = {**turns.metadata, "is_parallelizable": True}
        self.render_mode = turns.render_mode
        self.possible_agents = turns.possible_agents
        self.state_space = turns.state_space
        self.layout = turns.layout

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an observation."""
        return self._turns.observation_space(agent)

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of actions, which are numbers."""
        return self._turns.action_space(agent)

    def _observations(self) -> dict[str, Observation]:
        return {agent: self._turns.observe(agent) for agent in self.possible_agents}

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], Infos]:
        """Begins a new match."""
        self._turns.reset(seed, options)
        self.agents = list(self.possible_agents)
        return self._observations(), {agent: {} for agent in self.agents}

    def step(self, actions: Mapping[str, int]) -> Step:
        """Plays the action of the agent that is asked."""
        if self._turns._random is None:
            raise not_begun()
        if not self.agents:
            raise ResetNeeded("the match is over: call reset")
        asked = self._turns.agent_selection
        if asked not in actions:
            raise ValueError(
                f"{asked} is asked: expected an action of it, got {', '.join(actions) or 'none'}"
            )
        self._turns.step(actions[asked])
        infos: Infos = {agent: {} for agent in self.agents}
        infos[asked] = dict(self._turns.infos[asked])
        result = (
            self._observations(),
            dict(self._turns.rewards),
            dict(self._turns.terminations),
            dict(self._turns.truncations),
            infos,
        )
        self._end()
        return result

    def _end(self) -> None:
        if all(self._turns.terminations.values()):
            self.agents = []

    def render(self) -> None | str | render.Image:
        """The match as text (`ansi`), as a picture (`rgb_array`), or as text on the terminal (`human`)."""
        return self._turns.render()

    def close(self) -> None:
        """Does nothing: text and pictures need no window."""

    def state(self) -> npt.NDArray[np.int16]:
        """The observations of all agents, one per row."""
        return self._turns.state()

    def view(self, agent: str) -> str:
        """What an agent may know now, as the JSON of the bot protocol."""
        return self._turns.view(agent)

    def outcome(self) -> dict[str, Any] | None:
        """Places, scores and turns, once the match is over."""
        return self._turns.outcome()

    def clone(self, *, seed: int | None = None) -> Self:
        """An independent copy that continues exactly as this one would, or, with a seed, with other dice."""
        other = copy.deepcopy(self)
        if seed is not None:
            other._turns._reseed(seed)
        return other

    def save(self) -> bytes:
        """The whole state, including the coming dice. Keep it from agents: it reveals the future."""
        return self._turns.save()

    def restore(self, saved: bytes) -> None:
        """Restores what `save` returned; a damaged save is a `ValueError`, and changes nothing."""
        self._turns.restore(saved)
        self.agents = list(self.possible_agents)
        self._end()


class SurvivorsEnv(RefereeEnv, ParallelEnv[str, Observation, int]):
    """Last Bullet with an agent for each survivor: `entry_0/copy_0` and so on.

    An agent sees its window, and nothing that another survivor sees. It gets +1 for each clock that it lives
    to see. The dead are terminated; those who live when `max_turns` ends the match are truncated.

    A shot that its mask does not allow costs the bullet, and the agent's info says `"bad_action": True`; with
    `bad_action="raise"` it is a `ValueError`, and nothing has changed.
    """

    metadata: dict[str, Any] = {
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": True,
        "render_fps": 4,
        "name": "last_bullet_v0",
    }

    def __init__(
        self,
        entries: int,
        *,
        names: Sequence[str] | None = None,
        observation: str = "vector",
        render_mode: str | None = None,
        bad_action: str = "play",
        **rules: Option,
    ) -> None:
        seats = seat_names(names, whole("entries", entries, 1), "entry")
        super().__init__("last-bullet", seats, rules, observation, render_mode, bad_action)
        self._copies = int(json.loads(self._referee.rules)["copies"])
        # The number of a survivor is its place here.
        self.possible_agents = [
            f"entry_{entry}/copy_{copy}" for entry in range(len(self.names)) for copy in range(self._copies)
        ]
        self.layout = Layout.from_json(self._referee.fields(), np.uint8)
        self.state_space = self.layout.stack_space(len(self.possible_agents))
        self._observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}
        actions = self._referee.actions()
        self._action_spaces = {agent: spaces.Discrete(actions) for agent in self.possible_agents}

    def _observation_space(self) -> spaces.Space[Any]:
        inner: spaces.Space[Any] = self.layout.vector_space()
        if self._observation == "dict":
            window = spaces.Box(0, self.layout.fields[0].high, (WINDOW, WINDOW), dtype=np.uint8)
            inner = spaces.Dict({"window": window, "bullets": spaces.Discrete(256)})
        mask = spaces.Box(0, 1, (self._referee.actions(),), dtype=np.int8)
        return spaces.Dict({"observation": inner, "action_mask": mask})

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an observation."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of actions, which are numbers."""
        return self._action_spaces[agent]

    def _living(self) -> list[str]:
        """All agents that are to act, in the order in which the referee takes their actions."""
        return [
            self.possible_agents[number]
            for seat in self._referee.to_act()
            for number in self._referee.decisions(seat)
        ]

    def _rows(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int8]]:
        """The observations and masks of all agents; the dead see nothing and can do nothing."""
        rows = np.zeros((len(self.possible_agents), len(self.layout)), dtype=np.uint8)
        masks = np.zeros((len(self.possible_agents), self._referee.actions()), dtype=np.int8)
        for seat in range(len(self.names)):
            if numbers := self._referee.decisions(seat):
                rows[numbers] = self._referee.observe(seat)
                masks[numbers] = self._referee.mask(seat)
        return rows, masks

    def _observations(self, agents: Sequence[str]) -> dict[str, Observation]:
        numbers = {agent: number for number, agent in enumerate(self.possible_agents)}
        rows, masks = self._rows()
        return {
            agent: {"observation": self._shape(rows[numbers[agent]]), "action_mask": masks[numbers[agent]]}
            for agent in agents
        }

    def _shape(self, row: npt.NDArray[np.uint8]) -> Any:
        if self._observation == "dict":
            return {"window": row[:-1].reshape(WINDOW, WINDOW), "bullets": np.int64(row[-1])}
        return row

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], Infos]:
        """Begins a new match. A survivor that is bitten before the first decision is no agent in it."""
        self._begin(seed)
        self.agents = self._living()
        if self.render_mode == "human":
            self.render()
        return self._observations(self.agents), {agent: {} for agent in self.agents}

    def step(self, actions: Mapping[str, int]) -> Step:
        """Plays the actions of all agents."""
        if self._random is None:
            raise not_begun()
        if not self.agents:
            raise ResetNeeded("the match is over: call reset")
        if missing := [agent for agent in self.agents if agent not in actions]:
            raise ValueError(f"expected an action of each living agent, got none of {', '.join(missing)}")
        acting = self.agents
        count = self._referee.actions()
        numbers = {agent: checked_action(actions[agent], count) for agent in acting}
        bad = self._bad(numbers)
        if bad and self._raises:
            agent = next(iter(bad))
            raise ValueError(f"{agent}: action {numbers[agent]} can do nothing now: see its action_mask")
        self._referee.step(list(numbers.values()))
        alive = {
            self.possible_agents[number]
            for seat in range(len(self.names))
            for number in self._referee.decisions(seat)
        }
        over = not self._referee.to_act()
        self.agents = [] if over else self._living()
        if self.render_mode == "human":
            self.render()
        return (
            self._observations(acting),
            {agent: float(agent in alive) for agent in acting},
            {agent: agent not in alive for agent in acting},
            {agent: over and agent in alive for agent in acting},
            {agent: {"bad_action": True} if agent in bad else {} for agent in acting},
        )

    def _bad(self, actions: Mapping[str, int]) -> set[str]:
        """The agents whose actions are not in their masks."""
        _, masks = self._rows()
        numbers = {agent: number for number, agent in enumerate(self.possible_agents)}
        return {agent for agent, action in actions.items() if not masks[numbers[agent], action]}

    def view(self, agent: str) -> str:
        """The view of an agent's entry, with all its survivors, as the JSON of the bot protocol."""
        return self._referee.view(self.possible_agents.index(agent) // self._copies)

    def state(self) -> npt.NDArray[np.uint8]:
        """The observations of all agents, one per row; zeros for the dead."""
        rows, _ = self._rows()
        return rows

    def _agent_keys(self) -> tuple[str, ...]:
        return ()

    def _save_agents(self) -> dict[str, Any]:
        return {}

    def _restore_agents(self, parts: Mapping[str, Any], referee: _native.Referee) -> None:
        numbers = [number for seat in referee.to_act() for number in referee.decisions(seat)]
        self.agents = [self.possible_agents[number] for number in numbers]
