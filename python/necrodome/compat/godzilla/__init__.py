"""Players of godzilla-v2 (tokyo-bench), for ``tokyo``.

Players run unchanged as ``compat:godzilla:my_player.py:MyPlayer``::

    from constants import DIESIDE
    from player import Player, PlayerState

    class MyPlayer(Player):
        def keep_dice(self, dice_results, other_player_states, roll_counter):
            return [die == DIESIDE.ATTACK for die in dice_results], "attack is all that counts"

        def yield_tokyo(self, other_player_states):
            return self.state.health <= 5

``keep_dice`` returns a mask of the dice to keep, ``yield_tokyo`` a bool; both may return a pair with a reason, which is kept in the
replay. ``roll_counter`` is 0 after the first roll and 1 after the second. As in the program, each turn asks after both rolls, after the
second even if all dice were kept at the first: then it shows the same dice again, and they can still be rolled. ``other_player_states``
maps a name to the player's index and state, with ``health``, ``victory_points`` and ``in_tokyo``; players who are out have no
health. The player itself has ``state``, ``name`` and ``idx``. It is made anew for each game, as ``MyPlayer(idx, name)``: what it stores
in itself is lost then, what it stores in its class stays. Changes that it makes to its state with ``set_health`` and the like are visible
to it until its next decision, and have no effect on the game.

A file can import ``constants``, ``helpers.constants`` and ``player``, which are found here. It need not derive from ``Player``. A file in a
copy of the program (below a folder with ``player.py``) runs from that folder, and imports the program's own modules, including ``llm``,
if their dependencies are installed; otherwise it gets the ``player`` and ``constants`` from here.

Players that call a service need the network and a key, which the arena's bots do not have: ``--allow-network`` and ``--pass-env NAME`` give
them to all programs of a match or tournament, and ``--decision-ms``, ``--match-ms`` and ``--idle-ms`` give them time.

Players that ask a person cannot be bots of the arena, which uses the standard input itself. They play here, beside others, with reports
of several games on one page. A person who types too few or too many letters is asked again::

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
