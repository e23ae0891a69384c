"""What verifiers finds by the id `necrodome-verifiers`: it looks for top-level packages only."""

from necrodome.adapters.verifiers import ArenaEnv, ArenaHarness, ArenaTaskset, load_environment

__all__ = ["ArenaEnv", "ArenaHarness", "ArenaTaskset", "load_environment"]
