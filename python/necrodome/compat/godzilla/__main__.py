"""``python -m necrodome.compat.godzilla PLAYER PLAYER...``: games between players in this process, where a person can be asked."""

from __future__ import annotations

import re
import subprocess
import sys
from argparse import ArgumentParser
from collections import Counter
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ... import match
from ...bot import Action, View
from ..load import NoBot
from ..program import NoProgram, program
from .load import player_of, prepare
from .monster import Monster, WrongMask
from .player import MAX_ROLLS


#: How often a person was asked.
_questions = 0


def _listen(event: str, _: Any) -> None:
    """Notices every call of ``input``, also by other modules."""
    global _questions
    _questions += event == "builtins.input"


class Seated(Monster):
    """A player at this terminal: a person who types something wrong is asked again."""

    #: Whether its match has begun.
    has_begun = False

    def start(self) -> None:
        self.has_begun = True
        super().start()

    def _ask(self, dice: list[str], others: Any, counter: int) -> tuple[list[bool], str | None]:
        while True:
            before = _questions
            try:
                return super()._ask(dice, others, counter)
            except WrongMask as wrong:
                # Where no person was asked, it would be the same again.
                if _questions == before:
                    raise
                print(f"Expected an answer for each of the {len(dice)} dice, got {wrong.answers}. Once more:")


class Shown(Seated):
    """A player whose decisions are shown."""

    def act(self, view: View) -> Action:
        for seat, (name, monster) in enumerate(zip(self.names, view["monsters"])):
            place = ", in Tokyo" if view["in_tokyo"] == seat else ""
            print(f"{name:>20}: health {monster['health']}, {monster['points']} points{place}")
        if view["phase"]["type"] != "yielding":
            return super().act(view)
        print(f"{self.name}: leave Tokyo?")
        answer = super().act(view)
        print(f"{'':>20}  {answer[1] if isinstance(answer, tuple) else ''}")
        return answer

    def _ask(self, dice: list[str], others: Any, counter: int) -> tuple[list[bool], str | None]:
        print(f"{self.name}: roll {counter + 1} of {MAX_ROLLS}: {', '.join(dice)}")
        kept, reason = super()._ask(dice, others, counter)
        print(f"{'':>20}  {reason or ''}")
        return kept, reason


def main(words: list[str]) -> None:
    """Plays games, each with another player first, and says who has won."""
    parser = ArgumentParser("python -m necrodome.compat.godzilla", description="Games of tokyo between players of godzilla-v2.")
    parser.add_argument("players", metavar="PLAYER", nargs="+", help="FILE.py:CLASS, or a bot as on the command line of necrodome")
    parser.add_argument("-n", "--n_games", metavar="N", type=int, default=1, help="how many games (1)")
    parser.add_argument("-v", "--verbose", action="store_true", help="show each decision of players of files")
    parser.add_argument("-r", "--report", metavar="OUT.html", help="write all games to one page")
    parser.add_argument("--seed", type=int, help="the seed of the first game; those of the others follow")
    args = parser.parse_args(words)
    if args.n_games < 1:
        parser.error(f"--n_games: expected at least 1, got {args.n_games}")
    sys.addaudithook(_listen)
    bots: dict[str, Any] = {}
    try:
        viewer = program() if args.report else None
        out = Path(args.report or "").absolute()
        bots = _named(args.players, Shown if args.verbose else Seated)
        play(bots, args.n_games, args.seed, viewer, out)
        if viewer:
            print(f"Report written to {args.report}")
    except (NoBot, NoProgram) as error:
        parser.error(str(error))
    except ValueError as error:
        # What players raise is theirs; before they play it is the command line that is wrong.
        if not bots or any(getattr(bot, "has_begun", False) for bot in bots.values()):
            raise
        parser.error(str(error))
    except (EOFError, KeyboardInterrupt):
        sys.exit("\nNobody answers: the game is over.")


def play(bots: dict[str, Any], games: int, seed: int | None, viewer: str | None, out: Path) -> None:
    """Plays games, and prints the winners. With a viewer, also writes its page."""
    order = list(bots)
    wins: Counter[str] = Counter()
    turns = 0
    with TemporaryDirectory(prefix="godzilla-") as folder:
        replays = []
        for number in range(games):
            seating = order[number % len(order) :] + order[: number % len(order)]
            played = match("tokyo", {name: bots[name] for name in seating}, seed=None if seed is None else seed + number)
            wins.update(played.winners)
            turns += played.turns
            replays.append(f"{folder}/game-{number + 1}.replay")
            played.save(replays[-1])
        print(f"Winners ({games} games):")
        for name in order:
            print(f"  {name}: {wins[name]} ({wins[name] / games:.2%})")
        print(f"Turns per player and game: {turns / games / len(order):.2f}")
        if viewer:
            subprocess.run([viewer, "replay", *replays, "--html", str(out), "--force"], check=True)


def _named(players: list[str], kind: type[Monster]) -> dict[str, Any]:
    """Bots by name, in the order of their seats."""
    here = Path.cwd()
    bots: dict[str, Any] = {}
    for text in players:
        found = re.fullmatch(r"(?!compat:|cmd:)(.+\.py)(?::(\w+))?", text)
        bot: Any = text
        wish = text
        if found:
            # Before the program's folder becomes the present one.
            file = str(here / found[1])
            prepare(file)
            sys.argv = [file]
            bot, wish = kind(player_of(file, found[2])), found[2] or Path(file).stem
        names = (wish if number == 1 else f"{wish} {number}" for number in count(1))
        bots[next(name for name in names if name not in bots)] = bot
    return bots


if __name__ == "__main__":
    main(sys.argv[1:])
