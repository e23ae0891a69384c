"""``python3 -u -m necrodome.compat KIND FILE.py [CLASS]``: a bot that was written for another program, as a process bot."""

from __future__ import annotations

import sys
from importlib import import_module

from ..bot import Wire
from .load import NoBot

KINDS = ("gamezombies", "godzilla", "zombiedice")
USAGE = f"expected python3 -m necrodome.compat KIND FILE.py [CLASS] with KIND one of {', '.join(KINDS)}"


def main(words: list[str]) -> None:
    """Runs the bot until the arena has no more matches."""
    if len(words) not in (2, 3) or words[0] not in KINDS:
        sys.exit(USAGE)
    kind, file, *name = words
    # Before anything of the file is run: what it prints must not come between the lines.
    wire = Wire.take_over()
    try:
        import_module(f"{__package__}.{kind}").serve(wire, file, name[0] if name else None)
    except NoBot as error:
        sys.exit(f"{file}: {error}")
    except BrokenPipeError:
        pass  # The arena has seen enough.


if __name__ == "__main__":
    main(sys.argv[1:])
