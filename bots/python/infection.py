#!/usr/bin/env python3
"""Infection: watches its antibodies to find out whether it is infected.

The idea: an infected is told that it is human, but every turn costs it an antibody. So a human whose report
is lower than what it has spent explains is probably infected, and takes the antidote while it can. A zombie
meets everybody.
"""

import json
import random
import sys


class Player:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.turn = None  # the turn of the last report
        self.stock = 0  # the antibodies in it
        self.spent = 0  # antibodies tried to spend since
        self.suspicious = False

    def hear_report(self, view):
        """Compares a new report with the last one."""
        told, turn = view["told"], view["public"]["turns"]
        if turn == self.turn:
            return
        if self.turn is not None:
            self.suspicious = told["identity"] == "human" and told["stock"] < self.stock - self.spent
        self.turn, self.stock, self.spent = turn, told["stock"], 0

    def choose(self, view):
        self.hear_report(view)
        human = view["told"]["identity"] == "human"
        return self.play_human(view) if human else self.play_zombie(view)

    def play_human(self, view):
        left = self.stock - self.spent
        antidote = self.suspicious and left >= 1
        if antidote:
            self.suspicious = False
            self.spent += 1
        reason = "my antibodies are dwindling: the antidote" if antidote else None
        if view["question"]["type"] == "choose" and (view["has_met"] or not view["partners"]):
            return {"type": "end", "antidote": antidote}, reason
        # Precautions are for the rich, and when there are many zombies about.
        public = view["public"]
        risky = 4 * public["zombies"] >= public["humans"]
        commit = {"type": "none"}
        if risky and self.stock - self.spent >= 2:
            commit = {"type": "precaution"}
            self.spent += 1
        return self.meet(view, commit, antidote), reason

    def play_zombie(self, view):
        if view["question"]["type"] == "choose" and not view["partners"]:
            return {"type": "end"}, "I have met everybody"
        viruses = view["told"]["stock"] - view["applied"]
        # The touch infects already. A virus more is for those who may be protected.
        commit = {"type": "virus", "count": 1} if viruses > 0 else {"type": "none"}
        return self.meet(view, commit, False), "brains!"

    def meet(self, view, commit, antidote):
        if view["question"]["type"] == "answer":
            return {"type": "answer", "commit": commit, "antidote": antidote}
        partner = self.random.choice(view["partners"])
        return {"type": "contact", "with": partner, "commit": commit, "antidote": antidote}


def main():
    player = Player(0)
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            answer = {"type": "ready", "protocol": 1}
        elif message["type"] == "start":
            player = Player(message["seed"])
            continue
        elif message["type"] == "decide":
            action, reason = player.choose(message["view"])
            answer = {"id": message["id"], "action": action}
            if reason:
                answer["reason"] = reason
        else:
            continue  # end and whatever later versions may add
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
