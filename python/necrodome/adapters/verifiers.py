"""verifiers: matches in words as a taskset and an environment (`verifiers.v1`).

>>> from necrodome.adapters.verifiers import load_environment
>>> env = load_environment("zombie-dice-race", opponents=["optimal"])

A task is a seed. The environment plays the match of the task with the model, one turn for each decision, and rewards it by
the exact cost of its decisions. On the command line and in configurations the taskset is called `necrodome-verifiers`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Literal

import httpx
import verifiers.v1 as vf
from pydantic import Field
from verifiers.v1.dialects.chat import message_to_wire

from ..text import TextEnv

__all__ = ["ArenaEnv", "ArenaEnvConfig", "ArenaHarness", "ArenaTask", "ArenaTaskset", "ArenaTasksetConfig", "load_environment"]

#: The package that exports the classes of this module: verifiers finds tasksets by the names of top-level packages.
ID = "necrodome-verifiers"


class ArenaTasksetConfig(vf.TasksetConfig):
    """The matches to play: the arguments of `necrodome.text.TextEnv`."""

    game: str = "zombie-dice-race"
    """The id of the game."""
    opponents: list[str] | None = None
    """Names of built-in bots for the other seats; without, those that suit the game."""
    seat: int = 0
    """The model's seat."""
    reward: Literal["exact", "game"] = "exact"
    """Minus the exact regret of each decision, or the reward of the game."""
    legal: Literal["shown", "hidden"] = "shown"
    """Whether legal actions are listed."""
    rules: dict[str, str | int | float | bool | None] = Field(default_factory=dict)
    """Options of the rules."""
    first_seed: int = 0
    """The seed of the first task; each further task has the next one."""

    def text_env(self) -> TextEnv:
        """Makes the environment that plays the matches in words."""
        return TextEnv(
            self.game, self.opponents, self.seat, reward=self.reward, legal=self.legal, **self.rules
        )


class ArenaData(vf.TaskData):
    """A task, as it is sent."""

    seed: int
    """The seed of the match."""


class ArenaTask(vf.Task[ArenaData]):
    """A match with this seed."""


class ArenaTaskset(vf.Taskset[ArenaTask, ArenaTasksetConfig]):
    """All matches, one for each seed."""

    INFINITE = True

    def load(self) -> Iterator[ArenaTask]:
        """Makes a task for each seed, from the first one on."""
        env = self.config.text_env()
        for seed in itertools.count(self.config.first_seed):
            data = ArenaData(
                name=f"{self.config.game}#{seed}",
                prompt=env.reset(seed),
                system_prompt=env.instructions,
                seed=seed,
            )
            yield ArenaTask(data, self.config.task)


class ArenaHarness(vf.Harness[vf.HarnessConfig]):
    """Asks the model once for each turn, inside the environment's process: a match needs no tools and no sandbox."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Makes one request with the conversation so far."""
        system, prompt = self.resolve_prompt(data)
        said = [vf.UserMessage(content=prompt)] if isinstance(prompt, str) else prompt or []
        told = [vf.SystemMessage(content=system)] if system else []
        body = {"model": ctx.model, "messages": [message_to_wire(message) for message in [*told, *said]]}
        async with httpx.AsyncClient(timeout=None) as client:
            reply = await client.post(
                f"{endpoint}/chat/completions", json=body, headers={"Authorization": f"Bearer {secret}"}
            )
        return vf.ProgramResult(exit_code=0 if reply.is_success else 1, stdout="", stderr=reply.text)


class ArenaEnvConfig(vf.EnvConfig):
    """The environment: matches, and who plays them."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    """The model that is trained or evaluated."""


class ArenaEnv(vf.Env[ArenaEnvConfig]):
    """An environment with a match for each episode.

    The trace has the reward of the match (`exact` or `game`) and, as metrics, the number of `decisions`, the numbers of unusable
    answers (`empty`, `unparsable`, `illegal`), and with exact rewards the `game_reward`. Its `info["rewards"]` has the reward of
    each decision.

    A match that the limits of the run cut short goes on without the model: its further answers are empty. Otherwise silence would cost
    nothing.
    """

    async def run(self, task: vf.Task[Any], agents: vf.Agents) -> None:
        """Plays the match of a task."""
        config = self.config.taskset
        assert isinstance(config, ArenaTasksetConfig)
        env = config.text_env()
        env.reset(task.data.seed)
        record = _Record()
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn()
            done = False
            while not done:
                answer = "" if segment.terminated else segment.last_reply
                text, reward, done, info = env.step(answer)
                record.add(reward, dict(info))
                if not (done or segment.terminated):
                    segment = await interaction.turn(text)
        trace = interaction.trace
        trace.record_reward(config.reward, sum(record.rewards))
        trace.record_metrics(record.metrics)
        trace.info["rewards"] = record.rewards
        trace.info["outcome"] = env.outcome()


class _Record:
    """The results of the decisions in a match."""

    def __init__(self) -> None:
        self.rewards: list[float] = []
        self.metrics = dict.fromkeys(("decisions", "empty", "unparsable", "illegal"), 0.0)

    def add(self, reward: float, info: dict[str, Any]) -> None:
        self.rewards.append(reward)
        self.metrics["decisions"] += 1
        if bad := info.get("bad_action"):
            self.metrics[bad] += 1
        if "game_reward" in info:
            self.metrics["game_reward"] = self.metrics.get("game_reward", 0.0) + info["game_reward"]


def load_environment(
    game: str = "zombie-dice-race",
    opponents: list[str] | None = None,
    seat: int = 0,
    *,
    reward: Literal["exact", "game"] = "exact",
    legal: Literal["shown", "hidden"] = "shown",
    first_seed: int = 0,
    player: vf.AgentConfig | None = None,
    **rules: str | int | float | bool | None,
) -> ArenaEnv:
    """Loads the environment of a game. `player` is the model's agent, if another than the run's model plays; the rest as in `TextEnv`."""
    taskset = ArenaTasksetConfig(
        id=ID,
        game=game,
        opponents=opponents,
        seat=seat,
        reward=reward,
        legal=legal,
        rules=rules,
        first_seed=first_seed,
    )
    # A mistake is told now, not in the first episode.
    taskset.text_env()
    words: dict[str, Any] = {} if player is None else {"player": player}
    return ArenaEnv(ArenaEnvConfig(taskset=taskset, **words))
