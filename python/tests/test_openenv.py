"""OpenEnv: a real server and its client on loopback play the matches of the text environment."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from documented import run_program_of

from necrodome.text import TextEnv

pytest.importorskip("openenv", reason="openenv is not installed: ./scripts/test-adapters does it")
from necrodome.adapters.openenv import (  # noqa: E402
    ArenaEnv,
    ArenaEnvironment,
    TextAction,
    create_app,
    main,
)

WORDS: dict[str, Any] = {"opponent": "optimal", "reward": "exact"}
ANSWERS = ["ANSWER: roll", "", "Hm.", '{"type": "fly"}', "stop"]


@contextmanager
def served(*args: Any, **words: Any) -> Iterator[str]:
    """The address of a server of a game."""
    import uvicorn

    # It listens before the server runs, so nobody has to wait for that.
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(*args, **words), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def test_the_server_plays_the_matches_of_the_text_environment() -> None:
    env = TextEnv("zombie-dice-race", **WORDS)
    with served("zombie-dice-race", **WORDS) as url, ArenaEnv(base_url=url).sync() as client:
        for seed in (1, 2):
            result = client.reset(seed=seed)
            assert result.observation.text == env.reset(seed)
            assert result.observation.instructions == env.instructions
            done, steps = False, 0
            while not done:
                text, reward, done, info = env.step(ANSWERS[steps % len(ANSWERS)])
                result = client.step(TextAction(text=ANSWERS[steps % len(ANSWERS)]))
                assert (result.observation.text, result.reward, result.done) == (text, reward, done)
                assert result.observation.metadata == json.loads(json.dumps(info))
                steps += 1
            assert client.state().step_count == steps > 3


def test_every_client_has_a_match_of_its_own() -> None:
    with served("zombie-dice-race", **WORDS) as url:
        with ArenaEnv(base_url=url).sync() as one, ArenaEnv(base_url=url).sync() as other:
            first = one.reset(seed=1).observation.text
            other.reset(seed=2)
            one.step(TextAction(text="roll"))
            assert other.reset(seed=1).observation.text == first
            assert one.state().step_count == 1 and other.state().step_count == 0


def test_the_schema_says_what_is_sent() -> None:
    import httpx

    with served("tokyo", **WORDS) as url:
        schema = httpx.get(f"{url}/schema").json()
        assert schema["action"]["required"] == ["text"] and "instructions" in schema["observation"]["properties"]
        assert "tokyo" in httpx.get(f"{url}/metadata").json()["description"]


def test_mistakes_are_told_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="infection is not solved"):
        create_app("infection", reward="exact")
    with pytest.raises(SystemExit):
        main(["infection"])
    assert "infection is not solved" in capsys.readouterr().err


def test_an_environment_needs_no_server() -> None:
    env = ArenaEnvironment("zombie-dice-solo", reward="exact")
    env.reset(seed=1, episode_id="mine")
    seen = env.step(TextAction(text="stop"))
    assert seen.done and seen.reward == pytest.approx(-2.258551, abs=1e-6)
    assert env.state.episode_id == "mine"


def test_the_program_in_the_documentation_runs() -> None:
    assert run_program_of("openenv")["seen"].reward <= 0
