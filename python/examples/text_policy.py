"""A language model plays in words, and each of its decisions has an exact price.

A script stands for the model here. With MODEL_URL=http://127.0.0.1:8080/v1 a real one is asked: whatever
serves that address, such as llama.cpp's server, vLLM or Ollama (MODEL is its name, if it needs one).
"""

# %% Settings

import json
import os
import re
import urllib.request

from necrodome.text import TextEnv

MATCHES = int(os.environ.get("MATCHES", 20))
GAME = os.environ.get("GAME", "zombie-dice-race")
MODEL_URL = os.environ.get("MODEL_URL", "")

Messages = list[dict[str, str]]


# %% A model: from messages to a text


def script(messages: Messages) -> str:
    """Rolls until it has three brains or two shotguns. Now and then it forgets to answer."""
    text = messages[-1]["content"]
    found = re.search("^View: (.*)$", text, re.MULTILINE)
    assert found is not None
    turn = json.loads(found[1])["turn"]
    if turn["brains"] == 4:
        return "Four brains! What a feast."
    goes = turn["brains"] < 3 and turn["shotguns"] < 2
    return f"I have {turn['brains']} brains.\nANSWER: {'roll' if goes else json.dumps({'type': 'stop'})}"


def endpoint(messages: Messages, schema: object) -> str:
    """Asks a server for an answer that fits the schema of an action."""
    form = {"type": "json_schema", "json_schema": {"name": "action", "schema": schema, "strict": True}}
    body = {"model": os.environ.get("MODEL", "model"), "messages": messages, "response_format": form}
    request = urllib.request.Request(
        f"{MODEL_URL}/chat/completions",
        json.dumps({**body, "max_tokens": 200}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as reply:
        return str(json.load(reply)["choices"][0]["message"]["content"] or "")


# %% Play, and add up what the decisions have cost

env = TextEnv(GAME, reward="exact")
regrets: list[float] = []
bad: dict[str, int] = {}
for seed in range(MATCHES):
    text, done = env.reset(seed), False
    while not done:
        # Every decision is asked alone: the text tells all that matters.
        messages = [{"role": "system", "content": env.instructions}, {"role": "user", "content": text}]
        answer = endpoint(messages, env.schema) if MODEL_URL else script(messages)
        text, reward, done, info = env.step(answer)
        regrets.append(-reward)
        if "bad_action" in info:
            bad[info["bad_action"]] = bad.get(info["bad_action"], 0) + 1

# %% The result, free of luck

perfect = sum(regret < 1e-9 for regret in regrets) / len(regrets)
print(f"{MATCHES} matches of {GAME}, {len(regrets)} decisions")
print(f"regret per decision {sum(regrets) / len(regrets):.4f}, {perfect:.0%} of them perfect")
print("unusable answers:", ", ".join(f"{count} {kind}" for kind, count in bad.items()) or "none")
