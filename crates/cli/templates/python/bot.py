#!/usr/bin/env python3
"""{{name}}, a bot for {{game}}.

{{hint}}

The arena writes one JSON object a line to standard input and reads one a line from standard output.
Print notes of your own to standard error: print("thinking", file=sys.stderr)
Run it alone to try it by hand, or let the arena check it: necrodome check-bot {{game}} bot.py
"""

import json
import random
import sys

{{only last-bullet}}
DIRECTIONS = ["north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest", "stay"]

{{end}}
rng = random.Random()


def choose(view, legal):
    """Returns an action. This is the place for your own ideas: `view` is all that you know."""
{{only last-bullet}}
    # There are too many legal actions to list: give an order to each copy.
    return {"orders": [order(copy) for copy in view["copies"]]}


def order(copy):
    """What one copy does. Here it walks in a random direction."""
    return {"type": "move", "copy": copy["number"], "direction": rng.choice(DIRECTIONS)}
{{end}}
{{only infection}}
    if legal:  # every legal action, where they are few
        return rng.choice(legal)
    if view["question"]["type"] == "answer":
        return {"type": "answer"}
    return {"type": "contact", "with": rng.choice(view["partners"])}
{{end}}
{{not last-bullet infection}}
    return rng.choice(legal)  # every legal action
{{end}}


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            answer = {"type": "ready", "protocol": 1}
        elif message["type"] == "start":
            rng.seed(message["seed"])  # the same match, the same choices
            continue
        elif message["type"] == "decide":
            # You can add a "reason": a text that is shown beside the action.
            answer = {"id": message["id"], "action": choose(message["view"], message.get("legal"))}
        else:
            continue  # "end", and whatever later versions may add
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
