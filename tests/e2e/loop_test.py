"""The whole loop over real processes, HTTP, git, wheels and SQLite; only the levels are
scripted."""
import itertools
import signal

import pytest

from world import OPEN_STATES, WORKLOADS, Late, script, step

ALPHA, BETA = WORKLOADS


def first_night(world, *rules, **more):
    world.publish_nightly("2026-08-19")
    world.start_daemon()
    world.start_runner(script(*rules, **more))
    world.wait("the first night", lambda: world.night_done(1))


def finish(world, nights=2, seconds=120):
    """Waits until every night is done, nothing is being explained, and the outbox is empty."""
    def finished():
        if not world.night_done(nights):
            return False
        regressions = world.get("/api/v1/regressions?limit=200")
        reports = world.get("/api/v1/reports?limit=200")
        if regressions is None or reports is None:
            return False
        return (not any(r["state"] in OPEN_STATES for r in regressions["items"])
                and not any(r["state"] == "pending" for r in reports["items"]))
    world.wait("the loop to finish", finished, seconds)


def finish_in_noise(world, nights=2, seconds=150):
    """The same where real time is judged, which takes longer on a noisy machine. Skips the test if
    it is not done by then, but fails it if nothing is measured any more."""
    try:
        finish(world, nights, seconds)
    except Late:
        def sessions():
            return sum(one["state"] == "done" for one in world.items("jobs"))
        before = sessions()
        world.wait("one more session", lambda: sessions() > before, 120)
        pytest.skip(f"this machine is so noisy that {seconds} s of measuring decide nothing")


def blamed(world):
    """Culprit commits by metric of the lead series, of what was reported."""
    return {r["series"][0]["metric"]: r["culprit"]["commits"] for r in world.items("regressions")
            if r["state"] == "reported"}


def shas(culprit):
    return [c if isinstance(c, str) else c["sha"] for c in culprit]


def test_a_nightly_that_does_not_import_is_one_issue_with_its_commit(world):
    w = world()
    broken = {"when": {"file": "torch/module9.py", "contains": "#"}, "status": "broken_environment",
              "reason": "ImportError: cannot import name '_C'"}
    first_night(w, broken)
    w.repo.grow(20)
    w.publish_nightly("2026-08-20")
    finish(w)
    assert shas(blamed(w)["failures"]) == [w.repo.commits[9]]
    [issue] = w.issues()
    text = issue.read_text()
    assert "cannot be imported since" in text and "cannot import name" in text
    assert all(name in text for name in WORKLOADS)
    said = " ".join(o["reason"] for o in w.get("/readyz")["obstacles"])
    assert "could not be imported in any run" in said


@pytest.mark.first
def test_two_culprits_become_two_issues(world):
    w = world()
    rules = [step(ALPHA, 6, latency=1.2), step(BETA, 13, peak_cpu_memory=1.3)]
    first_night(w, *rules)
    w.repo.grow(20)
    w.publish_nightly("2026-08-20")
    finish(w)
    found = blamed(w)
    assert shas(found["latency"]) == [w.repo.commits[6]]
    assert shas(found["peak_cpu_memory"]) == [w.repo.commits[13]]
    issues = w.issues()
    assert len(issues) == 2
    text = "".join(issue.read_text() for issue in issues)
    assert w.repo.commits[6] in text and w.repo.commits[13] in text


def test_two_culprits_of_one_search_each_tell_of_it(world):
    w = world()
    first_night(w, step(ALPHA, 6, latency=1.4), step(ALPHA, 13, latency=1.3))
    w.repo.grow(20)
    w.publish_nightly("2026-08-20")
    finish(w)
    reported = [r for r in w.items("regressions") if r["state"] == "reported"]
    assert {shas(r["culprit"]["commits"])[0]
            for r in reported} == {w.repo.commits[6], w.repo.commits[13]}
    assert len({r["bisection"] for r in reported}) == 1 and reported[0]["bisection"]
    search = w.get(f"/api/v1/bisections/{reported[0]['bisection']}")
    assert len(w.issues()) == 2
    for issue in w.issues():
        text = issue.read_text()
        assert "one of 2 culprits behind latency +" in text
        assert f"{search['runs']} runs in {len(search['sessions'])} sessions" in text, text


@pytest.mark.first
def test_a_quiet_day_reports_nothing(world):
    w = world()
    first_night(w)
    w.repo.grow(20)
    w.publish_nightly("2026-08-20")
    finish(w)
    assert w.items("reports") == [] and w.issues() == []


def test_a_wheel_that_is_cut_off_is_kept_and_not_measured(world):
    w = world()
    first_night(w)
    w.repo.grow(3)
    wheel_version = w.publish_nightly("2026-08-20")
    wheel = next(w.index.folder.glob(f"torch-{wheel_version}-*.whl"))
    whole = wheel.read_bytes()
    wheel.write_bytes(whole[: len(whole) // 2])
    build = w.wait(
        "the truncated wheel to be judged", lambda: next(
            (b for b in w.items("builds")
             if b["version"] == wheel_version and b["state"] == "unusable"), None))
    assert build["reason"]
    w.repo.grow(1)
    w.publish_nightly("2026-08-21")
    w.wait("the next night", lambda: w.night_done(2))
    assert {n["build"]["version"]
            for n in w.items("nights")} == {"2.14.0.dev20260819+cpu", "2.14.0.dev20260821+cpu"}


STAGES = {
    "measuring": lambda w: any(n["state"] == "measuring" for n in w.items("nights")[:1]),
    "suspected": lambda w: any(r["state"] == "suspected" for r in w.items("regressions")),
    "confirmed": lambda w: any(r["state"] in ("confirmed", "bisecting")
                               for r in w.items("regressions")),
    "bisecting": lambda w: any(b["tested_commits"] >= 3 for b in w.items("bisections")),
    "blamed": lambda w: any(r["state"] in ("blamed", "reported") for r in w.items("regressions")),
    "reported": lambda w: any(r["state"] == "reported" for r in w.items("regressions")), }


@pytest.mark.first
@pytest.mark.parametrize("program,stage",
                         list(itertools.product(["nightjard", "nightjar-runner"], STAGES)))
def test_kill_9_changes_nothing(world, program, stage):
    w = world()
    rules = [step(ALPHA, 6, latency=1.25)]
    first_night(w, *rules, run_seconds=0.02)
    w.repo.grow(12)
    w.publish_nightly("2026-08-20")
    w.wait(f"the stage {stage}", lambda: STAGES[stage](w), 90)
    w.kill(program, signal.SIGKILL)
    if program == "nightjard":
        w.start_daemon_again()
    else:
        w.start_runner(script(*rules, run_seconds=0.02))
    finish(w)
    assert shas(blamed(w)["latency"]) == [w.repo.commits[6]]
    assert len(w.issues()) == 1
    assert len([r for r in w.items("reports") if r["kind"] == "open_issue"]) == 1
    assert_no_run_twice(w)


def assert_no_run_twice(world):
    """A done job has each of its planned runs once."""
    for job in world.items("jobs"):
        if job["state"] == "done":
            runs = world.get(f"/api/v1/runs?job={job['id']}&limit=500")["items"]
            orders = [run["order"] for run in runs]
            assert len(orders) == len(set(orders)) == job["runs"], job
