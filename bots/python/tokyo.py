#!/usr/bin/env python3
"""Tokyo: tries every set of dice to keep and takes the one with the best result after the next roll.

The idea: give each final roll a value (points, damage, healing, danger), and work out the exact mean of that
value for every choice of dice. Only how many dice show each face matters, so there are few cases.
"""

import json
import sys
from collections import Counter
from functools import lru_cache
from itertools import combinations_with_replacement
from math import factorial

FACES = ("one", "two", "three", "heal", "attack")


def counts_of(dice):
    found = Counter(dice)
    return tuple(found[face] for face in FACES)


@lru_cache(None)
def rolls(dice):
    """Every result of rolling so many dice: (counts, probability)."""
    results = []
    for roll in combinations_with_replacement(FACES, dice):
        counts = counts_of(roll)
        ways = factorial(dice)
        for count in counts:
            ways //= factorial(count)
        results.append((counts, ways / 5**dice))
    return results


def make_value(view):
    """The value of a final roll in this position, in victory points, more or less."""
    seat, monsters = view["seat"], view["monsters"]
    me = monsters[seat]
    inside = view["in_tokyo"] == seat
    if inside:
        targets = [other["health"] for i, other in enumerate(monsters) if i != seat and other["health"] > 0]
    else:
        targets = [monsters[view["in_tokyo"]]["health"]] if view["in_tokyo"] is not None else []
    # A point of health is worth more the less one has.
    health_worth = 0.4 + 0.15 * max(0, 7 - me["health"])

    def value(counts):
        points = sum(number + count - 3 for number, count in zip((1, 2, 3), counts) if count >= 3)
        total = points + (100 if me["points"] + points >= 20 else 0)
        if not inside:
            total += health_worth * min(counts[3], 10 - me["health"])
        for health in targets:
            total += 0.6 * min(counts[4], health) + (8 if counts[4] >= health else 0)
        return total

    return value


def keep(view):
    dice = view["dice"]
    value = make_value(view)
    best, best_mean = None, float("-inf")
    seen = set()
    for mask in reversed(range(64)):  # the first is "keep all", so a tie ends the rolling
        choice = [bool(mask >> i & 1) for i in range(6)]
        kept = counts_of(die for die, stays in zip(dice, choice) if stays)
        if kept in seen:
            continue
        seen.add(kept)
        mean = sum(p * value(tuple(map(sum, zip(kept, roll)))) for roll, p in rolls(6 - sum(kept)))
        if mean > best_mean + 1e-9:
            best, best_mean = choice, mean
    return {"type": "keep", "dice": best}, f"worth {best_mean:.2f} on average"


def choose(view):
    if view["phase"]["type"] == "yielding":
        me = view["monsters"][view["seat"]]
        # Staying earns 2 points, so it is fine to stay for a win, or in good health.
        if me["points"] >= 18 and me["health"] > 3 or me["health"] > 5:
            return {"type": "stay"}, f"{me['health']} health is enough"
        return {"type": "yield"}, f"only {me['health']} health left"
    return keep(view)


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            answer = {"type": "ready", "protocol": 1, "deterministic": True}
        elif message["type"] == "decide":
            action, reason = choose(message["view"])
            answer = {"id": message["id"], "action": action, "reason": reason}
        else:
            continue  # start, end and whatever later versions may add
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
