"""Programs of docs/python.md that need a library: the test of its adapter runs them."""

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs" / "python.md"


def run_program_of(adapter: str) -> dict[str, Any]:
    """Runs the program that shows an adapter, as if it were pasted alone; gives its names."""
    programs = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    (program,) = [one for one in programs if f"necrodome.adapters.{adapter}" in one]
    names: dict[str, Any] = {}
    exec(program, names)
    return names
