"""The package is typed: strictly, and the stubs of the native module are true."""

import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = Path(__file__).parents[1]

pytest.importorskip("mypy")


def run(*words: str, folder: Path = PYTHON) -> None:
    result = subprocess.run([sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_package_is_strictly_typed() -> None:
    run("mypy", "--strict", "necrodome", "necrodome_verifiers")


def test_the_examples_are_typed() -> None:
    run("mypy", "--strict", "examples")


def test_the_stubs_of_the_native_module_are_true(tmp_path: Path) -> None:
    # The list of names is made by the module itself; nobody imports all of them.
    allowed = tmp_path / "allowed.txt"
    allowed.write_text("necrodome._native.__all__\n")
    # Not where the sources are: the native module is in the package that is installed.
    config = str(PYTHON / "pyproject.toml")
    words = ("--mypy-config-file", config, "--allowlist", str(allowed), "necrodome._native")
    run("mypy.stubtest", *words, folder=tmp_path)
