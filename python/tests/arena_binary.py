"""The binary of the arena, for tests that play through it: ``NECRODOME`` is its path."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

NECRODOME = os.environ.get("NECRODOME")
needs_binary = pytest.mark.skipif(not NECRODOME, reason="NECRODOME, the path of the arena's binary, is not set")


def necrodome(*words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the binary, with this very interpreter as the ``python3`` of its bots."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path}
    assert NECRODOME is not None
    words = (str(Path(NECRODOME).absolute()), *words)
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def document(*words: str, folder: Path | None = None) -> dict[str, Any]:
    """What a command prints with --json."""
    done = necrodome(*words, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result
