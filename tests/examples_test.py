"""What a change costs: each example patch applies, and touches no more files than it may."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Files of the program itself: an example holds no tests and no documents.
MOST = {"metric": 4, "filter": 2, "column": 4, "configuration_key": 3}


@pytest.mark.parametrize("name", sorted(MOST))
def test_an_example_of_a_change_applies_and_is_small(name):
    patch = ROOT / "tests/examples" / f"{name}.patch"
    checked = subprocess.run(["git", "apply", "--check", patch], cwd=ROOT, capture_output=True,
                             text=True)
    assert checked.returncode == 0, f"make {patch.name} again: {checked.stderr}"
    touched = re.findall(r"^\+\+\+ b/(.+)$", patch.read_text(), re.MULTILINE)
    assert touched, "a patch that changes nothing"
    source = [path for path in touched if path != "deploy/nightjar.toml"]
    assert len(source) <= MOST[name], source


def test_each_example_has_its_most():
    assert {path.stem for path in (ROOT / "tests/examples").glob("*.patch")} == set(MOST)
