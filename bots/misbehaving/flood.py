#!/usr/bin/env python3
"""Writes answers that nobody has asked for, without end, from its third decision on."""

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
            while True:
                # Many at once: one at a time, an arena that is as fast would take each for an answer.
                print("\n".join([json.dumps(answer)] * 100), flush=True)
    if answer:
        print(json.dumps(answer), flush=True)
