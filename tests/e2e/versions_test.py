"""`nightjar bisect versions`: which release of a package made it worse, from a folder of wheels."""

import base64
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("NIGHTJAR_BIN", ROOT / "build" / "bin"))
UV = shutil.which("uv") or ROOT / ".cache/tools/bin/uv"
VERSIONS = ["1.9", "1.10", "1.11rc1", "1.11", "1.11.post1", "1.12", "2.0"]
MEASURE = "python3 -c 'import toy; print(toy.LEVEL)'"


def wheel(folder, version, level, requires=()):
    """A wheel whose module says its level."""
    info = f"toy-{version}.dist-info"
    files = {"toy.py": f"LEVEL = {level}\n",
             f"{info}/METADATA": f"Metadata-Version: 2.1\nName: toy\nVersion: {version}\n" +
                                 "".join(f"Requires-Dist: {one}\n" for one in requires),
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: n\nRoot-Is-Purelib: true\n"
                              "Tag: py3-none-any\n"}
    record = ""
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        record += f"{name},sha256={digest.decode()},{len(text)}\n"
    with zipfile.ZipFile(folder / f"toy-{version}-py3-none-any.whl", "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record + f"{info}/RECORD,,\n"}.items():
            archive.writestr(name, text)


@pytest.fixture
def index(tmp_path):
    """toy gets slow with 1.11.post1."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for place, version in enumerate(VERSIONS):
        wheel(folder, version, 20 if place >= VERSIONS.index("1.11.post1") else 10)
    return folder


def search(index, *arguments, good="1.9", bad="2.0", measure=MEASURE, uv=UV):
    place = index.parent
    environment = {**os.environ, "TMPDIR": str(place), "HOME": str(place),
                   "UV_CACHE_DIR": str(place / "cache"), "UV_OFFLINE": "1"}
    return subprocess.run([
        BIN / "nightjar", "bisect", "versions", "--package", "toy", "--good", good, "--bad", bad,
        "--measure", measure, "--index", index, "--uv", uv, "--python", sys.executable,
        *map(str, arguments)], capture_output=True, text=True, timeout=300, cwd=place,
                          env=environment)


@pytest.mark.first
def test_the_release_that_made_it_worse_is_named(index):
    done = search(index)
    assert done.returncode == 0, done.stderr
    # 1.10 comes after 1.9, and a build after the release counts, too.
    assert "searching 5 versions\n" in done.stderr
    assert done.stdout.startswith("toy 1.11.post1\n  before: 10.0 ")
    assert "\n  to see it: uv pip install toy==1.11.post1\n" in done.stdout
    assert not list(index.parent.glob("nightjar-bisect-*"))  # the environments are gone
    answer = json.loads(search(index, "--json").stdout)
    (step,) = answer["culprits"]
    assert step["commits"] == ["1.11.post1"] and answer["package"] == "toy"
    assert step["facts"][0]["subject"] == "toy 1.11.post1"


def test_ends_may_be_swapped_in_time_and_spelled_short(index):
    wheel(index, "3.0.0", 20)
    done = search(index, "--find", "better", "--json", good="3", bad="1.10")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["good"], answer["bad"]) == ("3.0.0", "1.10")
    assert answer["culprits"][0]["commits"] == ["1.11"]  # downwards the first that is fast again


def test_pre_releases_count_only_when_asked_for(index):
    done = search(index, "--pre", "--json")
    assert "searching 6 versions\n" in done.stderr
    assert json.loads(done.stdout)["culprits"][0]["commits"] == ["1.11.post1"]


def test_a_version_that_cannot_be_installed_is_untestable(index):
    wheel(index, "1.11", 10, requires=["missing>=1"])
    done = search(index, "--json")
    assert done.returncode == 0, done.stderr
    assert "1.11 is untestable: it cannot be installed; uv said: " in done.stderr
    assert json.loads(done.stdout)["culprits"][0]["commits"] == ["1.11", "1.11.post1"]


def test_the_measure_runs_here_in_the_environment_of_its_version(index):
    (index.parent / "bench.py").write_text("import os, toy, sys\n"
                                           "assert sys.prefix == os.environ['VIRTUAL_ENV']\n"
                                           "assert toy.__file__.startswith(sys.prefix)\n"
                                           "print(toy.LEVEL)\n")
    done = search(index, "--json", measure="test -n \"$NIGHTJAR_VERSION\" && python bench.py")
    assert json.loads(done.stdout)["culprits"][0]["commits"] == ["1.11.post1"], done.stderr


def test_each_of_several_benchmarks_has_its_release(index):
    levels = "import json, toy; print(json.dumps(dict(a=toy.LEVEL, b=1, c=1)))"
    done = search(index, "--json", "--only", "a", "--only", "b", measure=f"python3 -c '{levels}'")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    found = {one["benchmark"]: [step["commits"] for step in one["culprits"]]
             for one in answer["benchmarks"]}
    assert found == {"a": [["1.11.post1"]], "b": []} and answer["did_not_move"] == ["b"]


def test_a_search_over_versions_is_kept_and_is_no_other_one(index):
    state = index.parent / "state.json"
    first = search(index, "--json", "--state", state)
    assert first.returncode == 0, first.stderr
    again = search(index, "--json", "--state", state, measure=MEASURE)
    assert json.loads(again.stdout)["runs"] == json.loads(first.stdout)["runs"]
    other = search(index, "--state", state, bad="1.12")
    assert other.returncode == 2 and "--bad is \"2.0\" instead of \"1.12\"" in other.stderr


@pytest.mark.parametrize("options, code, words", [
    ({"good": "0.1"}, 2, "cannot find the good end, toy 0.1: uv said: "),
    ({"bad": "1.9"}, 2, "both ends are version 1.9"),
    ({"bad": "2.0; x"}, 2, "no name and version of a package"),
    ({"measure": " "}, 2, "--measure is empty")])
def test_what_cannot_be_searched_is_one_clear_line(index, options, code, words):
    done = search(index, **options)
    assert done.returncode == code and len(done.stderr.splitlines()) == 1, done.stderr
    assert words in done.stderr


def test_a_missing_uv_is_named(index):
    done = search(index, uv="no-such-uv")
    assert done.returncode == 3
    assert "there is no program no-such-uv; install uv, or name it by --uv" in done.stderr
