"""Wheels of CI that are slower or faster than nightlies at every commit: the true culprit is named,
and nobody else."""
import subprocess

import pytest

from ci_test import Ci
from loop_test import finish, shas
from wheels_test import TOOLCHAIN, by_wheel, found_by, verified
from world import WORKLOADS, World, git, script, step

ALPHA, BETA = WORKLOADS
NATIVE = {4, 8, 12}  # commits in C++; the good nightly is of commit 1


def files_at(repo, commit):
    """What a wheel of the commit holds, as text."""
    names = git(repo.path, "ls-tree", "-r", "--name-only", commit, "--", "torch").split()
    texts = {
        name: subprocess.run(["git", "-C", repo.path, "show", f"{commit}:{name}"],
                             capture_output=True, text=True, check=True).stdout
        for name in names}
    compiled = "".join(texts.pop(name) for name in sorted(texts) if name.endswith(".cpp"))
    return texts | {"torch/lib/compiled.txt": compiled}


@pytest.fixture
def day(tmp_path):
    """Two nightlies with sixteen commits in between, and wheels of CI for some of them."""
    ci = Ci(tmp_path / "ci")
    world = World(
        tmp_path,
        **{"source.ci": {"environments": ["linux-jammy-py3.*-gcc11"], "api": f"{ci.url}/api",
                         "bucket": f"{ci.url}/bucket", "repository": "pytorch/pytorch",
                         "mirror": "days:9999"}})

    def play(*rules, wheels):
        world.repo.grow(1)
        world.publish_nightly("2026-08-19")
        world.start_daemon()
        world.start_runner(script(*rules))
        world.wait("the first night", lambda: world.night_done(1))
        world.repo.grow(16, native=NATIVE)
        for number in wheels:
            commit = world.repo.commits[number]
            ci.publish(number, commit, payload_bytes=0,
                       files=files_at(world.repo, commit) | {TOOLCHAIN: "gcc-11\n"})
        world.publish_nightly("2026-08-20")
        finish(world)
        return world

    yield play
    world.stop()
    ci.stop()


EVERY_GROUP = (1, 5, 9, 14)


@pytest.mark.parametrize("effect", [1.15, .88, 1.06])
def test_a_python_commit_is_named_alone(day, effect):
    w = day(by_wheel("gcc-11", latency=effect), step(ALPHA, 6, latency=1.3), wheels=EVERY_GROUP)
    [found] = found_by(w, ALPHA)
    assert shas(found["culprit"]["commits"]) == [w.repo.commits[6]]
    assert found["culprit"]["low"] < 1.3 < found["culprit"]["high"]
    assert not [r for r in w.items("regressions") if r["culprit"] and r["id"] != found["id"]]
    verified(w, found["id"])


@pytest.mark.first
@pytest.mark.parametrize("effect", [1.15, .88])
def test_a_native_commit_is_named_alone_by_wheels_of_ci(day, effect):
    slow = {"when": {"workload": ALPHA, "file": "torch/lib/compiled.txt", "contains": "# 8"},
            "factors": {"latency": 1.3}}
    w = day(by_wheel("gcc-11", latency=effect), slow, wheels=EVERY_GROUP)
    [found] = found_by(w, ALPHA)
    assert shas(found["culprit"]["commits"]) == [w.repo.commits[8]]
    assert not [r for r in w.items("regressions") if r["culprit"] and r["id"] != found["id"]]
    verified(w, found["id"])


def test_a_slower_nightly_among_native_commits_blames_nobody(day):
    w = day(by_wheel("gcc-11", latency=1.06),
            {"when": {"workload": "**", "file": "torch/version.py", "contains": "dev20260820"},
             "factors": {"latency": 1.25}}, wheels=EVERY_GROUP)
    reported = [r for r in w.items("regressions") if r["state"] == "reported"]
    assert reported and not any(r["culprit"] for r in reported)
    assert reported[0]["attribution"]["cause"] == "wheel"
    verified(w, reported[0]["id"])


def test_without_wheels_of_ci_a_native_commit_between_two_nightlies_is_a_range(day):
    slow = {"when": {"workload": ALPHA, "file": "torch/lib/compiled.txt", "contains": "# 8"},
            "factors": {"latency": 1.3}}
    w = day(slow, wheels=())
    [found] = found_by(w, ALPHA)
    assert found["culprit"] is None and found["range"]
    text = w.issues()[0].read_text()
    assert "or by the wheel, which changes there from" in text
    assert "Nobody is blamed" in text
    verified(w, found["id"])
