"""verifiers plays matches with a model on loopback: seeds hold, and rewards are exact."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from documented import run_program_of

import necrodome
from necrodome.text import TextEnv

vf: Any = pytest.importorskip("verifiers.v1", reason="verifiers is not installed: ./scripts/test-adapters does it")
from necrodome.adapters.verifiers import load_environment  # noqa: E402

Model = Callable[[list[dict[str, Any]]], str]


@contextmanager
def served(model: Model) -> Iterator[Any]:
    """A function as a model behind an OpenAI-compatible server on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = {"role": "assistant", "content": model(asked["messages"])}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            kind = {"id": "1", "object": "chat.completion", "created": 1, "model": asked["model"]}
            body = json.dumps({**kind, "choices": [choice], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        client = vf.EvalClientConfig(base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key_var="NO_KEY")
        yield vf.ModelContext(model="scripted", client=client)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def played(env: Any, seed: int, model: Model) -> Any:
    """The trace of the match with this seed."""

    async def run(context: Any) -> Any:
        task = next(itertools.islice(iter(env.taskset), seed, None))
        async with env.serving():
            return await env.run_episode(task, context)

    with served(model) as context:
        episode = asyncio.run(run(context))
    assert episode.ok, episode.errors
    (trace,) = episode.traces
    return trace


def view(messages: list[dict[str, Any]]) -> dict[str, Any]:
    seen: dict[str, Any] = json.loads(re.findall("^View: (.*)$", messages[-1]["content"], re.MULTILINE)[-1])
    return seen


def answer(messages: list[dict[str, Any]]) -> str:
    """Rolls twice, then stops; sometimes it says nothing useful."""
    brains = view(messages)["turn"]["brains"]
    return ["ANSWER: roll", "Hm...\nANSWER: go", '{"type": "stop"}', "I am full."][min(brains, 3)]


@pytest.mark.parametrize("game", ["zombie-dice-race", "tokyo"])
def test_the_perfect_player_gets_nothing_taken_away(game: str) -> None:
    policy = necrodome.solve(game, seats=2).policy
    trace = played(load_environment(game), 1, lambda messages: json.dumps(policy.act(view(messages))))
    assert trace.reward == pytest.approx(0, abs=1e-9)
    assert trace.metrics["decisions"] == trace.num_turns > 3
    assert trace.metrics["illegal"] == trace.metrics["unparsable"] == trace.metrics["empty"] == 0
    assert trace.metrics["game_reward"] != 0 and min(trace.info["outcome"]["places"]) == 1


def test_a_match_is_the_one_of_the_text_environment() -> None:
    trace = played(load_environment("zombie-dice-race", ["greedy"], seat=1), 3, answer)
    env = TextEnv("zombie-dice-race", opponent="greedy", seat=1, reward="exact")
    messages, rewards, done = [{"content": env.reset(3)}], [], False
    while not done:
        text, reward, done, info = env.step(answer(messages))
        messages.append({"content": text})
        rewards.append(reward)
    assert trace.info["rewards"] == rewards and trace.reward == pytest.approx(sum(rewards))
    assert trace.rewards["exact"].score < 0
    assert trace.metrics["unparsable"] > 0


def test_the_model_is_told_the_rules_and_all_that_was_said() -> None:
    heard: list[list[dict[str, Any]]] = []

    def model(messages: list[dict[str, Any]]) -> str:
        heard.append(messages)
        return answer(messages)

    played(load_environment("zombie-dice-race"), 0, model)
    roles = [message["role"] for message in heard[2]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    assert "Three shotguns" in heard[2][0]["content"] and heard[2][2]["content"] == answer(heard[0])


def test_silence_is_not_free() -> None:
    """A run that is cut short would otherwise have the smallest regret of all."""
    player = vf.AgentConfig(runtime=vf.SubprocessConfig(), max_turns=1)
    trace = played(load_environment("zombie-dice-race", player=player), 0, lambda _: "ANSWER: roll")
    assert trace.num_turns == 1 and trace.metrics["empty"] == trace.metrics["decisions"] - 1 > 0
    assert trace.reward < -0.3


def test_a_task_is_a_seed() -> None:
    first, second = itertools.islice(iter(load_environment("tokyo", first_seed=7).taskset), 2)
    assert (first.data.seed, second.data.seed) == (7, 8) and first.data.prompt != second.data.prompt
    assert first.data.prompt == TextEnv("tokyo", reward="exact").reset(7)
    assert "You play Tokyo." in first.data.system_prompt


def test_the_library_finds_it_by_its_name() -> None:
    words = {"id": "necrodome-verifiers", "game": "infection", "reward": "game", "rules": {"max_turns": 2}}
    env = vf.load_environment(vf.resolve_env_config({"taskset": words}))
    trace = played(env, 0, lambda messages: "ANSWER: end the turn")
    assert trace.reward == trace.rewards["game"].score


def test_mistakes_are_told_at_once() -> None:
    with pytest.raises(ValueError, match="infection is not solved"):
        load_environment("infection")


def test_the_program_in_the_documentation_runs() -> None:
    names = run_program_of("verifiers")
    assert "You play Zombie Dice" in names["task"].data.system_prompt
