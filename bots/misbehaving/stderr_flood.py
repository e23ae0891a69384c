#!/usr/bin/env python3
"""Writes 50 MB to standard error when a match starts, but plays correctly."""

import json
import sys


def correct(message):
    """The correct answer to a message, or None: roll until there is a brain, or keep all dice."""
    if message["type"] == "hello":
        return {"type": "ready", "protocol": 1}
    if message["type"] == "decide":
        hungry = message["view"].get("turn", {}).get("brains") == 0
        return {"id": message["id"], "action": message["legal"][0 if hungry else -1]}
    return None


for line in sys.stdin:
    message = json.loads(line)
    answer = correct(message)
    if message["type"] == "start":
        for _ in range(50):
            sys.stderr.write("brains " * 150_000)
    if answer:
        print(json.dumps(answer), flush=True)
