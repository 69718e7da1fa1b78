"""Steps of deploy/build that run beside others, in deploy/build.d/steps.sh."""

import pathlib
import re
import subprocess

import pytest

STEPS = pathlib.Path(__file__).resolve().parents[2] / "deploy/build.d/steps.sh"


@pytest.fixture
def shell(tmp_path):
    """Runs commands with the steps; (exit status, output, errors)."""
    (tmp_path / ".cache/log").mkdir(parents=True)

    def run(commands):
        script = f"set -euo pipefail; root={tmp_path}; cache=$root/.cache; source {STEPS}\n"
        done = subprocess.run(["bash", "-c", script + commands], cwd=tmp_path, text=True,
                              capture_output=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    return run


def test_a_step_that_was_begun_runs_beside_the_next_one(shell):
    # Each waits for the other: one after the other they would wait for ever.
    status, output, _ = shell("""
        mkfifo to_first to_second
        first() { read -r line <to_first; echo go >to_second; say "first heard $line"; }
        second() { echo go >to_first; read -r line <to_second; }
        begin first first
        step Second second second
        step First first first
    """)
    lines = [re.sub(r" +\d+ s  ", " ", line) for line in output.splitlines()]
    assert (status, lines) == (0, ["Second done", "First first heard go"])


def test_a_step_that_was_begun_and_failed_is_told_of_where_it_is_waited_for(shell):
    status, output, errors = shell("""
        broken() { fail "it is broken"; }
        begin one broken
        step Two two true
        step One one broken
        step Three three true
    """)
    assert status == 3
    assert re.sub(r" +\d+ s  ", " ", output).splitlines() == ["Two done", f"{'One':<28}failed"]
    assert errors == "deploy/build: One: it is broken (log: .cache/log/one.log)\n"


def test_what_was_begun_ends_with_the_program(shell, tmp_path):
    status, _, _ = shell("""
        long() { sleep 1000 & echo $! >pid; wait; }
        begin long long
        until [[ -s pid ]]; do :; done
        step Broken broken false
    """)
    assert status == 3
    subprocess.run(["tail", "-f", "/dev/null", f"--pid={(tmp_path / 'pid').read_text().strip()}"],
                   timeout=30, check=True)
