#!/usr/bin/env python3
"""Plays correctly and tells what it can see of its surroundings as the reason."""

import json
import os
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
    if message["type"] == "decide":
        answer["reason"] = json.dumps({"environment": sorted(os.environ), "cwd": os.getcwd()})
    if answer:
        print(json.dumps(answer), flush=True)
