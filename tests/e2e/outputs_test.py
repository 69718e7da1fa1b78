"""What the programs write. Files that the service is told to write: a name without a folder will
do, and what cannot be is said at once. Standard output: what did not get out is no success."""

import json
import os
import subprocess

import pytest
from world import BIN


def nightjard(world, *arguments):
    return subprocess.run([BIN / "nightjard", "--config", world.config, *arguments],
                          cwd=world.folder, capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def served(make_world):
    world = make_world()
    world.start_daemon()
    return world


def test_a_backup_is_written_under_a_bare_name(served):
    done = nightjard(served, "--backup", "copy.sqlite")
    assert done.returncode == 0, done.stderr
    assert (served.folder / "copy.sqlite").read_bytes().startswith(b"SQLite format 3")


@pytest.mark.first
def test_no_other_user_of_the_machine_reads_the_database_or_a_backup(world):
    w = world()
    data = w.folder / "data"
    data.mkdir(mode=0o755)
    (data / "nightjar.sqlite").touch(mode=0o644)  # as an earlier version left it
    before = os.umask(0)
    try:
        w.start_daemon()
        assert nightjard(w, "--backup", "copy.sqlite").returncode == 0
    finally:
        os.umask(before)
    files = [data, w.folder / "copy.sqlite", *data.rglob("*")]
    assert {"nightjar.sqlite", "nightjar.sqlite-wal"} <= {file.name for file in files}
    # The lock says no more than which process holds the folder.
    opened = {file.name for file in files if file.stat().st_mode & 0o007}
    assert opened <= {"nightjard.lock"}


@pytest.mark.parametrize("to", ["absent/copy.sqlite", ".", "nightjar.toml"])
def test_a_backup_that_cannot_be_written_is_wrong_use(served, to):
    done = nightjard(served, "--backup", to)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == (
        f"nightjard: cannot back up to {to}: name a new file in a folder that is "
        "there")


def test_a_port_file_that_cannot_be_written_ends_the_start(world):
    w = world(service={"port_file": "absent/port"})
    done = nightjard(w)
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1].startswith(
        f"nightjard: cannot write service.port_file {w.folder}/absent/port: ")


NAME = "python/dlrm/eval/cpu/fp32/b32/eager"
PRINTING = [
    ["nightjar-runner", "list"], ["nightjar-runner", "--help"], ["nightjar-runner", "script-help"],
    ["nightjar-runner", "doctor", "--json"],
    ["nightjar-runner", "convert", "one.json", "--format", "csv"],
    ["nightjar-runner", "measure", "mine/**", "--commands", "mine.toml", "--runs", "1", "--json"],
    ["nightjar", "--version"], ["nightjar", "detect", "series.csv"],
    ["nightjar", "detect", "long.csv", "--json"],
    ["nightjar", "compare", "--control", "one.json", "--treatment", "one.json", "--format",
     "json"], ]


@pytest.fixture
def inputs(tmp_path):
    seconds = {
        "location": 1, "low": 1, "high": 1, "cv": 0, "unit": "s", "values": [1.0], "runs": [[1.0]]}
    item = {
        "workload": NAME, "version": 1, "status": "measured", "reason": None,
        "metrics": {"latency": seconds}, "build": {"version": "2.5.0",
                                                   "commit": "1" * 40}, "machine": {}}
    (tmp_path / "one.json").write_text(json.dumps({"items": [item]}))
    (tmp_path / "series.csv").write_text("".join(f"{i},{1 + i % 3 / 100}\n" for i in range(20)))
    (tmp_path / "long.csv").write_text("".join(f"{i},{1 + i // 20 % 2}\n" for i in range(600)))
    (tmp_path / "mine.toml").write_text('[[workload]]\nname = "mine/count/eval/cpu/fp32/b1/eager"\n'
                                        'command = ["no-such-program"]\ntorch = false\n')
    return tmp_path


def printing(words, folder, **options):
    return subprocess.run([BIN.resolve() / words[0], *words[1:]], cwd=folder,
                          stderr=subprocess.PIPE, text=True, timeout=60, **options)


@pytest.mark.first
@pytest.mark.parametrize("words", PRINTING, ids=" ".join)
def test_output_that_is_lost_is_no_success(inputs, words):
    with open("/dev/full", "w") as full:
        done = printing(words, inputs, stdout=full)
    assert done.returncode == 3
    assert done.stderr.splitlines(
    )[-1] == f"{words[0]}: cannot write to standard output: No space left on device"


@pytest.mark.parametrize("signal_is_ignored", [False, True])
@pytest.mark.parametrize("words", PRINTING, ids=" ".join)
def test_a_reader_that_goes_away_is_no_error(inputs, words, signal_is_ignored):
    with subprocess.Popen(["true"], stdin=subprocess.PIPE) as reader:
        reader.wait()
        done = printing(words, inputs, stdout=reader.stdin, restore_signals=not signal_is_ignored)
    assert done.returncode in (-13, 0, 1)
    assert "standard output" not in done.stderr


def profile(path, levels):
    """A profile of a run for each of `levels`, the seconds of its one operator in four
    iterations."""
    runs = [{
        "plain_seconds": level, "iteration_seconds": [level] * 4, "outside_seconds": [0] * 4,
        "slowdown": [1] * 4, "active_seconds": [], "moving_seconds": [], "idle_seconds": []}
            for level in levels]
    operator = {
        "name": "aten::mm", "self_seconds": [[level] * 4 for level in levels],
        "device_seconds": [[0] * 4 for _ in levels], "calls": 1, "flops": 1, "bytes": 1,
        "unknown": 0, "dtype": None}
    path.write_text(
        json.dumps({
            "items": [{
                "workload": NAME, "version": 1, "status": "profiled", "reason": None, "machine": {},
                "threads": 1, "build": {"version": "2.5.0",
                                        "commit": "1" * 40}, "runs": runs, "operators": [operator],
                "memory": None, "memory_reason": None, "hints": [], "ceilings": None}]}))


@pytest.mark.parametrize("runs", [2, 3, 4])
def test_too_few_runs_are_said_and_nothing_is_called_clear(tmp_path, runs):
    profile(tmp_path / "before.json", [1, 1.1, 1.05, 1][:runs])
    profile(tmp_path / "after.json", [2, 2.1, 2.05, 2, 2.1])
    words = ["nightjar", "profile-diff", "before.json", "after.json"]
    table = printing(words, tmp_path, stdout=subprocess.PIPE)
    found = printing([*words, "--json"], tmp_path, stdout=subprocess.PIPE)
    said = f"{runs} runs a side are too few to call anything clear; use at least 4"
    few = runs < 4
    assert (table.returncode, found.returncode) == (0, 0), table.stderr + found.stderr
    assert (said in table.stdout.splitlines()) == few and (said in found.stderr) == few
    [item] = json.loads(found.stdout)["items"]
    assert (item["runs"], item["changes"][0]["clear"]) == (runs, not few)
    assert ("slower?" in table.stdout) == few and "slower" in table.stdout
