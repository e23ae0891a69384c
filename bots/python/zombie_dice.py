#!/usr/bin/env python3
"""Zombie Dice (table, solo and race): rolls again while the next roll is worth it on average.

The idea: go through every hand of three dice that can come next, with its exact probability, and compare the
brains it would bring with the brains that a third shotgun would cost.
"""

import json
import sys
from itertools import product

# Each die has six sides: how many show a brain, footsteps, a shotgun.
SIDES = {"green": (3, 2, 1), "yellow": (2, 2, 2), "red": (1, 2, 3)}


def draws(cup, count):
    """All ways to draw `count` dice from the cup, in order: (colours, probability)."""
    if count == 0:
        yield (), 1.0
        return
    total = sum(cup.values())
    for colour, left in cup.items():
        if left > 0:
            for rest, chance in draws({**cup, colour: left - 1}, count - 1):
                yield (colour, *rest), chance * left / total


def gain_of_a_roll(turn):
    """The mean change of what could be banked after one more roll."""
    kept = [die["colour"] for die in turn["hand"] or [] if die["face"] == "footsteps"]
    gain = 0.0
    for drawn, chance in draws(turn["cup"], 3 - len(kept)):
        for faces in product(range(3), repeat=3):
            p = chance
            for colour, face in zip([*kept, *drawn], faces):
                p *= SIDES[colour][face] / 6
            busted = turn["shotguns"] + faces.count(2) >= 3
            gain += p * (-turn["brains"] if busted else faces.count(0))
    return gain


def score_to_beat(view):
    """At the table: the leader's score in the last round, when there is no use in stopping behind it."""
    others = [score for seat, score in enumerate(view.get("scores", [])) if seat != view["seat"]]
    leader = max(others, default=0)
    return leader if leader >= 13 else 0


def choose(view):
    turn = view["turn"]
    mine = view["scores"][view["seat"]] if "scores" in view else view.get("score", 0)
    total = mine + turn["brains"]
    if total < score_to_beat(view):
        return "go", "the last round, and I am behind"
    if "opponent_score" in view and total >= 13:
        return "stop", "that wins the race"
    gain = gain_of_a_roll(turn)
    return "go" if gain > 0 else "stop", f"a roll is worth {gain:+.2f} brains"


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            answer = {"type": "ready", "protocol": 1, "deterministic": True}
        elif message["type"] == "decide":
            action, reason = choose(message["view"])
            answer = {"id": message["id"], "action": {"type": action}, "reason": reason}
        else:
            continue  # start, end and whatever later versions may add
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
