#!/usr/bin/env python3
"""A bot of the arena in a few lines: necrodome match zombie-dice python/examples/my_bot.py greedy"""

# %% A class with one method
import necrodome


class MyBot(necrodome.Bot):
    """The more shotguns, the fewer brains are enough."""

    deterministic = True

    def act(self, view: necrodome.View) -> str:
        """Goes on while it is worth it."""
        enough = (7, 5, 1)[view.turn.shotguns]
        return "stop" if view.turn.brains >= enough else "go"


# %% At the end of a file this makes it a program of the arena
if __name__ == "__main__":
    necrodome.run(MyBot())
