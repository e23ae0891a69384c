"""The standard streams of a bot's process."""

from __future__ import annotations

import os
import sys


def hide_standard_streams() -> None:
    """Gives the bot an empty standard input, and sends its standard output to standard error."""
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    # Also for what is not Python: libraries that print, programs that the bot starts.
    os.dup2(2, 1)
    sys.stdout = sys.stderr
