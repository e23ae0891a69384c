"""Existing bots, unchanged.

Each kind of bot is a module (``python3 -m necrodome.compat`` lists them), whose documentation says what such a bot
looks like and where the rules differ.

In any match or tournament, on the command line and in Python, such a class is written ``compat:KIND:FILE.py:CLASS``. It runs in
its own process, as ``python3 -u -m necrodome.compat KIND FILE.py CLASS``. The class can be omitted if the file has
only one. Instead of a class you can name an object that the file makes.
"""
