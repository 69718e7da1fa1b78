"""The gate, with a tests/run that only says what it was asked for."""

import pathlib
import shutil
import subprocess

import pytest

GATE = pathlib.Path(__file__).resolve().parents[2] / ".ci" / "run"


@pytest.fixture
def tree(tmp_path):
    """Makes a checkout whose tests/run does what `script` says."""
    def make(script):
        for folder in (".ci", "tests"):
            (tmp_path / folder).mkdir()
        shutil.copy(GATE, tmp_path / ".ci" / "run")
        (tmp_path / "tests" / "run").write_text(f"#!/usr/bin/env bash\necho \"$@\" >>asked\n{script}\n")
        (tmp_path / "tests" / "run").chmod(0o755)
        return tmp_path
    return make


def gate(tree):
    done = subprocess.run([tree / ".ci" / "run"], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout.splitlines()[-1], (tree / "asked").read_text().splitlines()


def test_the_gate_adds_up_the_tests_without_and_with_each_sanitizer(tree):
    assert gate(tree("echo 5 passed, 0 failed")) == (0, "15 passed, 0 failed", ["", "--asan", "--tsan"])


def test_a_failure_under_the_sanitizer_closes_the_gate(tree):
    script = "if [[ $1 == --asan ]]; then echo 4 passed, 1 failed; exit 1; fi; echo 5 passed, 0 failed"
    assert gate(tree(script))[:2] == (1, "14 passed, 1 failed")


def test_a_run_that_ends_before_it_counts_is_a_failure(tree):
    assert gate(tree("if [[ $1 == --asan ]]; then exit 3; fi; echo 5 passed, 0 failed"))[:2] == (1, "10 passed, 1 failed")
