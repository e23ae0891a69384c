#!/usr/bin/env python3
"""Prints a line that is not an answer once a match: before its answer, or (by its first argument) before `ready`, when a match
begins, or after its first answer; `always` prints before every answer, `again` twice before the first, `only` instead of it."""

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


def say(words):
    print(words, flush=True)


when = sys.argv[1]
first = False
if when == "hello":
    say("loading my model ...")
for line in sys.stdin:
    message = json.loads(line)
    answer = correct(message)
    if message["type"] == "start":
        first = True
        if when == "start":
            say({"my seat": message["seat"]})
    if message["type"] == "decide":
        if when == "always" or first and when not in ("hello", "start", "after"):
            say("I see " + str(message["view"]))
        if first and when == "again":
            say("and now?")
        if first and when == "only":
            continue
    if answer:
        say(json.dumps(answer))
    if message["type"] == "decide":
        if first and when == "after":
            say("that was my action")
        first = False
