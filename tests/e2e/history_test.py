"""The made history (tests/support/history) is what the real service reads, serves and goes on
with."""

import json
import pathlib
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

from world import BIN, ROOT

LISTS = ["builds", "lookups", "workloads", "series", "runs", "regressions", "reports", "bisections",
         "jobs", "nights", "marks", "improvements", "runners", "calibration", "suites", "members"]


def get(history, path):
    with urllib.request.urlopen(f"{history.url}{path}", timeout=30) as answer:
        return json.load(answer)


@pytest.mark.parametrize("name", LISTS)
def test_every_list_has_rows(history, name):
    assert get(history, f"/api/v1/{name}")["items"]


def test_single_things_are_served_with_what_they_rest_on(history):
    for regression in get(history, "/api/v1/regressions?limit=100")["items"]:
        path = f"/api/v1/regressions/{regression['id']}"
        assert get(history, path)["changes"]
        assert get(history, f"{path}/evidence")["seal"]
    for search in get(history, "/api/v1/bisections?limit=100")["items"]:
        commits = get(history, f"/api/v1/bisections/{search['id']}")["commits"]
        assert len(commits) == search["commit_count"] and commits[0]["subject"]
    for series in get(history, "/api/v1/series?limit=10")["items"]:
        assert len(get(history, f"/api/v1/series/{series['id']}/points")["items"]) > 10


def test_regressions_of_every_kind_are_there(history):
    states = {r["state"] for r in get(history, "/api/v1/regressions?limit=100")["items"]}
    assert {"reported", "recovered", "dismissed", "unconfirmed", "merged", "inconclusive",
            "suspected", "bisecting"} <= states


def judged(history, path, tmp_path):
    """What `nightjar verify` says of a bundle: (exit code, text)."""
    bundle = tmp_path / "bundle.json"
    with urllib.request.urlopen(f"{history.url}{path}", timeout=30) as answer:
        bundle.write_bytes(answer.read())
    said = subprocess.run([BIN / "nightjar", "verify", bundle], capture_output=True, text=True)
    return said.returncode, said.stdout + said.stderr


@pytest.mark.first
def test_every_bundle_passes_its_own_proof(history, tmp_path):
    regressions = get(history, "/api/v1/regressions?limit=100")["items"]
    searches = [one for one in get(history, "/api/v1/bisections?limit=100")["items"]
                if one["regression"] is None and one["state"] != "open"]
    assert len(regressions) > 8 and searches
    for path in [f"/api/v1/regressions/{one['id']}/evidence" for one in regressions] + [
            f"/api/v1/bisections/{one['id']}/evidence" for one in searches]:
        code, text = judged(history, path, tmp_path)
        assert code == 0, (path, text)


def test_a_culprit_may_have_done_what_it_is_blamed_for(two_years):
    """No documentation made anything slower, and nothing of another device did."""
    blamed = [one for one in get(two_years, "/api/v1/regressions?limit=500")["items"]
              if one["culprit"]]
    assert len(blamed) > 20
    for one in blamed:
        lead, = one["series"][:1]
        device, backend = lead["workload"].split("/")[3::3]
        subject = one["culprit"]["commit_details"][-1]["subject"]
        assert not re.search(r"^\[(docs|CI|MPS|ROCm|c10d)\]|Deprecate|tests|Revert", subject), one
        assert device == "cpu" or "on CPU" not in subject, subject
        if subject.startswith(("[inductor]", "[dynamo]")):
            assert backend.startswith("inductor"), (lead["workload"], subject)
        if "memory" in lead["metric"]:
            assert re.search("Keep|Round", subject), subject


def test_a_machine_computes_in_the_precisions_that_it_has(two_years):
    for one in get(two_years, "/api/v1/series?limit=500")["items"]:
        device, precision = one["workload_name"].split("/")[3:5]
        assert device == "cuda" or precision in ("fp32", "bf16"), one["workload_name"]


def test_suites_of_every_night_are_summed_up(history):
    nights = [n for n in get(history, "/api/v1/nights?limit=100")["items"]
              if n["state"] == "done" and n["build"]]
    suites = get(history, "/api/v1/suites?limit=500&backend=inductor-reduce-overhead")["items"]
    assert {s["night"] for s in suites} == {n["id"] for n in nights}
    for suite in suites:
        assert 0 < suite["passed"] < suite["models"]  # one runs out of memory
        assert suite["speedup"]["members"] < suite["models"]
    changed = [s["speedup"] for s in suites if s["speedup"]["went"]]
    assert changed and all("; went: hf/" in mean["reason"] for mean in changed)
    assert any("(fail_accuracy)" in mean["reason"] for mean in changed)


def test_nothing_stands_in_the_service_s_way(history):
    ready = get(history, "/readyz")
    assert ready["ready"] and ready["obstacles"] == []


def test_a_served_history_that_is_ended_leaves_no_service_and_no_folder(tmp_path):
    folder = tmp_path / "history"
    with subprocess.Popen([sys.executable, ROOT / "tests/support/history", folder, "--nights", "12",
                           "--workloads", "4", "--serve", "--remove"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as made:
        url = re.search("http://[0-9.:]+/", made.stdout.readline())[0]
        with urllib.request.urlopen(f"{url}healthz", timeout=30) as answer:
            assert answer.status == 200
        [service] = pathlib.Path(f"/proc/{made.pid}/task/{made.pid}/children").read_text().split()
        made.send_signal(signal.SIGTERM)
        assert made.wait(60) == 143
    # Its port says nothing: a service of another test may have got it.
    assert not pathlib.Path(f"/proc/{service}").exists()
    assert not folder.exists()
