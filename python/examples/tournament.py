"""Matches and tournaments with bots written in Python, and what their decisions cost."""

# %% A bot is a class, a function, or the name of a built-in bot
import os
import sys
from pathlib import Path

import necrodome

sys.path.insert(0, str(Path(__file__).parent))
from my_bot import MyBot  # noqa: E402


def timid(view: necrodome.View) -> str:
    """Takes the first brain and goes home."""
    return "stop" if view.turn.brains else "go"


# %% One match, and its ledger: the price of every decision, the luck of every roll
played = necrodome.match("zombie-dice-race", [MyBot(), timid], seed=4)
ledger = necrodome.analyze(played)
print(f"{' and '.join(played.winners)} won")
for row in ledger.totals:
    mistakes = f"{row['mistakes']} of {row['decisions']} decisions were mistakes"
    print(f"{row['name']}: {mistakes} and cost {row['regret']:.3f}; luck {row['luck']:+.3f}")
for row in ledger.worst[:2]:
    print(
        f"step {row['step']}, {row['name']} {row['chosen']} ({row['situation']}): it cost {row['regret']:.3f}"
    )

# %% A tournament: every number with its error
blocks = int(os.environ.get("BLOCKS", 50))
report = necrodome.tournament(
    "zombie-dice-race",
    {"mine": MyBot(), "timid": timid, "greedy": "greedy", "perfect": "optimal"},
    blocks=blocks,
    seed=4,
    progress=False,
)
for row in report["standings"]:
    interval = f"from {row['win_rate_low']:.3f} to {row['win_rate_high']:.3f}"
    print(f"{row['name']:8} wins {row['win_rate']:.3f} ({interval})")

# %% The same exactly, since these bots are functions of what they see
mine = necrodome.evaluate(MyBot(), "zombie-dice-solo")
print(f"alone, mine scores {mine.value:.6f}: {mine.value / mine.best:.2%} of the optimum")
