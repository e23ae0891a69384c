"""What the installed package says about itself."""

from importlib.metadata import distribution, metadata

import necrodome


def test_the_metadata_is_complete() -> None:
    said = metadata("necrodome")
    assert said["Name"] == "necrodome"
    assert said["Version"] == necrodome.__version__
    assert said["Summary"] and said["Keywords"] and said["Requires-Python"]
    assert said["License-Expression"] == "MIT OR Apache-2.0"
    assert {name.rpartition("/")[2] for name in said.get_all("License-File", [])} == {"LICENSE-MIT", "LICENSE-APACHE"}
    assert said["Description-Content-Type"].startswith("text/markdown")
    assert "# Necrodome for Python" in said.json["description"]
    classifiers = said.get_all("Classifier", [])
    assert "Typing :: Typed" in classifiers
    assert not [one for one in classifiers if one.startswith("License ::")], "the licence is an expression"


def test_types_and_licences_are_in_the_package() -> None:
    files = {str(file) for file in distribution("necrodome").files or []}
    assert {"necrodome/py.typed", "necrodome_verifiers/py.typed", "necrodome/_native.pyi"} <= files
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert any(file.endswith(f".dist-info/licenses/{licence}") for file in files), licence
