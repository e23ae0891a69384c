#!/usr/bin/env python3
"""Answers every third decision with the id of another one, or with its first argument: a number, or `last`."""

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


decisions = 0
last = None
for line in sys.stdin:
    message = json.loads(line)
    answer = correct(message)
    if message["type"] == "decide":
        decisions += 1
        if decisions % 3 == 0:
            wrong = sys.argv[1] if len(sys.argv) > 1 else ""
            answer["id"] = last if wrong == "last" else int(wrong) if wrong.isdigit() else answer["id"] + 1000
        last = message["id"]
    if answer:
        print(json.dumps(answer), flush=True)
