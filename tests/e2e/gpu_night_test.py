"""Nights on a GPU with real processes, HTTP, git, wheels and SQLite. Levels are scripted, and
NVIDIA's library is a double with eight devices."""
import datetime
import json
import os
import re
import subprocess

import pytest

from loop_test import finish
from world import BIN, UV, script, step

ALPHA, BETA = "python/alpha/eval/cuda/fp32/b1/eager", "python/beta/train/cuda/fp32/b4/eager"
ON_GPU = [{"name": name, "version": 1} for name in (ALPHA, BETA)]
# Latency scatters by 30 %, as the host does; kernels repeat within 0.25 %.
AS_MEASURED = {"when": {}, "metrics": {"latency": {"level": 0.010, "noise": 0.3},
                                       "kernel_time": {"level": 0.002, "noise": 0.0025},
                                       "peak_gpu_memory": {"level": 3e8, "noise": 0}}}


def test_one_percent_more_kernel_time_is_found_confirmed_and_bisected(world):
    w = world()
    w.publish_nightly("2026-08-19")
    w.start_daemon()
    w.start_runner(script(AS_MEASURED, step(ALPHA, 9, kernel_time=1.01), workloads=ON_GPU))
    w.wait("the first night", lambda: w.night_done(1), 120)
    w.repo.grow(20)
    w.publish_nightly("2026-08-20")
    finish(w, seconds=400)
    found = {r["series"][0]["metric"]: r for r in w.items("regressions")
             if r["state"] not in ("dismissed", "unconfirmed")}
    assert set(found) == {"kernel_time"}, found
    culprit = found["kernel_time"]["culprit"]["commits"]
    assert [c if isinstance(c, str) else c["sha"] for c in culprit] == [w.repo.commits[9]]
    [issue] = w.issues()
    text = issue.read_text()
    assert re.search(r"kernel time \+(0\.9|1\.[01]) %", text) and "2.000 ms" in text, text
    [screened] = [s for s in w.items("series") if s["metric"] == "kernel_time"
                  and s["workload_name"] == ALPHA]
    assert screened["unit"] == "s"


def test_thirty_quiet_nights_say_nothing_of_kernel_time(world):
    w = world()
    day = datetime.date(2026, 7, 1)
    w.publish_nightly(str(day))
    w.start_daemon()
    w.start_runner(script(AS_MEASURED, workloads=ON_GPU))
    for night in range(1, 31):
        finish(w, night)
        if night < 30:
            w.repo.grow(1)
            w.publish_nightly(str(day + datetime.timedelta(days=night)))
    told = [r for r in w.items("regressions") if r["series"][0]["metric"] == "kernel_time"
            and r["state"] not in ("dismissed", "unconfirmed")]
    assert told == [] and w.issues() == []


@pytest.mark.first
def test_each_device_has_an_agent_that_measures(world):
    w = world()
    folder = w.folder
    (folder / "gpus").write_text("driver 580.65.06\n" + "".join(
        f"gpu name=H100 uuid=GPU-{i} bus=00000000:0{i}:00.0 mig=0 events=0x2\n" for i in range(8)))
    (folder / "script.json").write_text(json.dumps(script(AS_MEASURED, workloads=ON_GPU)))
    w.publish_nightly("2026-08-19")
    w.start_daemon()
    doubles = BIN.parent / "tests" / "nvml_double"
    command = [BIN / "nightjar-runner", "--service", w.url, "--token-file", folder / "runner.token",
               "--name", "host", "--cache", folder / "cache", "--uv", UV, "--scripted",
               folder / "script.json", "--devices", "each"]
    devices = min(8, len(os.sched_getaffinity(0)))  # each needs a CPU
    visible = ",".join(str(7 - i) for i in range(devices))
    w.start("nightjar-runner", "env", f"LD_LIBRARY_PATH={doubles}", f"NVML_DOUBLE={folder}/gpus",
            f"CUDA_VISIBLE_DEVICES={visible}", *command)
    expected = {f"host-gpu{i}" for i in range(devices)}
    w.wait("the agents", lambda: {r["name"] for r in w.items("runners")} == expected, 60)
    assert all(r["labels"]["devices"] == "each" for r in w.items("runners"))
    # Each agent can use one of eight devices, whatever the host shows.
    assert {r["machine"]["facts"]["gpu"] for r in w.items("runners")} == {"H100"}
    assert {r["machine"]["facts"]["driver"] for r in w.items("runners")} == {"580.65.06"}
    w.wait("the night", lambda: w.night_done(1), 120)
    log = (folder / "nightjar-runner.log").read_text()
    assert "devices measure side by side: they share" in log
    process = w.processes.pop("nightjar-runner")
    process.terminate()
    assert process.wait(30) == 0


def test_too_few_cpus_and_parts_of_devices_are_refused(world):
    w = world()
    (w.folder / "gpus").write_text("driver 1\n"
                                   "gpu name=H100 uuid=GPU-0 bus=00000000:01:00.0 mig=1\n")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(BIN.parent / "tests" / "nvml_double"),
                   "NVML_DOUBLE": str(w.folder / "gpus")}
    for option in (("--devices", "each"), ("--device", "cuda")):
        done = subprocess.run(
            [BIN / "nightjar-runner", "--service", "http://127.0.0.1:1", "--token-file",
             w.folder / "runner.token", *option, "--scripted", "x"],
            env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "H100 on 00000000:01:00.0 is cut into parts" in done.stderr, done.stderr


def test_a_part_that_is_named_and_a_harm_that_is_accepted_are_told(world):
    w = world()
    w.start_daemon()
    (w.folder / "gpus").write_text("driver 1\n"
                                   "gpu name=H100 uuid=GPU-0 bus=00000000:01:00.0 mig=1\n")
    (w.folder / "script.json").write_text(json.dumps(script(AS_MEASURED, workloads=ON_GPU)))
    command = [BIN / "nightjar-runner", "--service", w.url, "--token-file",
               w.folder / "runner.token", "--name", "part", "--cache", w.folder / "cache",
               "--device", "cuda", "--scripted", w.folder / "script.json"]
    environment = {"LD_LIBRARY_PATH": str(BIN.parent / "tests" / "nvml_double"),
                   "NVML_DOUBLE": str(w.folder / "gpus"), "CUDA_VISIBLE_DEVICES": "MIG-0f"}
    refused = subprocess.run([*command, "--doctor", "required"], env={**os.environ, **environment},
                             capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and "not fit to measure" in refused.stderr, refused.stderr
    assert w.items("runners") == []
    w.start("nightjar-runner", "env", *(f"{name}={value}" for name, value in environment.items()),
            *command, "--doctor", "advisory")
    w.wait("the runner", lambda: w.items("runners"), 60)
    assert w.items("runners")[0]["labels"]["part"] == "MIG-0f"
    log = (w.folder / "nightjar-runner.log").read_text()
    assert "each session notes it" in log and "it is cut into parts" in log
