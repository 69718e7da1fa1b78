"""deploy/slurm/nightjar-pilot: how many pilots it submits, and what it does when the service or
Slurm fails. Slurm's commands and the service are doubles; tests/e2e/slurm_test.py has real ones."""
import http.server
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import threading

import pytest

from conftest import ROOT

PROGRAM = ROOT / "deploy" / "slurm" / "nightjar-pilot"
loader = importlib.machinery.SourceFileLoader("nightjar_pilot", str(PROGRAM))
loader_spec = importlib.util.spec_from_loader("nightjar_pilot", loader)
nightjar_pilot = importlib.util.module_from_spec(loader_spec)
loader.exec_module(nightjar_pilot)
Demand, Memory, plan = nightjar_pilot.Demand, nightjar_pilot.Memory, nightjar_pilot.plan


def demand(queued=0, held=0, nights=0):
    return Demand(max(queued + held, int(nights > 0)), queued, held, nights)


@pytest.mark.parametrize("wanted,ours,submitted", [
    (demand(), 0, 0), (demand(queued=3), 0, 3), (demand(queued=3), 2, 1), (demand(queued=3), 3, 0),
    (demand(queued=9), 1, 3), (demand(queued=1), 5, 0), (demand(queued=1, held=2), 2, 1),
    (demand(nights=2), 0, 1)])
def test_the_difference_is_submitted_up_to_the_most(wanted, ours, submitted):
    assert plan(wanted, ours, 4, 60, Memory(), 1000)[0] == submitted


def submissions(demands, seconds=10_000, step=10):
    """Times of submission if every pilot ends at once; `demands` by time, the last one stays."""
    memory, times = Memory(), []
    for now in range(0, seconds, step):
        wanted = demands[min(now // step, len(demands) - 1)]
        count, memory = plan(wanted, 0, 4, 60, memory, 100_000 + now)
        if count:
            times.append(now)
    return times


def test_pilots_that_change_nothing_come_less_and_less_often():
    times = submissions([demand(queued=2)])
    assert times == [0, 60, 180, 420, 900, 1860, 3780, 7380]  # at last once an hour


def test_what_changes_is_followed_at_once():
    times = submissions([demand(queued=2 + number % 2) for number in range(1000)], seconds=100)
    assert len(times) == 10
    assert len(submissions([demand(queued=1, held=1)], seconds=100)) == 10


class Place:
    """A settings file, a service on loopback, and doubles of squeue and sbatch."""

    def __init__(self, folder):
        self.folder = folder
        self.status, self.body = 200, json.dumps(
            {"runners": 1, "wanted": 2, "queued": 2, "held": 0, "nights": 0})
        self.asked = []
        place = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                place.asked.append((self.path, self.headers["Authorization"]))
                self.send_response(place.status)
                self.end_headers()
                self.wfile.write(place.body.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        (folder / "token").write_text("secret\n")
        self.settings = folder / "settings"
        self.write_settings()
        self.double("squeue", "exit 0")
        self.double("sbatch", 'echo "$@" >> "$0.calls"; echo 17')

    def write_settings(self, **changed):
        values = {"NIGHTJAR_URL": f"http://127.0.0.1:{self.server.server_port}",
                  "NIGHTJAR_TOKEN_FILE": self.folder / "token", "NIGHTJAR_LABEL": "pool=a b",
                  **changed}
        self.settings.write_text("# a comment\n\nexport OTHER=1  # another\n" + "".join(
            f'{name}="{value}"\n' for name, value in values.items()))

    def double(self, name, script):
        (self.folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.folder / name).chmod(0o755)

    def run(self, *arguments):
        environment = dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}",
                           XDG_CACHE_HOME=str(self.folder / "memory"))
        return subprocess.run([str(PROGRAM), "--settings", str(self.settings), "--once",
                               *arguments], env=environment, text=True, capture_output=True,
                              timeout=60)

    def calls(self):
        log = self.folder / "sbatch.calls"
        return log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path)
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_it_asks_for_its_label_and_submits(place):
    done = place.run("--name", "night", "--", "--partition=spot")
    assert done.returncode == 0, done.stderr
    assert place.asked == [("/api/v1/demand?label=pool%3Da+b", "Bearer secret")]
    assert place.calls() == [f"--parsable --job-name=night --partition=spot "
                             f"{ROOT}/deploy/slurm/pilot.sbatch {place.settings}"] * 2
    assert "work for 2, 0 there, submitted 17 17" in done.stderr


def test_its_own_jobs_count(place):
    place.double("squeue", 'echo "$@" > "$0.calls"; echo 11; echo 12')
    assert place.run("--name", "night").returncode == 0
    assert place.calls() == []
    asked = (place.folder / "squeue.calls").read_text().split()
    assert "--name=night" in asked and "--states" not in " ".join(asked)


@pytest.mark.parametrize("broken", ["service", "body", "squeue", "sbatch"])
def test_a_failure_is_never_taken_for_zero(place, broken):
    if broken == "service":
        place.status = 503
    elif broken == "body":
        place.body = '{"wanted": null}'
    else:
        place.double(broken, "echo no controller >&2; exit 1")
    done = place.run()
    assert done.returncode == 3
    assert place.calls() == []
    assert "nothing more is submitted" in done.stderr and "Traceback" not in done.stderr
    # It is not asked again at once, even by another process, and then for longer.
    asked = len(place.asked)
    again = place.run()
    assert again.returncode == 3 and "after 1 failures" in again.stderr
    assert len(place.asked) == asked
    memory = next((place.folder / "memory").rglob("*.json"))
    memory.write_text(json.dumps(json.loads(memory.read_text()) | {"retry_at": 0.0, "failures": 4}))
    assert place.run().returncode == 3
    kept = json.loads(memory.read_text())
    assert kept["failures"] == 5
    assert 8 * 60 - 60 < kept["retry_at"] - memory.stat().st_mtime <= 16 * 60


@pytest.mark.parametrize("change,words", [
    ({"NIGHTJAR_URL": "example.org"}, "is not of the form http(s)://HOST:PORT"),
    ({"NIGHTJAR_LABEL": "pool"}, "is not of the form k=v"),
    ({"NIGHTJAR_TOKEN_FILE": "/nonexistent"}, "cannot read the token in /nonexistent"),
    ({"NIGHTJAR_TOKEN_FILE": ""}, "does not set NIGHTJAR_TOKEN_FILE"),
    ({"two words": "x"}, "is not of the form NAME=VALUE")])
def test_wrong_settings_are_named(place, change, words):
    place.write_settings(**change)
    done = place.run()
    assert done.returncode == 2
    assert words in done.stderr and "Traceback" not in done.stderr
    assert place.calls() == []


@pytest.mark.parametrize("arguments", [
    ("--max", "0"), ("--max", "many"), ("--interval", "-1"), ("--name", "a b"),
    ("--script", "/nonexistent"), ("--settings", "/nonexistent"), ("--unknown", )])
def test_wrong_use_is_exit_code_2(place, arguments):
    done = place.run(*arguments)
    assert done.returncode == 2
    assert done.stderr and "Traceback" not in done.stderr
    assert place.asked == []
