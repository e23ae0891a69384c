"""Environments: Gymnasium (`solo`, `vector`) and PettingZoo (one module for each game; `aec.TurnEnv` for any game)."""

from .._gymnasium import register

register()
