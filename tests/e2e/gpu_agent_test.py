"""Nights of a real agent on a GPU: it claims, measures by the product's own harness, and profiles.
Where this machine has a GPU, it and its PyTorch are used. Everywhere the libraries that tell of
devices are doubles, and a stand-in for PyTorch has a profiler that writes traces as a GPU's are."""
import json
import shutil
import sqlite3
import subprocess
import sys
import types

import programs
import pytest

from environment_test import TAG, subjects, verdicts
from loop_test import finish_in_noise
from world import BIN, ROOT, UV

PRODUCTS, SUMS = (f"python/{model}/eval/cuda/fp32/b1/eager" for model in ("products", "sums"))
NVIDIA = ("driver 580.65.06\n"
          "gpu name=H100 uuid=GPU-0a bus=00000000:3B:00.0 sm=1980 memory=2619 power=310500 "
          "celsius=64 ecc=0 total=85899345920 mig=0 persistence=1 events=0x2\n")
AMD = ("driver 6.10.5\n"
       "gpu name=MI300X id=a1b2 pci=0x000000010000c100 vram=206141652992 system=500,2100* "
       "memory=900,1300* watts=310.5 junction=64.5 umc=0 gfx=0 level=4 partition=SPX\n")
# The host takes longer than the kernels, which run meanwhile, and scatters by 7 % from process to
# process, as on an H100 (docs/cuda.md).
MODEL = '''\
"""Kernels of one kind, as many as the build says."""
import math, random, time
import torch
from torch import tiles

def make(case):
    one = torch.ones(1024, 1024, device=case.device)
    host = 0.006 * math.exp(random.Random().gauss(0, 0.07))

    def step():
        for _ in range(tiles.{count}):
            out = torch.{operator}(one, one)
        time.sleep(host)
        return out
    return step
'''
TILES = "PRODUCTS, SUMS = {}, 200\n"
# The wheel has only what the tests' commits change; the rest is the PyTorch of the runner's Python.
AT_HAND = '''\
"""The PyTorch of this Python, under the version of the wheel that this file is of."""
import pathlib as _pathlib
import sys as _sys

_own = _pathlib.Path(__file__)
_real = next(_file for _one in _sys.path
             if (_file := _pathlib.Path(_one) / "torch" / "__init__.py").is_file()
             and not _file.samefile(_own))
__path__.append(str(_real.parent))
__file__ = str(_real)
exec(compile(_real.read_text(), __file__, "exec"))
__file__ = str(_own)
'''


def double(folder, vendor, device, text, variant):
    (folder / "devices").write_text(text)
    variable = vendor.upper() + "_DOUBLE"
    return types.SimpleNamespace(
        torch=ROOT / "tests" / "support" / "gpu_torch", variant=variant, device=device,
        python=sys.executable, tag=TAG, environment={
            "LD_LIBRARY_PATH": ROOT / "build" / "tests" / f"{vendor}_double",
            variable: folder / "devices"})


def double_of_nvidia(folder, text=NVIDIA):
    """With a driver that starts kernels."""
    made = double(folder, "nvml", "H100", text, "cu130")
    driver = folder / "driver"
    driver.mkdir()
    shutil.copy(ROOT / "build" / "tests" / "cuda_double" / "libcuda.so.1", driver)
    (driver / "settings").touch()
    made.environment["LD_LIBRARY_PATH"] = f"{made.environment['LD_LIBRARY_PATH']}:{driver}"
    return made


def at_hand(folder):
    said = subprocess.run(
        [programs.python(), "-c", "import sys, torch; print(torch.version.cuda, torch.version.hip,"
         " 'cp%d%d' % sys.version_info[:2])"], check=True, capture_output=True, text=True)
    cuda, hip, tag = said.stdout.split()
    (folder / "torch").mkdir()
    (folder / "torch" / "__init__.py").write_text(AT_HAND)
    return types.SimpleNamespace(
        torch=folder / "torch", python=programs.python(), tag=tag, environment={}, device="",
        variant="rocm" + ".".join(hip.split(".")[:2]) if cuda == "None" else "cu" + cuda.replace(
            ".", ""))


@pytest.fixture(params=["NVIDIA's double", "AMD's double", "at hand"])
def gpu(request, tmp_path):
    """What the night runs on: folder of PyTorch's files, variant, the device's name or a part of
    it, Python and its tag, and what is added to the agent's environment."""
    folder = tmp_path / "gpu"
    folder.mkdir()
    if request.param == "at hand":
        if not programs.has_device():
            pytest.skip("this machine has no GPU")
        return at_hand(folder)
    if request.param == "AMD's double":
        return double(folder, "rocm_smi", "MI300X", AMD, "rocm7.0")
    return double_of_nvidia(folder)


def make_workloads(folder):
    """The product's harness, with two models of ours."""
    product = ROOT / "runner" / "workloads"
    shutil.copytree(product / "harness", folder / "harness")
    for name in ("run.py", "run_profile.py"):
        shutil.copy(product / name, folder)
    (folder / "models").mkdir()
    for model, operator in (("products", "mm"), ("sums", "add")):
        (folder / "models" / f"{model}.py").write_text(
            MODEL.format(count=model.upper(), operator=operator))
    (folder / "workloads.json").write_text(json.dumps({
        "items": [{"name": name, "version": 1, "kind": "python"} for name in (PRODUCTS, SUMS)],
        "sizes": {"products/eval": {}, "sums/eval": {}}}))


def begin(world, gpu, lease, more=""):
    """A service with a first nightly of `gpu`'s PyTorch, whose models call 100 products. `more`
    joins its configuration."""
    w = world(source={"variant": gpu.variant, "python_tag": gpu.tag}, environment={"indexes": []},
              night={"run_seconds": .05, "metrics": ["latency", "kernel_time", "peak_gpu_memory"]},
              queue={"lease": lease, "tick": 1})
    w.config.write_text(w.config.read_text() + more)
    shutil.copytree(gpu.torch, w.repo.path / "torch", dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("__pycache__"))
    w.repo.write("torch/tiles.py", TILES.format(100))
    w.repo.commit("Tile")
    w.publish_nightly("2026-08-18")
    make_workloads(w.folder / "workloads")
    w.start_daemon()
    return w


def start_agent(w, gpu, name, cache, *options):
    w.start(name, "env", f"NIGHTJAR_MACHINE_LOCK={w.folder}/machine.lock",
            *(f"{variable}={value}" for variable, value in gpu.environment.items()),
            BIN / "nightjar-runner", "--service", w.url, "--name", name, "--cache", cache,
            "--python", gpu.python, "--uv", UV, "--workloads", w.folder / "workloads", *options)


def publish(w, date, products, subject="Tile once more"):
    """Commits, of which one may change the number of products, and their nightly."""
    w.repo.grow(4)
    w.repo.write("torch/tiles.py", TILES.format(products))
    if products != 100:
        w.repo.commit(subject)
    w.repo.grow(4)
    w.publish_nightly(date)


def controls_on_the_gpu(w):
    """How many sessions timed the control's kernels on the device."""
    with sqlite3.connect(f"file:{w.folder}/data/nightjar.sqlite?mode=ro", uri=True) as rows:
        return rows.execute("SELECT count(*) FROM gpu_control").fetchone()[0]


@pytest.mark.timing
def test_one_percent_more_kernel_time_is_the_only_thing_that_an_agents_nights_tell(world, gpu):
    w = begin(world, gpu, lease=30)
    start_agent(w, gpu, "lab", w.folder / "cache", "--token-file", w.folder / "runner.token")
    finish_in_noise(w, 1)
    [lab] = w.items("runners")
    assert gpu.device in lab["machine"]["facts"]["gpu"], lab
    assert {run["status"] for run in w.items("runs")} == {"measured"}, w.get("/readyz")
    if gpu.device == "H100":
        assert controls_on_the_gpu(w) > 0
    publish(w, "2026-08-19", 100)
    finish_in_noise(w, 2)
    assert w.issues() == [] and told(w) == []

    publish(w, "2026-08-20", 101)
    finish_in_noise(w, 3)
    [found] = told(w)
    assert [(one["workload"], one["metric"]) for one in found["series"]] == [
        (PRODUCTS, "kernel_time")]
    assert found["series"][0]["ratio"] == pytest.approx(1.01, abs=.004)
    assert subjects(w, found) == ["Tile once more"]
    code, said = verdicts(w, found["id"])
    assert code == 0, said
    [issue] = w.issues()
    text = issue.read_text()
    assert "kernel time +" in text and "since `" + found["culprit"]["commits"][0][:12] in text, text
    profile = w.get(f"/api/v1/regressions/{found['id']}/profile")
    assert profile["state"] == "done", profile
    calls = {(one["operator"], one["before"]["calls"], one["after"]["calls"])
             for one in profile["difference"]["changes"] if one["on"] == "gpu"}
    assert calls == {("aten::mm", 100, 101)}, profile
    [kernel] = [one for one in profile["difference"]["kernels"] if one["clear"]]
    assert kernel["operator"] == "aten::mm" and kernel["share"] == pytest.approx(1, abs=.5), profile
    assert "## Where the kernels' time went" in text, text


def told(w):
    return [one for one in w.items("regressions")
            if one["state"] not in ("dismissed", "unconfirmed")]
