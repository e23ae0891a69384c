#!/usr/bin/env python3
"""Writes every answer to a decision twice, the second time a moment later."""

import json
import sys
import time


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
    if answer:
        print(json.dumps(answer), flush=True)
    if message["type"] == "decide":
        time.sleep(0.01)  # the next question may have been sent by then
        print(json.dumps(answer), flush=True)
