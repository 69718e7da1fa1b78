"""The gate, with a tests/run and a tests/lint that only say what they were asked for."""

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
        (tmp_path / ".ci" / "green").write_text("0123abc\n")
        for name, does in (("run", script), ("lint", lint)):
            program = tmp_path / "tests" / name
            program.write_text(f"#!/usr/bin/env bash\necho \"{name}${{*:+ $*}}\" >>asked\n{does}\n")
            program.chmod(0o755)
        git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-C", tmp_path]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "Begin"], check=True)
        return tmp_path
    return make


def gate(tree):
    done = subprocess.run([tree / ".ci" / "run"], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout.splitlines()[-1], (tree / "asked").read_text().splitlines()


def test_the_gate_adds_up_the_tests_with_each_sanitizer_and_the_source_and_a_fourth(tree):
    checkout = tree("echo 5 passed, 0 failed")
    commit = subprocess.run(["git", "-C", checkout, "rev-parse", "HEAD"], capture_output=True,
                            text=True, check=True).stdout
    fourth = int(commit[:8], 16) % 4
    asked = ["run", "run --ratios", "run --asan", "run --tsan",
             "lint format words columns english tidy=0123abc", f"run --fourth={fourth}",
             f"run --asan --fourth={fourth}", f"run --tsan --fourth={fourth}"]
    assert gate(checkout) == (0, "38 passed, 0 failed", asked)


def test_badly_formatted_source_closes_the_gate(tree):
    assert gate(tree("echo 5 passed, 0 failed",
                     "echo 2 passed, 1 failed; exit 1"))[:2] == (1, "37 passed, 1 failed")


def test_a_failure_under_the_sanitizer_closes_the_gate(tree):
    script = ("if [[ $* == --asan ]]; then echo 4 passed, 1 failed; exit 1; fi; "
              "echo 5 passed, 0 failed")
    assert gate(tree(script))[:2] == (1, "37 passed, 1 failed")


def test_a_run_that_ends_before_it_counts_is_a_failure(tree):
    assert gate(tree("if [[ $* == --asan ]]; then exit 3; fi; echo 5 passed, 0 failed"))[:2] == (
        1, "33 passed, 1 failed")
