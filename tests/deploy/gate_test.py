"""The gate, with a tests/run and a tests/lint that only say what they were asked for."""

import os
import pathlib
import shutil
import subprocess

import pytest

GATE = pathlib.Path(__file__).resolve().parents[2] / ".ci" / "run"


@pytest.fixture
def tree(tmp_path):
    """Makes a checkout whose tests/run does what `script` says, and tests/lint what `lint` says."""
    def make(script, lint="echo 3 passed, 0 failed"):
        for folder in (".ci", "tests"):
            (tmp_path / folder).mkdir()
        shutil.copy(GATE, tmp_path / ".ci" / "run")
        for name, does in (("run", script), ("lint", lint)):
            program = tmp_path / "tests" / name
            program.write_text(f"#!/usr/bin/env bash\necho \"{name}${{*:+ $*}}\" >>asked\n{does}\n")
            program.chmod(0o755)
        return tmp_path
    return make


def gate(tree, minutes=0):
    """After so many minutes of it."""
    done = subprocess.run([tree / ".ci" / "run"], capture_output=True, text=True, timeout=60,
                          env=os.environ | {"SECONDS": str(60 * minutes)})
    return done.returncode, done.stdout.splitlines()[-1], (tree / "asked").read_text().splitlines()


def test_the_gate_adds_up_the_tests_with_each_sanitizer_and_the_source_itself(tree):
    asked = ["run", "run --asan", "lint", "run --tsan"]
    assert gate(tree("echo 5 passed, 0 failed")) == (0, "18 passed, 0 failed", asked)


@pytest.mark.parametrize("minutes, asked", [
    (44, ["run", "run --asan", "lint", "run --tsan"]),
    (45, ["run", "run --asan --unit", "lint", "run --tsan"]),
    (55, ["run", "run --asan --unit", "lint"]),
    (75, ["run", "run --asan --unit", "lint format words columns"])])
def test_what_tells_least_is_left_out_where_the_gate_would_be_cut_off(tree, minutes, asked):
    status, said, done = gate(tree("echo 5 passed, 0 failed"), minutes)
    assert (status, done) == (0, asked)
    assert said == f"{5 * (len(asked) - 1) + 3} passed, 0 failed"


def test_badly_formatted_source_closes_the_gate(tree):
    assert gate(tree("echo 5 passed, 0 failed",
                     "echo 2 passed, 1 failed; exit 1"))[:2] == (1, "17 passed, 1 failed")


def test_a_failure_under_the_sanitizer_closes_the_gate(tree):
    script = ("if [[ $1 == --asan ]]; then echo 4 passed, 1 failed; exit 1; fi; "
              "echo 5 passed, 0 failed")
    assert gate(tree(script))[:2] == (1, "17 passed, 1 failed")


def test_a_run_that_ends_before_it_counts_is_a_failure(tree):
    assert gate(tree("if [[ $1 == --asan ]]; then exit 3; fi; echo 5 passed, 0 failed"))[:2] == (
        1, "13 passed, 1 failed")
