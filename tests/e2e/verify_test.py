"""A verdict judged again from its own evidence: bundles of a real loop, whole and tampered with."""
import copy
import json
import subprocess

import pytest
from loop_test import ALPHA, BETA, finish, first_night
from world import BIN, step


def verify(bundle, *options):
    text = bundle if isinstance(bundle, str) else json.dumps(bundle)
    return subprocess.run([BIN / "nightjar", "verify", "-", *options], input=text, capture_output=True, text=True,
                          timeout=60)


@pytest.fixture(scope="module")
def bundles(make_world):
    """Evidence of both regressions of one night: {metric: bundle}."""
    w = make_world()
    first_night(w, step(ALPHA, 6, latency=1.2), step(BETA, 13, peak_cpu_memory=1.3))
    w.repo.grow(20)
    w.publish_nightly("2026-08-20")
    finish(w)
    found = [w.get(f"/api/v1/regressions/{r['id']}/evidence") for r in w.items("regressions")]
    return {bundle["regression"]["metric"]: bundle for bundle in found if bundle["regression"]["culprit"]}


@pytest.mark.parametrize("metric", ["latency", "peak_cpu_memory"])
def test_every_verdict_agrees(bundles, metric):
    done = verify(bundles[metric], "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = json.loads(done.stdout)["verdicts"]
    assert [v["stage"] for v in verdicts] == ["screening", "confirmation", "bisection"]
    assert [v["verdict"] for v in verdicts] == ["suspect_worse", "worse", "culprit"]
    assert all(v["agrees"] for v in verdicts)


def test_builds_carry_their_hashes_and_runs_their_order(bundles):
    bundle = bundles["latency"]
    assert all(build["sha256"] for build in bundle["builds"])
    jobs = {job["id"] for job in bundle["jobs"]}
    assert {run["job"] for run in bundle["runs"]} == jobs
    assert all(job["spec"]["order"] for job in bundle["jobs"])


def tamper_sample(bundle):
    run = bundle["runs"][0]["result"]
    run["samples"]["latency"] = [1.5 * value for value in run["samples"]["latency"]]


def tamper_value(bundle):
    for change in bundle["changes"]:
        if change["evidence"].get("stage") == "bisection":
            change["evidence"]["runs"][3]["value"] *= 1.01


def tamper_culprit(bundle):
    for change in bundle["changes"]:
        for culprit in change["evidence"].get("culprits", []):
            culprit["probability"] = .5


def tamper_run(bundle):
    del bundle["runs"][-1]


def tamper_build(bundle):
    for run in bundle["runs"]:
        run["build"] = bundle["regression"]["good"]


def tamper_rules(bundle):
    for change in bundle["changes"]:
        change["evidence"]["rules"] = 1


@pytest.mark.parametrize("tamper", [tamper_sample, tamper_value, tamper_culprit, tamper_run, tamper_build,
                                    tamper_rules])
def test_what_was_changed_differs(bundles, tamper):
    bundle = copy.deepcopy(bundles["latency"])
    tamper(bundle)
    done = verify(bundle)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "DIFFERS" in done.stdout


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": "nightjar-evidence"}'])
def test_what_is_no_bundle_is_refused_in_one_line(text):
    done = verify(text)
    assert done.returncode == 2
    assert done.stdout == "" and len(done.stderr.splitlines()) == 1
