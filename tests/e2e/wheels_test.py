"""Nightlies whose wheels were compiled in another way, with Python commits in between: the wheel
is told from the commits, and blames none of them."""
import subprocess

import pytest

from loop_test import finish, shas
from world import BIN, WORKLOADS, script, step

ALPHA, BETA = WORKLOADS
TOOLCHAIN = "torch/lib/toolchain.txt"


def by_wheel(compiler="gcc-14", workload="**", **more):
    """With a wheel that this compiler made, something differs: factors, or a status."""
    rule = {"when": {"workload": workload, "file": TOOLCHAIN, "contains": compiler}}
    if "status" in more:
        return rule | more
    return rule | {"factors": more}


def two_days(w, *rules, first="gcc-13", second="gcc-14"):
    """The second day has 20 Python commits, and a wheel of another compiler."""
    made_by = {"gcc-13": None, "gcc-14": {TOOLCHAIN: b"gcc-14\n"}}
    w.publish_nightly("2026-08-19", extra=made_by[first])
    w.start_daemon()
    w.start_runner(script(*rules))
    w.wait("the first night", lambda: w.night_done(1))
    w.repo.grow(20)
    w.publish_nightly("2026-08-20", extra=made_by[second])
    finish(w)


def found_by(w, workload):
    """What was reported of a workload."""
    return [r for r in w.items("regressions")
            if r["state"] == "reported" and r["series"][0]["workload"] == workload]


def verified(w, regression):
    bundle = w.folder / "bundle.json"
    bundle.write_bytes(w.get(f"/api/v1/regressions/{regression}/evidence", raw=True))
    said = subprocess.run([BIN / "nightjar", "verify", bundle], capture_output=True, text=True)
    assert said.returncode == 0, said.stdout + said.stderr
    return said.stdout


@pytest.mark.first
def test_a_wheel_of_a_slower_compiler_blames_no_commit(world):
    w = world()
    two_days(w, by_wheel(latency=1.25))
    reported = [r for r in w.items("regressions") if r["state"] == "reported"]
    assert reported and not any(r["culprit"] or r["range"] or r["bisection"] for r in reported)
    found = reported[0]
    assert found["attribution"]["cause"] == "wheel"
    assert found["attribution"]["environment"] is None
    part = found["attribution"]["wheel"]
    assert part["low"] < 1.25 < part["high"]
    assert f"{TOOLCHAIN} (7 bytes) is in the new wheel only" in found["wheel_differences"]
    [issue] = w.issues()
    text = issue.read_text()
    assert "the wheel changed it, not a commit" in text
    assert f"{TOOLCHAIN} (7 bytes) is in the new wheel only" in text.replace("\\", "")
    assert not any(commit[:12] in text for commit in w.repo.commits[1:20])
    assert "wheels" in verified(w, found["id"])


@pytest.mark.parametrize("wheel", [1.25, 1 / 1.2])
def test_a_commit_of_the_same_day_is_named_on_one_wheel(world, wheel):
    w = world()
    two_days(w, by_wheel(latency=wheel), step(ALPHA, 9, latency=1.3))
    [found] = found_by(w, ALPHA)
    assert shas(found["culprit"]["commits"]) == [w.repo.commits[9]]
    assert found["culprit"]["low"] < 1.3 < found["culprit"]["high"]
    assert found["attribution"]["cause"] == ("source_and_wheel" if wheel > 1 else "source")
    assert all(r["culprit"] is None and r["attribution"]["cause"] == "wheel"
               for r in found_by(w, BETA))
    verified(w, found["id"])


def test_a_wheel_that_needs_more_memory_blames_no_commit(world):
    w = world()
    two_days(w, by_wheel(workload=BETA, peak_cpu_memory=1.3))
    [found] = found_by(w, BETA)
    assert found["series"][0]["metric"] == "peak_cpu_memory"
    assert found["culprit"] is None and found["attribution"]["cause"] == "wheel"


def test_a_wheel_that_makes_a_workload_fail_blames_no_commit(world):
    w = world()
    two_days(w, by_wheel(workload=ALPHA, status="crashed", reason="Illegal instruction"))
    [found] = found_by(w, ALPHA)
    assert found["series"][0]["metric"] == "failures"
    assert found["culprit"] is None and found["attribution"]["cause"] == "wheel"
    verified(w, found["id"])


def test_a_wheel_that_lacks_a_file_of_the_one_before_is_no_commit_either(world):
    w = world()
    missing = by_wheel("gcc-14", latency=1 / 1.25)  # the first wheel is the faster one
    two_days(w, missing, first="gcc-14", second="gcc-13")
    reported = [r for r in w.items("regressions") if r["state"] == "reported"]
    assert reported and all(r["culprit"] is None for r in reported)
    assert f"{TOOLCHAIN} (7 bytes) is in the wheel before only" in reported[0]["wheel_differences"]


def test_a_commit_after_the_change_of_wheel_is_named_the_next_day(world):
    w = world()
    two_days(w, by_wheel(latency=1.25), step(ALPHA, 25, latency=1.2))
    before = {r["id"] for r in w.items("regressions")}
    w.repo.grow(20)
    w.publish_nightly("2026-08-21", extra={TOOLCHAIN: b"gcc-14\n"})
    finish(w, nights=3)
    [found] = [r for r in found_by(w, ALPHA) if r["id"] not in before]
    assert shas(found["culprit"]["commits"]) == [w.repo.commits[25]]
    assert found["attribution"]["cause"] == "source"
