#!/usr/bin/env python3
"""Starts as many processes as it can at its third decision, 200 at most, and plays on.

The bound keeps the machine safe when nothing else does. Each of them sleeps for 60 seconds.
"""

import json
import os
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


def fork_many(count):
    for _ in range(count):
        try:
            child = os.fork()
        except OSError as error:
            print(f"no more processes: {error}", file=sys.stderr)
            return
        if child == 0:
            time.sleep(60)
            os._exit(0)


decisions = 0
for line in sys.stdin:
    message = json.loads(line)
    answer = correct(message)
    if message["type"] == "decide":
        decisions += 1
        if decisions == 3:
            fork_many(200)
    if answer:
        print(json.dumps(answer), flush=True)
