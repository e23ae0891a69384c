"""The documentation says what is there: fields in their order, numbers as they come out, doctests."""

import doctest
import importlib
import io
import json
import pkgutil
import re
from pathlib import Path
from typing import Any

import pytest

import necrodome
from arena_binary import NECRODOME
from arena_binary import necrodome as necrodome_binary
from necrodome import _native

DOCS = Path(__file__).parents[2] / "docs" / "python.md"
README = Path(__file__).parents[1] / "README.md"


def section(title: str) -> list[str]:
    """The names in the first column of the table under a title, in their order."""
    text = DOCS.read_text().split(f"**{title}**")[1].split("\n\n")[1]
    rows = [row.split("|")[1] for row in text.splitlines()[2:]]
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


def fields(game: str, players: int, **rules: str) -> list[str]:
    referee = _native.Referee(game, [f"p{seat}" for seat in range(players)], 0, json.dumps(rules))
    return [field["name"] for field in json.loads(referee.fields())]


def test_every_field_is_described_in_its_order() -> None:
    dice = section("Zombie Dice")
    recycled = fields("zombie-dice-solo", 1, out_of_dice="recycle_brains")
    assert dice[: len(recycled)] == recycled
    for game, players in [("zombie-dice-race", 2), ("zombie-dice", 2)]:
        names = fields(game, players, out_of_dice="recycle_brains")
        assert [name for name in dice if name in names] == names
    tokyo = fields("tokyo", 2)
    told = section("Tokyo.")
    assert [name for name in tokyo if name in told] == told
    assert set(tokyo) - set(told) <= {
        *(f"die_{die}" for die in range(2, 6)),
        "points_1",
        "in_tokyo_1",
        "current_1",
    }
    assert fields("infection", 3) == section("Infection.")


@pytest.mark.parametrize("path", [DOCS, README], ids=["docs/python.md", "README.md"])
def test_values_in_the_text_are_true(path: Path) -> None:
    text = path.read_text()
    solo = necrodome.solve("zombie-dice-solo")
    rule = necrodome.evaluate(lambda obs: obs[0] < 5 and obs[1] < 2, "zombie-dice-solo")
    assert "lambda obs: obs[0] < 5 and obs[1] < 2" in text
    if path == DOCS:
        assert f"{rule.value:.6f}, {rule.best:.6f}, {rule.regret:.6f}" in text
    else:
        assert str(solo.value) in text


def programs() -> list[Any]:
    """The programs of all texts, each by its first line that does something, with what the comment before it says."""
    root = README.parents[1]
    found = []
    for path in (root / "README.md", README, *sorted(DOCS.parent.rglob("*.md"))):
        for comment, program in re.findall(r"(?:<!-- ([^\n]*) -->\n)?```python\n(.*?)```", path.read_text(), re.DOTALL):
            lines = [line for line in program.splitlines() if line and not line.startswith(("import", "from"))]
            name = f"{path.relative_to(root)}: {lines[0][:40].strip()}"
            found.append(pytest.param(comment, program, id=name))
    return found


@pytest.mark.parametrize(("comment", "program"), programs())
def test_programs_in_the_text_run_when_pasted_alone(
    comment: str, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, _, rest = comment.partition(": ")
    if kind == "file":
        # A bot that is played with: the tests of the command line do so.
        compile(program, rest, "exec")
        return
    if kind == "first":
        if not NECRODOME:
            pytest.skip("NECRODOME, the path of the arena's binary, is not set")
        done = necrodome_binary(*rest.split()[1:], folder=tmp_path)
        assert done.returncode == 0, done.stderr
    monkeypatch.chdir(tmp_path)
    # Bots in the text read standard input, which ends at once.
    monkeypatch.setattr("sys.stdin", io.StringIO())
    try:
        exec(program, {"__name__": "__main__"})
    except ModuleNotFoundError as error:
        if (error.name or "necrodome").partition(".")[0] == "necrodome":
            raise
        # A library that the package does without: whoever tests it has it.
        pytest.skip(str(error))


def test_there_are_programs_in_the_text() -> None:
    assert len(programs()) >= 25


def test_links_lead_somewhere() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", DOCS.read_text()):
        assert (DOCS.parent / link).exists(), link


def test_examples_in_the_text_are_there() -> None:
    examples = README.parent / "examples"
    told = set(re.findall(r"`(\w+\.py)`", DOCS.read_text()))
    assert {path.name for path in examples.glob("*.py")} <= told


def modules() -> list[str]:
    found = pkgutil.walk_packages(necrodome.__path__, "necrodome.")
    found = (module for module in found if not module.name.startswith("necrodome.adapters."))
    return sorted(module.name for module in found if "_" != module.name.rpartition(".")[2][0])


@pytest.mark.parametrize("name", modules())
def test_what_docstrings_show_is_so(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_everything_public_is_documented() -> None:
    for name in necrodome.__all__:
        thing = getattr(necrodome, name)
        assert (thing.__doc__ or "").strip(), f"necrodome.{name} has no docstring"
