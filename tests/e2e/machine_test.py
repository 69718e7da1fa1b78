"""The machine that measures: what the doctor finds, a GPU that is throttled, and one job at a
time."""

import fcntl
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from world import BIN

RUNNER = BIN / "nightjar-runner"
GPU = (
    "driver 580.65.06\ngpu name=H100 uuid=GPU-1 bus=00000000:3B:00.0 sm=1980 persistence=0 ecc=0 "
    "celsius=64 "
    "events={} processes=1:1073741824\n")
TORCH = "__version__ = '2.15.0'\nfrom . import version\n"
WORKLOAD = """
import json, os, sys
json.load(sys.stdin)
def say(**event): os.write(3, (json.dumps(event) + "\\n").encode())
say(event="ready",
    torch={"version": "2.15.0", "git_version": "abc", "path": sys.path[1] + "/torch"},
    settings={"threads": "1", "order": os.environ["CUDA_DEVICE_ORDER"]})
say(event="sample", latency=0.001, cpu=0.001, wait=0)
say(event="result", warmup_iterations=1, metrics={})
"""


@pytest.fixture
def place(tmp_path):
    """A Python with a torch that is a name only, and one workload that pretends to use a GPU."""
    (tmp_path / "site/torch").mkdir(parents=True)
    (tmp_path / "site/torch/__init__.py").write_text(TORCH)
    (tmp_path / "site/torch/version.py").write_text("git_version = 'abc'\n")
    (tmp_path
     / "python").write_text(f"#!/bin/sh\nPYTHONPATH={tmp_path}/site exec {sys.executable} \"$@\"\n")
    (tmp_path / "python").chmod(0o755)
    (tmp_path / "workloads").mkdir(parents=True)
    (tmp_path / "workloads/run.py").write_text(WORKLOAD)
    names = [f"python/m/eval/{device}/fp32/b1/eager" for device in ("cuda", "cpu")]
    (tmp_path / "workloads/workloads.json").write_text(
        json.dumps({
            "items": [{"name": name, "version": 1, "kind": "python"} for name in names],
            "sizes": {"m/eval": {}}}))
    return tmp_path


def environment(place, events=None):
    more = {"NIGHTJAR_MACHINE_LOCK": str(place / "machine.lock")}
    if events:
        (place / "gpus").write_text(GPU.format(events))
        more |= {
            "LD_LIBRARY_PATH": str(BIN.parent / "tests/nvml_double"),
            "NVML_DOUBLE": str(place / "gpus")}
    return {**{k: v for k, v in os.environ.items() if k != "CUDA_VISIBLE_DEVICES"}, **more}


def measure(place, device="cuda", runs=1):
    return [
        RUNNER, "measure", f"python/m/eval/{device}/fp32/b1/eager", "--runs",
        str(runs), "--json", "--python", place / "python", "--workloads", place / "workloads",
        "--cache", place / "cache"]


def run(command, env, code):
    done = subprocess.run(list(map(str, command)), env=env, capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


BLOCKS = """
import json, os, sys
asked, mapped = json.load(sys.stdin), os.environ.get("MALLOC_MMAP_THRESHOLD_")
def say(**event): os.write(3, (json.dumps(event) + "\\n").encode())
say(event="ready",
    torch={"version": "2.15.0", "git_version": "abc", "path": sys.path[1] + "/torch"})
if mapped and "BROKEN":
    say(event="error", status="out_of_memory", reason="no block is left")
    sys.exit()
say(event="sample", latency=0.001 * asked.get("peak_at", 1), cpu=0.001, wait=0)
say(event="result", warmup_iterations=1, metrics={"peak_cpu_memory": [int(mapped or 500)]})
"""


@pytest.mark.parametrize("broken", ["", "yes"])
def test_peak_memory_is_of_a_second_process_and_a_run_without_it_is_measured(place, broken):
    (place / "workloads/run.py").write_text(BLOCKS.replace("BROKEN", broken))
    command = [*measure(place, "cpu", runs=2), "--peak-memory"]
    item, = run(command, environment(place), 0)["items"]
    assert item["status"] == "measured"
    assert item["metrics"]["latency"]["runs"] == [[.001], [.001]]
    assert item["metrics"]["peak_cpu_memory"]["values"] == [500, 500]
    if broken:
        assert "peak_memory" not in item["metrics"]
        assert item["settings"]["no peak_memory"] == "no block is left"
    else:
        assert item["metrics"]["peak_memory"]["values"] == [65536, 65536]
    gpu, = run([*measure(place), "--peak-memory"], environment(place), 0)["items"]
    assert "peak_memory" not in gpu["metrics"] | gpu["settings"]


def test_the_doctor_tells_what_harms_on_a_gpu(place):
    found = run([RUNNER, "doctor", "--json"], environment(place, "0x1,0x8"), 1)
    assert found["harmful"] is True
    harms = {
        item["what"].rpartition(": ")[0] or item["what"]: item
        for item in found["items"]
        if item["harmful"]}
    here = "GPU 00000000:3B:00.0 (H100): "
    assert "nvidia-smi -pm 1" in next(i["remedy"]
                                      for i in found["items"]
                                      if "persistence mode is off" in i["what"])
    assert harms[here + "clocks held down"]["what"].endswith("hw_slowdown")
    assert here + "other processes" in harms
    text = subprocess.run([RUNNER, "doctor"], env=environment(place), capture_output=True,
                          text=True, timeout=120).stdout
    assert "fine   GPU: no NVIDIA device\n" in text


def test_a_run_whose_gpu_was_throttled_is_repeated(place):
    # Read for the machine's facts, at the start, in the state before, by the first run (throttled),
    # and in all that follow.
    measured = run(measure(place), environment(place, "0x1,0x1,0x1,0x40,0x1"), 0)
    item = measured["items"][0]
    assert (item["status"], len(item["metrics"]["latency"]["runs"])) == ("measured", 1)
    assert item["settings"] == {"threads": "1", "order": "PCI_BUS_ID"}
    gpu = measured["state"]["after"]["gpus"][0]
    assert gpu["uuid"] == "GPU-1" and gpu["used"] and "hw_thermal_slowdown" in gpu["clock_events"]
    assert measured["state"]["before"]["gpus"][0]["clock_events"] == ["gpu_idle"]


def test_a_gpu_that_stays_throttled_is_measured_by_nobody_and_harms_no_cpu_run(place):
    hot = environment(place, "0x4")
    done = subprocess.run(list(map(str, measure(place))), env=hot, capture_output=True, text=True,
                          timeout=120)
    item = json.loads(done.stdout)["items"][0]
    assert item["status"] == "failed" and item["metrics"] == {}
    assert item["reason"] == ("the GPU's clocks were held down in each of 3 runs (sw_power_cap); "
                              "see nightjar-runner doctor")
    assert run(measure(place, "cpu"), hot, 0)["items"][0]["status"] == "measured"


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_what_was_measured_before_a_request_to_stop_is_kept(place, signal_number):
    command = measure(place, "cpu", runs=10000) + ["--suite", "late"]
    (place / "workloads/suites").mkdir()
    (place / "workloads/suites/late.toml"
     ).write_text('workloads = [{glob = "python/m/eval/cuda/**", priority = -1}]')
    measuring = subprocess.Popen(list(map(str, command)), env=environment(place), text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for line in measuring.stderr:
        if line.startswith("run 3 of 10000"):
            break
    measuring.send_signal(signal_number)
    out, _ = measuring.communicate(timeout=60)
    first, late = json.loads(out)["items"]
    assert measuring.returncode == 1
    assert first["status"] == "measured" and len(first["metrics"]["latency"]["runs"]) >= 2
    assert (late["status"], late["reason"]) == ("unavailable", "left out, stopped on request")


@pytest.mark.parametrize("begins_with, status", [("importing torch", 1), ("run 2 of", 1)])
def test_ctrl_c_leaves_nothing_but_json_on_standard_output(place, begins_with, status):
    measuring = subprocess.Popen(list(map(str, measure(place, "cpu", runs=10000))),
                                 env=environment(place), text=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, start_new_session=True)
    for line in measuring.stderr:
        if line.startswith(begins_with):
            break
    os.killpg(measuring.pid, signal.SIGINT)  # a terminal's Ctrl-C reaches the whole group
    out, said = measuring.communicate(timeout=60)
    assert measuring.returncode == status, said
    assert out == "" or json.loads(out)["items"][0]["workload"]
    assert "stopping on signal 2" in said


@pytest.mark.first
def test_measuring_waits_for_the_machine_and_says_for_whom(place):
    with open(place / "machine.lock", "w") as lock:
        lock.write("4242 (measures job 7)\n")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = subprocess.Popen(list(map(str, measure(place, "cpu"))), env=environment(place),
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = waiting.stderr.readline()
        assert line.startswith("waiting for process 4242 (measures job 7)"), line
        released = time.monotonic()
    out, _ = waiting.communicate(timeout=120)
    assert json.loads(out)["items"][0]["status"] == "measured"
    assert time.monotonic() - released < 60


def memory_groups():
    """The folder in which this process's groups of memory can be made; None: there is none."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        folder = pathlib.Path("/sys/fs/cgroup/memory" + path)
        if controllers == "memory" and os.access(folder, os.W_OK):
            return folder
    return None


@pytest.mark.skipif(not memory_groups(), reason="no groups of memory (cgroup v1) can be made here")
def test_a_run_leaves_the_groups_of_other_living_programs_alone(place):
    dead = subprocess.Popen(["true"])
    dead.wait()
    living = memory_groups() / f"nightjar-run-{os.getpid()}"
    left_over = memory_groups() / f"nightjar-run-{dead.pid}"
    for group in (living, left_over):
        group.mkdir()
    try:
        run(measure(place, "cpu"), environment(place), 0)
        assert living.is_dir() and not left_over.exists()
    finally:
        living.rmdir()


def agent(place, name, cpus):
    """An agent that nobody answers, kept to these CPUs by its parent."""
    (place / "token").write_text("x" * 64 + "\n")
    (place / "token").chmod(0o600)
    return subprocess.Popen(
        list(map(str, [
            RUNNER, "--service", "http://127.0.0.1:1", "--token-file", place / "token",
            "--workloads", place / "workloads", "--python", place / "python", "--cache",
            place / name, "--cpus", 1, "--cpu-locks", place / "cpus"])),
        env=environment(place), stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, cpus))


def test_agents_of_one_node_keep_to_cpus_of_their_own_until_one_is_killed(place):
    cpus = {max(os.sched_getaffinity(0))}
    first = agent(place, "first", cpus)
    line = next(line for line in first.stderr if "keeps to CPUs" in line)
    assert f"cpus={max(cpus)} of=1" in line
    second = agent(place, "second", cpus)
    said = second.communicate(timeout=60)[1]
    assert second.returncode == 3, said
    assert "cannot take 1 CPUs: other runners of this node left 0 of 1 free" in said
    first.kill()
    first.wait()
    third = agent(place, "third", cpus)
    assert any("keeps to CPUs" in line for line in third.stderr)
    third.kill()
    third.wait()
