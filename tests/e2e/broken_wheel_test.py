"""A nightly wheel that is broken as a package: the service says so, nobody is blamed, and the next
nightly is measured. What installers take is measured like any other."""

import zipfile

import pytest

from loop_test import finish, first_night, shas
from world import WORKLOADS, step

DAY, NEXT = "2026-08-20", "2026-08-21"


def repack(path, change):
    """Writes the wheel again, with {name: bytes} as `change` leaves them."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    info = next(name.split("/")[0] for name in files if name.endswith("/RECORD"))
    change(files, info)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 8, 20, 0, 0, 0)), data,
                             zipfile.ZIP_DEFLATED)


def publish_changed(world, date, change):
    """A nightly whose wheel is changed before the index lists it."""
    publish = world.index.publish

    def changed(wheel):
        change(wheel)
        publish(wheel)
    world.index.publish = changed
    version = world.publish_nightly(date)
    world.index.publish = publish
    return version


def without_record(files, info):
    del files[f"{info}/RECORD"]


def without_member(files, info):
    del files["torch/module2.py"]


def another_member(files, info):
    files["torch/module2.py"] += b"x = 1\n"


def another_version(files, info):
    name = f"{info}/METADATA"
    files[name] = files[name].replace(b"Version: 2.14.0.dev", b"Version: 2.13.0.dev")


FLAWS = {
    without_record: "/RECORD",
    without_member: "RECORD lists torch/module2.py, which is missing",
    another_member: "torch/module2.py differs from what RECORD says",
    another_version: "its METADATA says version 2.13.0",
}


def broken_nightly(world, change):
    first_night(world)
    world.repo.grow(6)
    version = publish_changed(world, DAY, change)
    world.wait("the broken wheel to be noticed",
               lambda: [b for b in world.items("builds") if b["state"] == "unusable"])
    return version


def expect_nobody_blamed(world, version, reason):
    [broken] = [b for b in world.items("builds") if b["version"] == version]
    assert (broken["state"], broken["commit"]) == ("unusable", None)
    assert reason in broken["reason"]

    def told():
        return [o for o in world.get("/readyz")["obstacles"] if "is unusable: " in o["reason"]]
    [obstacle] = world.wait("the obstacle", told)
    assert version in obstacle["reason"] and reason in obstacle["reason"]
    world.repo.grow(6)
    world.publish_nightly(NEXT)
    finish(world)
    nights = world.items("nights")
    assert sorted(n["build"]["date"] for n in nights) == ["2026-08-19", NEXT]
    assert not world.items("regressions") and not world.issues()
    world.wait("no obstacle", lambda: not told())


@pytest.mark.parametrize("flaw", FLAWS, ids=lambda flaw: flaw.__name__)
def test_a_nightly_that_is_broken_as_a_package_blames_nobody(world, flaw):
    w = world()
    version = broken_nightly(w, lambda wheel: repack(wheel, flaw))
    expect_nobody_blamed(w, version, FLAWS[flaw])


@pytest.mark.parametrize("size", ["none", "half"])
def test_a_nightly_that_was_cut_off_blames_nobody(world, size):
    def cut(wheel):
        data = wheel.read_bytes()
        wheel.write_bytes(data[:len(data) // 2 if size == "half" else 0])
    w = world()
    expect_nobody_blamed(w, broken_nightly(w, cut), "no whole zip archive")


def test_a_broken_wheel_counts_among_the_obstacles(world):
    w = world()
    w.publish_nightly("2026-08-19")
    w.start_daemon()
    w.wait("the build", lambda: [b for b in w.items("builds") if b["state"] == "proved"])
    w.repo.grow(2)
    version = publish_changed(w, DAY, lambda wheel: repack(wheel, without_record))
    w.wait("the broken wheel", lambda: [b for b in w.items("builds")
                                        if b["state"] == "unusable"])
    w.wait("the metric", lambda: 'nightjar_obstacles{kind="build"} 1'
           in w.request("GET", "/metrics")[1].decode())
    assert version in " ".join(o["reason"] for o in w.get("/readyz")["obstacles"])


@pytest.mark.first
def test_a_wheel_that_installers_take_is_measured_and_its_culprit_named(world):
    """METADATA was written again after RECORD, a name is not ASCII, a signature is listed, and a
    member is there twice."""
    def odd(files, info):
        files[f"{info}/METADATA"] += b"Keywords: written again\n"
        files["torch/gr\u00f6\u00dfe.py"] = b"SIZE = 1\n"  # in no line of RECORD
        files[f"{info}/RECORD"] += f"{info}/RECORD.jws,sha256={'A' * 43},3\n".encode()

    def change(wheel):
        repack(wheel, odd)
        with zipfile.ZipFile(wheel, "a") as archive, pytest.warns(UserWarning):
            archive.writestr("torch/__init__.py", archive.read("torch/__init__.py"))
    w = world()
    w.environment = {"LC_ALL": "C", "LANG": "C"}
    first_night(w, step(WORKLOADS[0], 5, latency=1.3))
    w.repo.grow(8)
    publish_changed(w, DAY, change)
    finish(w)
    assert not [b for b in w.items("builds") if b["state"] == "unusable"]
    [regression] = w.items("regressions")
    assert shas(regression["culprit"]["commits"]) == [w.repo.commits[5]]
