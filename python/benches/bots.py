"""How fast bots in Python play: `python python/benches/bots.py`.

Two functions from view to action play against each other, and do nothing clever. What is told is CPU time for each decision, in
microseconds, the best of some rounds: in `match`, which makes a replay of each, in `tournament`, and in plain Python, which plays the
same game with the same functions in a loop and shows them views of the same form. All three must agree on how long matches are.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from typing import Any

import necrodome

View = Any
Bot = Callable[[View], Any]

FACES = {
    "green": ("brain", "brain", "brain", "footsteps", "footsteps", "shotgun"),
    "yellow": ("brain", "brain", "footsteps", "footsteps", "shotgun", "shotgun"),
    "red": ("brain", "footsteps", "footsteps", "shotgun", "shotgun", "shotgun"),
}
CUP = ["green"] * 6 + ["yellow"] * 4 + ["red"] * 3


def stop_at_three(view: View) -> str:
    """For Zombie Dice."""
    return "stop" if view["turn"]["brains"] >= 3 else "go"


def keep_attacks(view: View) -> Any:
    """For Tokyo."""
    if view["phase"]["type"] == "yielding":
        return "yield" if view["monsters"][view["seat"]]["health"] < 5 else "stay"
    return {"type": "keep", "dice": [die == "attack" for die in view["dice"]]}


def count(dice: list[str]) -> dict[str, int]:
    return {colour: dice.count(colour) for colour in FACES}


def plain_turn(bot: Bot, show: Callable[[View], View], mandatory: bool, rng: random.Random) -> tuple[int, int]:
    """A turn of Zombie Dice: what is banked, and how many decisions it took."""
    cup, shotguns, hand, decisions = CUP.copy(), 0, None, 0
    feet: list[str] = []
    brains: list[str] = []
    while True:
        if not (mandatory and hand is None):
            turn = {"brains": len(brains), "shotguns": shotguns, "hand": hand, "cup": count(cup), "brain_dice": count(brains)}
            decisions += 1
            if bot(show(turn)) == "stop":
                return len(brains), decisions
        rng.shuffle(cup)
        dice = feet + [cup.pop() for _ in range(3 - len(feet))]
        hand = sorted(({"colour": die, "face": rng.choice(FACES[die])} for die in dice), key=lambda die: (die["colour"], die["face"]))
        brains += [die["colour"] for die in hand if die["face"] == "brain"]
        feet = [die["colour"] for die in hand if die["face"] == "footsteps"]
        shotguns += sum(die["face"] == "shotgun" for die in hand)
        if shotguns >= 3:
            return 0, decisions
        if len(cup) + len(feet) < 3:
            return len(brains), decisions


def plain_race(bots: list[Bot], rng: random.Random) -> int:
    scores, seat, decisions = [0, 0], 0, 0
    while max(scores) < 13:
        score, other = scores[seat], scores[1 - seat]
        show = lambda turn: {"turn": turn, "score": score, "opponent_score": other}  # noqa: E731
        banked, asked = plain_turn(bots[seat], show, False, rng)
        scores[seat] += banked
        decisions += asked
        seat = 1 - seat
    return decisions


def plain_table(bots: list[Bot], rng: random.Random) -> int:
    scores, playing, rounds, decisions, tiebreak = [0] * len(bots), list(range(len(bots))), 0, 0, False
    while True:
        for played, seat in enumerate(playing):

            def show(turn: View) -> View:
                return {
                    "turn": turn,
                    "seat": seat,
                    "scores": list(scores),
                    "playing": list(playing),
                    "played": played,
                    "rounds": rounds,
                    "tiebreak": tiebreak,
                }

            banked, asked = plain_turn(bots[seat], show, True, rng)
            scores[seat] += banked
            decisions += asked
        rounds += 1
        if max(scores) >= 13:
            playing = [seat for seat, score in enumerate(scores) if score == max(scores)]
            if tiebreak or len(playing) == 1:
                return decisions
            tiebreak = True


def plain_tokyo(bots: list[Bot], rng: random.Random) -> int:
    faces = ("one", "two", "three", "heal", "attack")
    monsters = [{"health": 10, "points": 0} for _ in bots]
    in_tokyo: int | None = None
    current, number, decisions = 0, 0, 0

    def ask(seat: int, phase: View) -> Any:
        nonlocal decisions
        decisions += 1
        shown = [dict(monster) for monster in monsters]
        return bots[seat](
            {
                "seat": seat,
                "current": current,
                "monsters": shown,
                "in_tokyo": in_tokyo,
                "dice": list(dice),
                "phase": phase,
                "turn": number,
            }
        )

    def over() -> bool:
        return sum(monster["health"] > 0 for monster in monsters) == 1 or any(monster["points"] >= 20 for monster in monsters)

    while True:
        number += 1
        me = monsters[current]
        dice = [rng.choice(faces) for _ in range(6)]
        if in_tokyo == current:
            me["points"] += 2
            if over():
                return decisions
        rerolls = 2
        while rerolls:
            kept = ask(current, {"type": "rolling", "rerolls_left": rerolls})["dice"]
            dice = [die if keep else rng.choice(faces) for die, keep in zip(dice, kept)]
            rerolls = 0 if all(kept) else rerolls - 1
        for worth, face in enumerate(faces[:3], 1):
            alike = dice.count(face)
            me["points"] += worth + alike - 3 if alike >= 3 else 0
        if over():
            return decisions
        damage, target = dice.count("attack"), in_tokyo
        for seat, monster in enumerate(monsters):
            if seat != current if target == current else seat == target:
                monster["health"] = max(0, monster["health"] - damage)
        if in_tokyo is not None and monsters[in_tokyo]["health"] == 0:
            in_tokyo = None
        if over():
            return decisions
        if damage and in_tokyo not in (None, current) and ask(in_tokyo, {"type": "yielding", "damage": damage}) == "yield":
            in_tokyo = None
        if in_tokyo != current:
            me["health"] = min(10, me["health"] + dice.count("heal"))
        if in_tokyo is None:
            in_tokyo = current
            me["points"] += 1
        if over():
            return decisions
        current = next(
            seat for step in range(1, len(bots) + 1) if monsters[seat := (current + step) % len(bots)]["health"] > 0
        )


class Counter:
    """A bot that counts how often it is asked."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.asked = 0

    def __call__(self, view: View) -> Any:
        self.asked += 1
        return self.bot(view)


Play = Callable[[str, list[Any], int, int], None]


def play_matches(game: str, bots: list[Any], matches: int, seed: int) -> None:
    for number in range(matches):
        necrodome.match(game, bots, seed=seed + number)


def play_tournament(game: str, bots: list[Any], matches: int, seed: int) -> None:
    necrodome.tournament(game, bots, blocks=matches // 2, seed=seed, progress=False)


def play_plainly(game: str, bots: list[Any], matches: int, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(matches):
        PLAIN[game][1](bots, rng)


PLAIN: dict[str, tuple[Bot, Callable[[list[Bot], random.Random], int]]] = {
    "zombie-dice": (stop_at_three, plain_table),
    "zombie-dice-race": (stop_at_three, plain_race),
    "tokyo": (keep_attacks, plain_tokyo),
}
WAYS: dict[str, Play] = {"match": play_matches, "tournament": play_tournament, "plain Python": play_plainly}


def decisions_of(game: str, play: Play, matches: int) -> int:
    """How many decisions a round has."""
    bots = [Counter(PLAIN[game][0]) for _ in range(2)]
    play(game, [bot.__call__ for bot in bots], matches, 1)
    return sum(bot.asked for bot in bots)


def microseconds(game: str, play: Play, matches: int) -> float:
    """CPU time of a round."""
    bot = PLAIN[game][0]
    begun = time.process_time()
    play(game, [lambda view: bot(view), lambda view: bot(view)], matches, 1)
    return (time.process_time() - begun) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=400, help="matches of a round")
    parser.add_argument("--rounds", type=int, default=7)
    words = parser.parse_args()
    print(f"{'':18}" + "".join(f"{way:>14}" for way in WAYS))
    for game in PLAIN:
        decisions = {way: decisions_of(game, play, words.matches) for way, play in WAYS.items()}
        longest, shortest = max(decisions.values()), min(decisions.values())
        assert longest < shortest * 1.2 or words.matches < 100, f"{game}: matches are not alike: {decisions}"
        best = dict.fromkeys(WAYS, float("inf"))
        for _ in range(words.rounds):
            for way, play in WAYS.items():
                best[way] = min(best[way], microseconds(game, play, words.matches))
        print(f"{game:18}" + "".join(f"{best[way] / decisions[way]:>14.2f}" for way in WAYS), flush=True)


if __name__ == "__main__":
    main()
