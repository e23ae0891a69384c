"""The arena in the native module. It exists only on Linux."""

from __future__ import annotations

from . import _native


def need() -> None:
    """Raises an error on a system where the package has no arena."""
    if not hasattr(_native, "play"):
        raise NotImplementedError(
            "matches and tournaments are played on Linux, and so are replays analyzed; "
            "environments, solve and evaluate work everywhere"
        )
