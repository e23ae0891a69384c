#!/usr/bin/env python3
"""Answers its third decision with 100,000 nested brackets, or as many as its first argument says."""

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
for line in sys.stdin:
    message = json.loads(line)
    answer = correct(message)
    if message["type"] == "decide":
        decisions += 1
        if decisions == 3:
            depth = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
            brackets = "[" * depth + "]" * depth
            print(f'{{"id": {message["id"]}, "action": {brackets}}}', flush=True)
            continue
    if answer:
        print(json.dumps(answer), flush=True)
