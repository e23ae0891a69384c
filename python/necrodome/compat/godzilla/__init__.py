"""Players of godzilla-v2 (tokyo-bench), for ``tokyo``.

Players run unchanged as ``compat:godzilla:my_player.py:MyPlayer``::

    from constants import DIESIDE
    from player import Player, PlayerState

    class MyPlayer(Player):
        def keep_dice(self, dice_results, other_player_states, roll_counter):
            return [die == DIESIDE.ATTACK for die in dice_results], "attack is all that counts"

        def yield_tokyo(self, other_player_states):
            return self.state.health <= 5

``keep_dice`` gives a mask of the dice to keep, ``yield_tokyo`` a bool; both may give a pair with a reason, which is kept in the
replay. ``roll_counter`` is 0 after the first roll and 1 after the second. As in the program both are asked for in each turn, the second
also where all dice were kept at the first: the same dice are shown again then, and can be rolled after all. ``other_player_states``
maps a name to the index of the player and its state, with ``health``, ``victory_points`` and ``in_tokyo``; those who are out have no
health. The player itself has ``state``, ``name`` and ``idx``. It is made as ``MyPlayer(idx, name)``, anew for each game: what it remembers
in itself is gone then, what it remembers in its class stays. What it changes of its state with ``set_health`` and the like is what it sees
until its next decision, and nothing comes of it.

A file can import ``constants``, ``helpers.constants`` and ``player``, which are found here. It need not derive from ``Player``. A file in a
copy of the program (below a folder with ``player.py``) is run from that folder, and imports the program's own modules, ``llm`` among
them, where all that they need is installed; where it is not, ``player`` and ``constants`` are those that are found here.

Players that ask a service need the network and a key, which no bot of the arena has: ``--allow-network`` and ``--pass-env NAME`` give
them to all programs of a match or tournament, and ``--decision-ms``, ``--match-ms`` and ``--idle-ms`` give them time.

Players that ask a person cannot be bots of the arena, whose standard input is the arena's. They play here, beside others, with reports
of several games on one page. Who types too few or too many letters is asked again::

    python -m necrodome.compat.godzilla human_agent.py:HumanAgent angry --verbose
    python -m necrodome.compat.godzilla my_player.py:MyPlayer angry random -n 20 --report games.html
"""

from __future__ import annotations

from .load import player_of, stand_ins
from .monster import Monster, serve
from .player import DIESIDE, MAX_HEALTH, MAX_ROLLS, VICTORY_PTS_WIN, Player, PlayerState

__all__ = [
    "DIESIDE",
    "MAX_HEALTH",
    "MAX_ROLLS",
    "VICTORY_PTS_WIN",
    "Monster",
    "Player",
    "PlayerState",
    "player_of",
    "serve",
    "stand_ins",
]
