"""The made history (tests/support/history) is what the real service reads, serves and goes on
with."""

import json
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

from world import ROOT

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
        made.send_signal(signal.SIGTERM)
        assert made.wait(60) == 143
    with pytest.raises(OSError):
        urllib.request.urlopen(f"{url}healthz", timeout=30)
    assert not folder.exists()
