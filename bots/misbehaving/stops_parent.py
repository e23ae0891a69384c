#!/usr/bin/env python3
"""Plays correctly, but stops the process that watches over it at its third decision."""

import json
import os
import signal
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
            os.kill(os.getppid(), signal.SIGSTOP)
    if answer:
        print(json.dumps(answer), flush=True)
