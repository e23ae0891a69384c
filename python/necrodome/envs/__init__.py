"""Environments: Gymnasium (`solo`, `vector`) and PettingZoo (one module for each game)."""
