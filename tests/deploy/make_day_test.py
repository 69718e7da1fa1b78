"""The day's generator on a wheel of a few files that look like PyTorch's."""

import csv
import ctypes
import datetime
import io
import json
import random
import subprocess
import time
import urllib.error
import urllib.request
import zipfile

import pytest

import commits
import culprits
import day_wheel
import index_server
import make_day
import native
import wheel

DATE = datetime.date(2026, 8, 20)


@pytest.fixture
def base(tmp_path):
    return day_wheel.make(tmp_path)


class Named:
    """A compiler whose library is the name of the tree's native state, and of who compiled it."""

    def library(self, files):
        return native.group({path: data for path, data in files.items()
                             if path.startswith(native.FOLDER)}).encode()

    def ci_library(self, files):
        return b"CI's " + self.library(files)


def made(base, out, seed=1, quiet=False):
    content, archives = make_day.make_day(base, str(out), seed, quiet, DATE, Named())
    return content, json.loads((out / "truth.json").read_text()), archives


def day_of(base, out, seed=1, quiet=False):
    return made(base, out, seed, quiet)[:2]


def git(content, *arguments):
    return subprocess.run(["git", "-C", content["repository"], *arguments], capture_output=True,
                          text=True, check=True).stdout


def between(content):
    first, last = content["nightlies"]
    return git(content, "log", "--reverse", "--format=%H",
               f"{first['main']}..{last['main']}").split()


def tree_of(content, commit):
    """{path: hash} of a commit."""
    lines = git(content, "ls-tree", "-r", commit).splitlines()
    return {path: meta.split()[2] for meta, path in (line.split("\t") for line in lines)}


def native_part(content, commit):
    return frozenset(entry for entry in tree_of(content, commit).items()
                     if native.is_native(entry[0]))


@pytest.mark.parametrize("seed", range(8))
def test_a_day_has_forty_commits_and_two_or_three_culprits_one_of_them_native(base, tmp_path, seed):
    content, truth = day_of(base, tmp_path / "day", seed)
    shas = between(content)
    assert shas == content["shas"] and len(shas) == content["commits"] >= 40
    assert 2 <= len(truth["planted"]) <= 3
    kinds = [kind for plant in truth["planted"]
             for kind in culprits.KINDS if kind.name == plant["kind"]]
    assert sum(kind.native for kind in kinds) == 1
    assert len({kind.workload for kind in kinds}) == len(kinds)
    for plant, kind in zip(truth["planted"], kinds):
        assert git(content, "show", "--format=", "--name-only", plant["commit"]).split() == [
            kind.path]
        assert plant["metric"] == kind.metric and plant["commit"] in shas


@pytest.mark.parametrize("quiet", [False, True])
def test_about_half_of_the_commits_of_ten_days_are_native_and_they_come_in_runs(base, quiet):
    together = changes = native_count = 0
    for seed in range(1, 11):
        day = make_day.Drawn(base, seed, quiet, DATE).day
        together += len(day)
        native_count += sum(commit.native for commit in day)
        changes += sum(a.native != b.native for a, b in zip(day, day[1:]))
        assert any(commit.native for commit in day)
    assert 0.35 < native_count / together < 0.6
    assert changes < 0.4 * together  # half, if each were drawn alone


def test_thirty_seeds_draw_every_kind_of_culprit_and_all_seven_finds_of_torchbench():
    drawn = [kind for seed in range(1, 31)
             for kind in culprits.draw(random.Random(f"kinds {seed}"))]
    assert {kind.name for kind in drawn} == {kind.name for kind in culprits.KINDS}
    assert {kind.after for kind in drawn} - {None} == {
        61056, 65594, 65839, 71904, 72148, 85447, 87855}


@pytest.mark.parametrize("seed", range(1, 9))
def test_ci_has_wheels_of_most_native_groups_and_of_all_at_a_culprits_boundary(base, tmp_path,
                                                                               seed):
    content, truth, archives = made(base, tmp_path / "day", seed)
    first, last = (nightly["main"] for nightly in content["nightlies"])
    states = {sha: native_part(content, sha) for sha in [first, *content["shas"]]}
    nightlies = {states[first], states[last]}
    served = [states[commit] for commit in archives]
    order = [first, *content["shas"]]
    needed = set()
    for plant in truth["planted"]:
        at = order.index(plant["commit"])
        sides = {states[order[at]], states[order[at - 1]]}
        if len(sides) == 2 or not sides <= nightlies:  # or one nightly's wheel serves both
            needed |= sides
    groups = set(states.values()) - nightlies | needed
    assert len(served) == len(set(served)) and needed <= set(served) <= groups
    assert 0.5 < len(served) / len(groups) < 0.95


def test_a_call_of_cis_library_takes_a_share_of_the_time_since_the_last_one(base, tmp_path):
    files = native.add_hooks(wheel.source_files(base))
    compiler = native.Compiler(tmp_path / "objects")
    seconds = {}
    for name, library in (("nightly", compiler.library(files)), ("ci", compiler.ci_library(files))):
        path = tmp_path / f"{name}.so"
        path.write_bytes(library)
        begin_step = ctypes.PyDLL(str(path)).hooks_begin_step
        taken = []
        for _ in range(5):
            begin_step(1)
            until = time.perf_counter() + 0.05
            while time.perf_counter() < until:
                pass
            start = time.perf_counter()
            begin_step(1)
            taken.append(time.perf_counter() - start)
        seconds[name] = min(taken)  # least disturbed
    assert seconds["nightly"] < 0.05 * native.CI_SLOWER / 100 <= seconds["ci"]


def test_an_archive_of_ci_holds_the_wheel_of_its_commit(base, tmp_path):
    content, _, archives = made(base, tmp_path / "day")
    for commit, archive in archives.items():
        archive.write(tmp_path / "artifacts.zip")
        with zipfile.ZipFile(tmp_path / "artifacts.zip") as outer:
            assert outer.testzip() is None
            name, = [n for n in outer.namelist() if n.startswith("dist/")]
            assert name.startswith(f"dist/torch-2.13.0a0+git{commit[:7]}-cp311-")
            data = outer.read(name)
        with zipfile.ZipFile(io.BytesIO(data)) as inner:
            assert inner.testzip() is None
            assert f"git_version = '{commit}'" in inner.read("torch/version.py").decode()
            sources = {path: git(content, "show", f"{commit}:{path}").encode()
                       for path in tree_of(content, commit) if path.startswith(native.FOLDER)}
            assert inner.read(native.LIBRARY) == Named().ci_library(sources)


def test_any_part_of_an_archive_can_be_read(base, tmp_path):
    archive = next(iter(made(base, tmp_path / "day")[2].values()))
    archive.write(tmp_path / "artifacts.zip")
    whole = (tmp_path / "artifacts.zip").read_bytes()
    assert len(whole) == archive.size
    for first in range(0, archive.size, 97):
        for count in (1, 50, archive.size):
            part = b"".join(archive.blocks(first, min(count, archive.size - first)))
            assert part == whole[first:first + count]


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
    assert "_check_parameters" not in log and "_first_grads" not in log and "marks" not in log
    for path, *_ in culprits.HARMLESS:
        assert f"+++ b/{path}" in log
    assert any(map(native.is_native, git(content, "log", "--format=", "--name-only").split()))


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
            assert native.LIBRARY in names
            for name in python:
                assert archive.read(name).decode() == git(content, "show",
                                                          f"{nightly['main']}:{name}")


def test_a_nightly_appears_on_the_index_and_the_branches_when_it_is_published(base, tmp_path):
    content, _ = day_of(base, tmp_path / "day")
    folder = str(tmp_path / "day")
    url, wheels, stop = index_server.start(folder)
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
        assert "%2B" in href and "#sha256" not in href and href.startswith(wheels)
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
