#!/usr/bin/env python3
"""Answers its third decision with bytes that are not UTF-8."""

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
            sys.stdout.buffer.write(b'{"id": \xff\xfe\xc3\x28}\n')
            sys.stdout.buffer.flush()
            continue
    if answer:
        print(json.dumps(answer), flush=True)
