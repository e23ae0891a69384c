"""The arena's own program, which has what the package lacks: the pages."""

from __future__ import annotations

import os
import shutil

#: Where the program is, if it is not in the path.
VARIABLE = "NECRODOME"


class NoProgram(Exception):
    """The error for a missing program."""


def program() -> str:
    """The path of the program."""
    named = os.environ.get(VARIABLE)
    found = shutil.which(named or "necrodome")
    if found is None and named:
        raise NoProgram(f"there is no program {named!r}, which {VARIABLE} names")
    if found is None:
        raise NoProgram("there is no program necrodome in the path (cargo install --path crates/cli)")
    return os.path.abspath(found)
