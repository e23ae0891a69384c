#!/usr/bin/env python3
"""Plays correctly, but neither SIGTERM nor the end of its input makes it end."""

import json
import signal
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


signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    message = json.loads(line)
    answer = correct(message)
    if answer:
        print(json.dumps(answer), flush=True)

while True:
    time.sleep(3600)
