"""Bots that people already have, unchanged.

- :mod:`necrodome.compat.zombiedice`: classes with ``turn(gameState)`` that call ``zombiedice.roll()``.
- :mod:`necrodome.compat.gamezombies`: agents with ``wakeUp``, ``perceive``, ``decide`` and ``sleep``.
- :mod:`necrodome.compat.godzilla`: players with ``keep_dice`` and ``yield_tokyo``.

In any match or tournament, of the command line and of Python, such a class is written ``compat:KIND:FILE.py:CLASS``. It runs in
a process of its own, as ``python3 -u -m necrodome.compat KIND FILE.py CLASS``. The class can be left out where the file has
only one. In place of a class there can be the name of an object that the file makes.
"""
