"""Tells Gymnasium of the environments.

Importing `necrodome.envs` does it, and importing `necrodome` where Gymnasium is there already: a bot need not wait for it.
"""

from __future__ import annotations


def register() -> None:
    """Enters the environments into Gymnasium's list, once."""
    from gymnasium.envs.registration import register, registry

    if "necrodome/ZombieDiceSolo-v0" in registry:
        return
    register(
        id="necrodome/ZombieDiceSolo-v0",
        entry_point="necrodome.envs.solo:SoloEnv",
        vector_entry_point="necrodome.envs.vector:solo_vec",
    )
    # One seat against built-in bots.
    register(id="necrodome/ZombieDiceRace-v0", entry_point="necrodome.envs.versus:race")
    register(id="necrodome/ZombieDiceTable-v0", entry_point="necrodome.envs.versus:table")
    register(id="necrodome/Tokyo-v0", entry_point="necrodome.envs.versus:tokyo")
