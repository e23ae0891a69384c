#!/usr/bin/env python3
"""Answers with actions that the rules do not allow: one out of place, one that does not exist, by turns.

In Zombie Dice both are unknown actions; in Tokyo the first is only out of place.
"""

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
        rolling = message["view"].get("phase", {}).get("type") == "rolling"
        wrong = {"type": "yield"} if rolling else {"type": "keep", "dice": [True] * 6}
        answer["action"] = wrong if decisions % 2 else {"type": "fly"}
    if answer:
        print(json.dumps(answer), flush=True)
