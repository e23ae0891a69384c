#!/usr/bin/env python3
"""Opens files, then writes a huge one in its folder, each until it fails; then plays on.

This happens at its third decision. The huge file ends at 3 GB and is removed.
"""

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


def open_many():
    opened = []
    try:
        while len(opened) < 100_000:
            opened.append(open(os.devnull))
    except OSError as error:
        print(f"open files: {len(opened)}, then {error}", file=sys.stderr)
    for file in opened:
        file.close()


def write_huge(name="huge.tmp"):
    written = 0
    try:
        with open(name, "wb", buffering=0) as file:
            while written < 3 << 30:
                written += file.write(bytes(1 << 20))
    except OSError as error:
        print(f"file size: {written}, then {error}", file=sys.stderr)
    finally:
        if os.path.exists(name):
            os.remove(name)


decisions = 0
for line in sys.stdin:
    message = json.loads(line)
    answer = correct(message)
    if message["type"] == "decide":
        decisions += 1
        if decisions == 3:
            open_many()
            write_huge()
    if answer:
        print(json.dumps(answer), flush=True)
