"""Language models as entries, from Python: a real endpoint on loopback that always stops."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from test_examples import run

import necrodome
from necrodome.models import Models

ANSWER = json.dumps({"reason": "I am a coward.", "action": {"type": "stop"}})


class Endpoint(ThreadingHTTPServer):
    """Counts its calls."""

    calls = 0


class Handler(BaseHTTPRequestHandler):
    server: Endpoint
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.calls += 1
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}}
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        body = json.dumps({"model": asked["model"], "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *words: Any) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def table(endpoint: Endpoint, tmp_path: Path) -> Path:
    file = tmp_path / "models.toml"
    file.write_text(
        f'[models.shy]\nbase_url = "http://127.0.0.1:{endpoint.server_port}/v1"\nmodel = "shy-1"\nanswers = "schema"\n'
        'prompt = "short"\ninput_price = 1\noutput_price = 2\nparameters = { max_tokens = 50 }\n'
    )
    return file


def coward(view: Any) -> str:
    return "stop"


def test_a_model_sits_an_exam_and_nothing_is_paid_twice(endpoint: Endpoint, table: Path, tmp_path: Path) -> None:
    models = Models(table, calls=tmp_path / "calls.db")

    def sit(models: Models) -> dict[str, dict[str, Any]]:
        result = necrodome.exam("zombie-dice-solo", "llm:shy", coward, positions=40, progress=False, models=models)
        return {entry["name"]: entry for entry in result["entries"]}

    first = sit(models)
    assert first["shy"]["regret"] == first["coward"]["regret"] > 0 and not first["shy"]["unusable"]
    made = endpoint.calls
    assert 0 < made <= 40 and first["shy"]["tokens"] == 110 * 40
    assert sit(Models(table, "only", models.calls)) == first and endpoint.calls == made


def test_a_model_plays_matches_and_tournaments(endpoint: Endpoint, table: Path, tmp_path: Path) -> None:
    models = Models(table, calls=tmp_path / "calls.db")
    played = necrodome.match("zombie-dice-race", ["llm:shy", "greedy"], seed=1, models=models)
    assert played.winners == ["greedy"] and played.faults == []
    store = tmp_path / "night.store"
    bots = ["llm:shy", "greedy"]
    report = necrodome.tournament(
        "zombie-dice-race", bots, blocks=1, seed=1, progress=False, store=store, models=table
    )
    assert report["standings"][0]["name"] == "greedy" and (tmp_path / "night.store.calls").exists()


def test_a_budget_ends_it_in_words(endpoint: Endpoint, table: Path, tmp_path: Path) -> None:
    models = Models(table, calls=tmp_path / "calls.db", budget="0.000001")
    with pytest.raises(RuntimeError, match="budget"):
        necrodome.match("zombie-dice-race", ["llm:shy", "greedy"], seed=1, models=models)
    assert endpoint.calls == 0


@pytest.mark.parametrize(
    ("models", "error"),
    [
        (7, "models: expected a file or necrodome.Models, got 7"),
        ("nowhere.toml", "models: cannot read"),
        (Models("nowhere.toml", budget_tokens=0), "budget_tokens: expected a whole number above 0, got 0"),
        (None, "there is no model \"shy\""),
    ],
)
def test_mistakes_are_told_in_words(models: Any, error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        necrodome.match("zombie-dice-race", ["llm:shy", "greedy"], models=models)


def test_tables_answers_and_budgets_are_checked(table: Path, tmp_path: Path) -> None:
    calls = tmp_path / "calls.db"
    for models, error in [
        (Models(table, "sometimes", calls), "answers: expected reuse, fresh or only"),  # type: ignore[arg-type]
        (Models(table, calls=calls, budget="much"), "budget: "),
    ]:
        with pytest.raises(ValueError, match=error):
            necrodome.match("zombie-dice-race", ["llm:shy", "greedy"], models=models)
    with pytest.raises(ValueError, match="there is no table"):
        necrodome.match("zombie-dice-race", ["llm:sly", "greedy"], models=Models(table, calls=calls))


def test_the_example_examines_a_local_model(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_URL", f"http://127.0.0.1:{endpoint.server_port}/v1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    names = run(monkeypatch, "exam_model.py", POSITIONS=20)
    assert names["local"]["regret"] > 0 and names["local"]["worst"][0]
