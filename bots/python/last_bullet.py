#!/usr/bin/env python3
"""Last Bullet: shoots what comes too close, runs from the rest, and collects bullets when it is quiet.

The idea: each copy looks after itself. A zombie two squares away would bite in the next turn, so it is shot;
without a bullet the copy steps to the free square that is farthest from the nearest zombie. In quiet times a
copy that is short of bullets walks to the nearest corpse, which may have some.
"""

import json
import sys

ZOMBIE, CORPSE = 0, 1  # places in `names`

DIRECTIONS = {
    "stay": (0, 0),
    "north": (0, -1),
    "northeast": (1, -1),
    "east": (1, 0),
    "southeast": (1, 1),
    "south": (0, 1),
    "southwest": (-1, 1),
    "west": (-1, 0),
    "northwest": (-1, -1),
}


def distance(dx, dy):
    return max(abs(dx), abs(dy))


def order(copy):
    zombies, corpses, taken = [], [], set()
    for dx, dy, who, number in copy["seen"]:
        if who == ZOMBIE:
            zombies.append((dx, dy, number))
        elif who == CORPSE:
            corpses.append((dx, dy))
        taken.add((dx, dy))

    def move(direction):
        return {"type": "move", "copy": copy["number"], "direction": direction}

    def safety(direction):
        """The distance to the nearest zombie after this step, then the sum over all of them."""
        x, y = DIRECTIONS[direction]
        away = [distance(dx - x, dy - y) for dx, dy, _ in zombies]
        return min(away), sum(away)

    free = [name for name, step in DIRECTIONS.items() if step not in taken]
    if zombies:
        dx, dy, number = min(zombies, key=lambda zombie: distance(zombie[0], zombie[1]))
        if distance(dx, dy) <= 2 and copy["bullets"] > 0:
            return {"type": "shoot", "copy": copy["number"], "target": number}
        if distance(dx, dy) <= 5 or not corpses:
            return move(max(free, key=safety))
    if corpses and copy["bullets"] < 3:
        x, y = min(corpses, key=lambda corpse: distance(*corpse))
        # Next to the corpse is near enough; its own square is never free.
        steps = {name: distance(x - dx, y - dy) for name, (dx, dy) in DIRECTIONS.items() if name in free}
        return move(min(steps, key=steps.get))
    return move("stay")


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            answer = {"type": "ready", "protocol": 1, "deterministic": True}
        elif message["type"] == "decide":
            orders = [order(copy) for copy in message["view"]["copies"]]
            answer = {"id": message["id"], "action": {"orders": orders}}
        else:
            continue  # start, end and whatever later versions may add
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
