"""``python3 -u -m necrodome.compat KIND FILE.py [CLASS]``: a bot that was written for another program, as a process bot."""

from __future__ import annotations

import sys
from importlib import import_module

from .load import NoBot

KINDS = ("gamezombies", "godzilla", "zombiedice")
USAGE = f"expected python3 -m necrodome.compat KIND FILE.py [CLASS] with KIND one of {', '.join(KINDS)}"


def main(words: list[str]) -> None:
    """Runs the bot until the arena has no more matches."""
    if len(words) not in (2, 3) or words[0] not in KINDS:
        sys.exit(USAGE)
    kind, file, *name = words
    # The file is no program with arguments of its own.
    sys.argv = [file]
    try:
        import_module(f"{__package__}.{kind}").serve(file, name[0] if name else None)
    except NoBot as error:
        sys.exit(f"{file}: {error}")
    except BrokenPipeError:
        pass  # The arena has seen enough.


if __name__ == "__main__":
    main(sys.argv[1:])
