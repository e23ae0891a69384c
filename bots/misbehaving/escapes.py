#!/usr/bin/env python3
"""Leaves children behind at its third decision, as forks.py does, and then kills its parent, whoever that is."""

import json
import os
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


def leave_child():
    """A grandchild that has nothing to do with this process any more."""
    child = os.fork()
    if child > 0:
        os.waitpid(child, 0)
        return
    os.setsid()
    if os.fork() == 0:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        time.sleep(3600)
    os._exit(0)


decisions = 0
for line in sys.stdin:
    message = json.loads(line)
    answer = correct(message)
    if message["type"] == "decide":
        decisions += 1
        if decisions == 3:
            for _ in range(3):
                leave_child()
            os.kill(os.getppid(), signal.SIGKILL)
    if answer:
        print(json.dumps(answer), flush=True)
