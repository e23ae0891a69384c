"""The package is typed: strictly, and the stubs of the native module are true."""

import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = Path(__file__).parents[1]

pytest.importorskip("mypy")


def run(*words: str) -> None:
    result = subprocess.run([sys.executable, "-m", *words], cwd=PYTHON, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_package_is_strictly_typed() -> None:
    run("mypy", "--strict", "necrodome")


def test_the_examples_are_typed() -> None:
    run("mypy", "--strict", "examples")


def test_the_stubs_of_the_native_module_are_true(tmp_path: Path) -> None:
    # The list of names is made by the module itself; nobody imports all of them.
    allowed = tmp_path / "allowed.txt"
    allowed.write_text("necrodome._native.__all__\n")
    run("mypy.stubtest", "--allowlist", str(allowed), "necrodome._native")
