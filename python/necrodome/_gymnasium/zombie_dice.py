"""Zombie Dice: one turn alone, or one seat against built-in bots."""

from . import BARE, against_bots

ENVIRONMENTS = {
    "ZombieDiceSolo-v0": {
        **BARE,
        "entry_point": "necrodome.envs.solo:SoloEnv",
        "vector_entry_point": "necrodome.envs.solo:solo_vec",
    },
    "ZombieDiceRace-v0": against_bots("zombie-dice-race", ["stop-at:brains=5"]),
    "ZombieDiceTable-v0": against_bots("zombie-dice", ["cautious", "greedy", "stop-at:brains=5"]),
}
