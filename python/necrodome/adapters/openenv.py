"""OpenEnv: matches in words behind a server, and the client for it.

>>> from necrodome.adapters.openenv import create_app
>>> app = create_app("zombie-dice-race", opponent="optimal", reward="exact")    # for uvicorn

`python -m necrodome.adapters.openenv zombie-dice-race --opponent optimal` serves it. Every client has its own match.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server.http_server import create_app as _create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
from pydantic import Field

from .. import _native
from ..text import LEGAL, REWARDS, TextEnv

__all__ = ["ArenaEnv", "ArenaEnvironment", "TextAction", "TextObservation", "create_app", "main"]

#: How many clients may play at once.
MOST_CLIENTS = 256


class TextAction(Action):
    """The model's answer."""

    text: str = Field(description="The answer; its last line is ANSWER: and the action")


class TextObservation(Observation):
    """The text for the model."""

    text: str = Field(default="", description="What has happened, the situation, the view and the legal actions")
    instructions: str = Field(default="", description="The rules and how to answer, after a reset: the system prompt")


class ArenaEnvironment(Environment[TextAction, TextObservation, State]):
    """A match on the server. The arguments are those of `necrodome.text.TextEnv`; `metadata` of an observation is its `info`."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, game: str = "zombie-dice-race", *args: Any, **words: Any) -> None:
        super().__init__()
        self._env = TextEnv(game, *args, **words)
        self._state = State(episode_id=str(uuid4()), step_count=0)

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: Any) -> TextObservation:
        """Begins a new match; the same seed and the same answers give the same match."""
        text = self._env.reset(seed)
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        return TextObservation(text=text, instructions=self._env.instructions, reward=0.0)

    def step(self, action: TextAction, timeout_s: float | None = None, **_: Any) -> TextObservation:
        """Plays the model's answer, and lets the others play."""
        text, reward, done, info = self._env.step(action.text)
        self._state.step_count += 1
        return TextObservation(text=text, reward=reward, done=done, metadata=dict(info))

    @property
    def state(self) -> State:
        """The id of the episode, and the number of decisions in it."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """The server's description of itself."""
        about = f"{self._env.game}, one seat, told in words. Rewards: {self._env.reward}."
        return EnvironmentMetadata(name="necrodome", description=about, version=_native.version())


class ArenaEnv(EnvClient[TextAction, TextObservation, State]):
    """The client: `with ArenaEnv(base_url="http://localhost:8000").sync() as env: env.reset(seed=1)`."""

    def _step_payload(self, action: TextAction) -> dict[str, Any]:
        return {"text": action.text}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[TextObservation]:
        ends = {"reward": payload.get("reward"), "done": payload.get("done", False)}
        observation = TextObservation(**payload.get("observation", {}), **ends)
        return StepResult(observation=observation, metadata=payload.get("metadata"), **ends)

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)


def create_app(game: str = "zombie-dice-race", *args: Any, **words: Any) -> Any:
    """Makes the server's application (FastAPI), for uvicorn. The arguments are those of `necrodome.text.TextEnv`."""
    # A mistake is told now, not to the first client.
    TextEnv(game, *args, **words)
    return _create_app(
        lambda: ArenaEnvironment(game, *args, **words),
        TextAction,
        TextObservation,
        env_name="necrodome",
        max_concurrent_envs=MOST_CLIENTS,
    )


def main(words: Sequence[str] | None = None) -> None:
    """Serves a game, until it is interrupted."""
    import uvicorn

    parser = argparse.ArgumentParser(prog="python -m necrodome.adapters.openenv", description=main.__doc__)
    parser.add_argument("game", nargs="?", default="zombie-dice-race", help="the id of the game")
    parser.add_argument("--opponent", action="append", help="a built-in bot for another seat; once for each seat")
    parser.add_argument("--seat", type=int, default=0, help="the model's seat")
    parser.add_argument("--reward", choices=REWARDS, default="exact")
    parser.add_argument("--legal", choices=LEGAL, default="shown", help="whether legal actions are listed")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args(words)
    try:
        app = create_app(given.game, given.opponent, given.seat, reward=given.reward, legal=given.legal)
    except ValueError as error:
        parser.error(str(error))
    uvicorn.run(app, host=given.host, port=given.port)


if __name__ == "__main__":
    main()
