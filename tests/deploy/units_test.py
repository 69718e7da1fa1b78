"""Sources that are compiled several at once: nightjar_units in CMakeLists.txt."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def units(tmp_path_factory):
    """What each unit of the preset `release` includes, by the unit's name."""
    folder = tmp_path_factory.mktemp("configured")
    subprocess.run(["cmake", "--preset", "release", "-B", folder], cwd=ROOT, check=True,
                   capture_output=True, timeout=120)
    return {str(unit.relative_to(folder)): re.findall('#include "(.*)"', unit.read_text())
            for unit in folder.rglob("units/*.cpp")}


def test_a_second_checkout_has_the_same_units(units):
    included = [path for paths in units.values() for path in paths]
    assert len(included) > 300 and all((ROOT / path).is_file() for path in included)
    assert [path for path in included if path.startswith("/")] == []


def test_each_source_of_a_room_is_in_one_unit(units):
    included = sorted(path for paths in units.values() for path in paths)
    rooms = [path for path in ROOT.glob("*/**/*.cpp")
             if path.relative_to(ROOT).parts[0] in ("bisect", "runner", "service", "storage", "web")
             and "workloads" not in path.parts
             and path.parent.name != "local"]  # the one static file's, see deploy/static
    alone = re.compile(r"(/|_)main\.cpp$")  # programs
    expected = sorted(str(path.relative_to(ROOT)) for path in rooms
                      if not alone.search(str(path)) or "confine" in path.parts)
    assert [path for path in included if not path.startswith("tests/")] == expected


def test_what_is_often_edited_is_compiled_in_small_units(units):
    engine = [paths for paths in units.values() if paths[0].startswith("service/engine/")]
    assert max(map(len, engine)) == 4
    assert max(map(len, units.values())) == 12
