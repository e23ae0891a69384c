"""Bots that people already have, unchanged.

Each kind of bot is a module (``python3 -m necrodome.compat`` lists them), whose documentation says what such a bot
looks like and where the rules differ.

In any match or tournament, of the command line and of Python, such a class is written ``compat:KIND:FILE.py:CLASS``. It runs in
a process of its own, as ``python3 -u -m necrodome.compat KIND FILE.py CLASS``. The class can be left out where the file has
only one. In place of a class there can be the name of an object that the file makes.
"""
