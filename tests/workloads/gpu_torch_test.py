"""The stand-in for PyTorch on a GPU (tests/support/gpu_torch) against what it stands for: the real
profiler on the CPU, and a trace with the fields of CUPTI's."""

import json
import pathlib
import shutil
import subprocess

import pytest
import programs

programs.put_suite_on_path()
from harness import kernels  # noqa: E402  (pure: no torch)

CUPTI = pathlib.Path(__file__).parent / "data" / "kernels.json"
STAND_IN = programs.ROOT / "tests" / "support" / "gpu_torch"
# What Kineto tells in a build with HIP, August 2026.
ROCM = {
    "kernel": {"External id", "device", "stream", "hsa_queue", "correlation", "kind", "grid",
               "block"},
    "gpu_user_annotation": {"External id"},
    "cuda_runtime": {"External id", "cid", "correlation", "grid", "block", "shared memory"}}
TRACED = """\
import sys, torch
from torch.autograd.profiler import profile, record_function
device, path = sys.argv[1:]
one = torch.ones(64, 64, device=torch.device(device))
with profile(use_kineto=True, use_device="cuda" if device == "cuda" else None) as seen:
    for _ in range(3):
        with record_function("nightjar::iteration"):
            torch.mm(one, one)
            if device == "cuda":
                torch.cuda.synchronize()
seen.kineto_results.save(path)
"""


def traced(folder, device, **environment):
    path = folder / f"{device}.json"
    subprocess.run([programs.python(), "-c", TRACED, device, path], check=True,
                   capture_output=True, env={**programs.environment(), **environment})
    return path.read_text(encoding="utf-8")


def stand_ins(folder, hip=None):
    shutil.copytree(STAND_IN, folder / "torch")
    (folder / "torch" / "version.py").write_text(f"__version__ = '2.14.0'\nhip = {hip!r}\n")
    return traced(folder, "cuda", PYTHONPATH=str(folder))


def fields(text, kind):
    """Names of an event's fields, and of its arguments."""
    event = next(one for one in json.loads(text)["traceEvents"] if one.get("cat") == kind)
    return set(event), set(event["args"])


def test_its_ranges_are_written_as_the_real_profiler_writes_them(tmp_path):
    real, own = traced(tmp_path, "cpu"), stand_ins(tmp_path)
    assert fields(own, "user_annotation") == fields(real, "user_annotation")
    assert fields(own, "cpu_op")[0] == fields(real, "cpu_op")[0]
    assert fields(own, "cpu_op")[1] <= fields(real, "cpu_op")[1]
    missing = set(json.loads(real)) - set(json.loads(own))
    assert missing <= {"trace_id"}, missing


@pytest.mark.parametrize("kind", ["kernel", "cuda_runtime", "gpu_user_annotation"])
def test_its_kernels_are_written_as_cupti_and_rocm_tell_them(tmp_path, kind):
    cupti = fields(CUPTI.read_text(encoding="utf-8"), kind)
    (tmp_path / "nvidia").mkdir()
    assert fields(stand_ins(tmp_path / "nvidia"), kind) == cupti
    (tmp_path / "amd").mkdir()
    assert fields(stand_ins(tmp_path / "amd", "7.0"), kind) == (cupti[0], ROCM[kind])


def test_its_kernels_take_what_its_device_says(tmp_path):
    seconds = kernels.kernel_seconds(stand_ins(tmp_path), 3)
    assert seconds == pytest.approx([20e-6] * 3, rel=.15)
