"""Adapters to RL libraries, a module for each. A module imports its library; `necrodome` itself imports none.

The table in docs/python.md, "At home in RL libraries", says how each is installed and tested.
"""
