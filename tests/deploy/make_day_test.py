"""The day's generator on a wheel of a few files that look like PyTorch's."""

import csv
import datetime
import io
import json
import subprocess
import urllib.error
import urllib.request
import zipfile

import pytest

import commits
import culprits
import day_wheel
import index_server
import make_day
import wheel

DATE = datetime.date(2026, 8, 20)


@pytest.fixture
def base(tmp_path):
    return day_wheel.make(tmp_path)


def day_of(base, out, seed=1, quiet=False):
    content = make_day.make_day(base, str(out), seed, quiet, DATE)
    return content, json.loads((out / "truth.json").read_text())


def git(content, *arguments):
    return subprocess.run(["git", "-C", content["repository"], *arguments], capture_output=True,
                          text=True, check=True).stdout


def between(content):
    first, last = content["nightlies"]
    return git(content, "log", "--reverse", "--format=%H",
               f"{first['main']}..{last['main']}").split()


@pytest.mark.parametrize("seed", range(8))
def test_a_day_has_forty_commits_and_two_planted_ones(base, tmp_path, seed):
    content, truth = day_of(base, tmp_path / "day", seed)
    shas = between(content)
    assert len(shas) == content["commits"] >= 40
    assert {plant["metric"] for plant in truth["planted"]} == {"latency", "peak_cpu_memory"}
    assert {plant["commit"] for plant in truth["planted"]} < set(shas)
    for plant in truth["planted"]:
        diff = git(content, "show", plant["commit"])
        assert ("_check_parameters" if plant["metric"] == "latency" else "_first_grads") in diff


def test_the_broken_import_is_reverted_by_the_next_commit(base, tmp_path):
    content, _ = day_of(base, tmp_path / "day")
    shas = git(content, "log", "--reverse", "--format=%H", "main", "--",
               commits.BROKEN_FILE).split()[1:]
    assert len(shas) == 2
    order = between(content)
    assert order.index(shas[1]) == order.index(shas[0]) + 1
    first, last = content["nightlies"]
    path = commits.BROKEN_FILE
    assert git(content, "show", f"{first['main']}:{path}") == git(content, "show",
                                                                  f"{last['main']}:{path}")


def test_the_same_seed_makes_the_same_day_and_another_seed_another(base, tmp_path):
    days = [day_of(base, tmp_path / name, seed)[0]["nightlies"][1]["main"]
            for name, seed in (("a", 3), ("b", 3), ("c", 4))]
    assert days[0] == days[1] != days[2]


def test_a_quiet_day_plants_nothing_but_touches_the_same_files(base, tmp_path):
    content, truth = day_of(base, tmp_path / "day", quiet=True)
    assert truth["planted"] == []
    log = git(content, "log", "-p", f"{content['nightlies'][0]['main']}..main")
    assert "_check_parameters" not in log and "_first_grads" not in log
    assert f"+++ b/{culprits.CHECKS_FILE}" in log and f"+++ b/{culprits.MEMORY_FILE}" in log


def test_a_release_commit_has_the_tree_of_mains_commit_and_names_it(base, tmp_path):
    content, _ = day_of(base, tmp_path / "day")
    first, last = content["nightlies"]
    for nightly in (first, last):
        assert git(content, "log", "-1", "--format=%s", nightly["nightly"]).strip() == \
            f"{nightly['date']} nightly release ({nightly['main']})"
        assert git(content, "rev-parse", f"{nightly['nightly']}^{{tree}}") == \
            git(content, "rev-parse", f"{nightly['main']}^{{tree}}")
    assert git(content, "rev-parse", f"{last['nightly']}^").strip() == first["nightly"]


def test_a_nightlys_wheel_is_consistent_and_holds_its_commits_files(base, tmp_path):
    content, _ = day_of(base, tmp_path / "day")
    for nightly in content["nightlies"]:
        with zipfile.ZipFile(tmp_path / "day" / "wheels" / nightly["wheel"]) as archive:
            assert archive.testzip() is None
            names = archive.namelist()
            assert len(set(names)) == len(names)
            info = f"torch-{nightly['version']}.dist-info"
            record = list(csv.reader(io.StringIO(archive.read(f"{info}/RECORD").decode())))
            assert {name for name, *_ in record} == set(names)
            for name, digest, size in record:
                if name != f"{info}/RECORD":
                    assert [name, digest, size] == wheel.record_line(name, archive.read(name))
            assert archive.read(f"{info}/METADATA").decode() == \
                f"Name: torch\nVersion: {nightly['version']}\n\nVersion: text\n"
            version = archive.read("torch/version.py").decode()
            assert nightly["version"] in version and nightly["nightly"] in version
            tree = git(content, "ls-tree", "-r", "--name-only", nightly["main"]).split()
            python = {n for n in tree if n.endswith(".py") and n.startswith(wheel.FOLDERS)}
            assert python == {n for n in names if n.endswith(".py")} - {"torch/version.py"}
            for name in python:
                assert archive.read(name).decode() == git(content, "show",
                                                          f"{nightly['main']}:{name}")


def test_a_nightly_appears_on_the_index_and_the_branches_when_it_is_published(base, tmp_path):
    content, _ = day_of(base, tmp_path / "day")
    folder = str(tmp_path / "day")
    url, stop = index_server.start(folder)
    read = lambda address: urllib.request.urlopen(address, timeout=10).read()
    try:
        assert b"torch-" not in read(f"{url}/torch/")
        for count in (1, 2):
            make_day.publish(folder, content, count)
            shown = read(f"{url}/torch/").decode()
            for number, nightly in enumerate(content["nightlies"]):
                assert (f">{nightly['wheel']}<" in shown) == (number < count)
            assert git(content, "rev-parse",
                       "main").strip() == content["nightlies"][count - 1]["main"]
        href = next(part.split('"')[0] for part in shown.split('href="') if part.startswith("http"))
        assert "%2B" in href and "#sha256" not in href and not href.startswith(url)
        assert read(href) == (tmp_path / "day" / "wheels"
                              / content["nightlies"][0]["wheel"]).read_bytes()
        with pytest.raises(urllib.error.HTTPError):
            read(f"{url}/torchaudio/")
    finally:
        stop()


def test_a_wheel_of_another_kind_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no release wheel"):
        wheel.parts(str(tmp_path / "torchvision-0.28.0-cp311-cp311-linux_x86_64.whl"))


@pytest.mark.parametrize("variant, local, built_for", [
    ("cpu", "+cpu", {}),
    ("cu130", "", {"cuda": "13.0"}),  # PyPI's: only torch/version.py tells
    ("cu126", "+cu126", {"cuda": "12.6"}),
    ("rocm7.2", "+rocm7.2", {"hip": "7.2.41133-dd7f95766"}),
    ("xpu", "+xpu", {"xpu": "20250301"})])
def test_nightlies_are_of_the_variant_that_the_wheel_was_built_for(tmp_path, variant, local,
                                                                   built_for):
    base = day_wheel.make(tmp_path, f"2.13.0+{variant}", local, **built_for)
    content, _ = day_of(base, tmp_path / "day")
    assert content["variant"] == variant
    make_day.publish(str(tmp_path / "day"), content, 2)
    shown = index_server.page(index_server.published(str(tmp_path / "day")), "http://wheels")
    for nightly in content["nightlies"]:
        assert nightly["version"].endswith(f"+{variant}") and wheel.variant(
            tmp_path / "day" / "wheels" / nightly["wheel"]) == variant
        assert shown.count(nightly["wheel"]) == 1
