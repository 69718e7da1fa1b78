"""openapi.json against a real daemon with a day's rows: schemathesis asks what the document allows
and what it does not, with each role. NIGHTJAR_REST_EXAMPLES=N asks N times an operation instead of
a few."""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

import pytest

from loop_test import ALPHA, finish, first_night
from world import ROOT, step

EXAMPLES = os.environ.get("NIGHTJAR_REST_EXAMPLES")
TOOL = pathlib.Path(sys.executable).with_name("schemathesis")


@pytest.fixture(scope="module")
def day(make_world):
    """A regression that was searched and reported; then jobs that wait, and one under a lease."""
    w = make_world(queue={"lease": 3600, "tick": 1})
    first_night(w, step(ALPHA, 6, latency=1.25))
    w.repo.grow(10)
    w.publish_nightly("2026-08-20")
    finish(w)
    w.kill("nightjar-runner")
    assert w.request("POST", "/api/v1/marks", {"reason": "a new pin"})[0] == 201
    assert w.request("POST", "/api/v1/nights", {"reason": "once more"})[0] == 202
    w.wait("jobs to be queued", lambda: w.get("/api/v1/jobs?state=queued")["items"])
    runner = w.items("runners")[0]["id"]
    instance = (w.folder / "cache/instance").read_text().strip()
    status, claimed = w.request(
        "POST", "/api/v1/agent/claim",
        {"runner": runner, "instance": instance, "wait_seconds": 0}, token="runner")
    assert status == 200
    w.leased = json.loads(claimed)["id"]
    return w


def configuration(day):
    artifact = next(b["sha256"] for b in day.items("builds") if b["kind"] == "nightly")
    text = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", 401, 403, 404, 409, 422]
[[operations]]
include-operation-id = "get_artifact"
parameters = { sha256 = "%s" }
""" % artifact
    for operation in ("renew_lease", "fail_job", "send_result", "release_job"):
        text += (f'[[operations]]\ninclude-operation-id = "{operation}"\n'
                 f'parameters = {{ id = {day.leased} }}\n')
        if operation == "send_result":
            # A result of an old attempt is stale by its head alone, so that its body is not read.
            text += ("checks.negative_data_rejection.expected-statuses = "
                     "[200, 400, 401, 403, 404, 409, 422]\n")
    return text


def ask(day, role, examples, phases="coverage,fuzzing", more=(), secret=""):
    """What schemathesis prints about all operations but the stream of events, and its exit
    status."""
    folder = day.folder / f"schemathesis-{role}-{len(list(day.folder.iterdir()))}"
    folder.mkdir()
    (folder / "schemathesis.toml").write_text(configuration(day))
    token = ["-H", f"Authorization: Bearer {day.tokens[role]}"] if role else []
    command = [
        str(TOOL), "--config-file", "schemathesis.toml", "run", day.url + "/openapi.json", *token,
        "--exclude-operation-id", "events", "--phases", phases, "-n",
        str(EXAMPLES or examples), "--continue-on-failure", "--suppress-health-check", "all",
        "--warnings", "off", "--no-color", "--output-sanitize", "false", "--request-timeout", "30",
        *more, *(["--seed", "7"] if EXAMPLES else ["--generation-deterministic"])]
    environment = os.environ | {
        "SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(ROOT / "tests/support"),
        "NIGHTJAR_WEBHOOK_SECRET": secret}
    done = subprocess.run(command, cwd=folder, env=environment, text=True, timeout=3000,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


@pytest.mark.first
def test_every_answer_is_what_openapi_json_promises_whoever_asks(day):
    # Admin last of all: what it changes is seen by nobody else then.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(ask, day, role, 3, "fuzzing") for role in (None, "read", "builder")]
        for answer in asked:
            status, output = answer.result()
            assert status == 0, output
    status, output = ask(day, "admin", 4)
    assert status == 0, output
    assert day.get("/healthz")["status"] == "ok"


def test_what_is_signed_for_the_webhook_is_answered_as_openapi_json_promises(day):
    # The hook sends bytes, which schemathesis takes for a body against the schema.
    more = ["--mode", "positive", "--include-operation-id", "github_webhook",
            "--exclude-checks", "negative_data_rejection"]
    status, output = ask(day, None, 20, "fuzzing", more, secret="a webhook secret")
    assert status == 0, output
    assert "Tested: 1" in output


BAD_TEXTS = [
    ("/api/v1/agent/register", "name", "bench\x07", "#/name"),
    ("/api/v1/agent/register", "name", "", "#/name"),
    ("/api/v1/agent/register", "labels", {"zone": "a\x1b[31m"}, "#/labels/zone"),
    ("/api/v1/agent/register", "labels", {"zo\nne": "a"}, "#/labels/zo\nne"),
    ("/api/v1/agent/register", "workloads", ["fine@1", "a\x00b@1"], "#/workloads/1"),
    ("/api/v1/agent/register", "facts", {"cpu": "x\x85"}, "#/facts/cpu"),
    ("/api/v1/nights", "reason", "a\tb", "#/reason"),
    ("/api/v1/marks", "reason", "a\x7fb", "#/reason"),
    ("/api/v1/marks", "workload", "python/\x01**", "#/workload"),
]


@pytest.mark.parametrize("path,name,value,pointer", BAD_TEXTS)
def test_control_characters_in_a_name_are_refused_and_the_field_is_named(
        day, path, name, value, pointer):
    whole = {
        "/api/v1/agent/register": {
            "name": "n", "labels": {}, "version": "1", "workloads": [], "facts": {}},
        "/api/v1/nights": {}, "/api/v1/marks": {"reason": "r"}}[path]
    status, body = day.request("POST", path, whole | {name: value})
    problem = json.loads(body)
    assert status == 400, problem
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


def test_a_body_of_a_hundred_thousand_brackets_is_refused_and_the_daemon_lives(day):
    body = b'{"name": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert day.request("POST", "/api/v1/agent/register", body)[0] == 400
    assert day.get("/healthz")["status"] == "ok"
