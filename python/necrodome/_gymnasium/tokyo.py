"""Tokyo: one monster against built-in bots."""

from . import against_bots

ENVIRONMENTS = {"Tokyo-v0": against_bots("tokyo", ["point-hunter"])}
