"""The native workloads inside Python, for profiles: a library that is compiled with them (profiled.cpp), which
NIGHTJAR_PROFILED names. They are measured by their own program."""

import ctypes
import os

import torch

from harness.failure import Unavailable


def make(case):
    path = os.environ.get("NIGHTJAR_PROFILED")
    if not path:
        raise Unavailable("a native workload runs in Python for a profile only")
    torch.ops.load_library(path)
    native = torch.ops.nightjar
    reason = native.make(case.name, case.definition.version, case.seed, torch.get_num_threads(), case.definition.sizes)
    if reason:
        raise Unavailable(reason)
    assert case.batch  # whether it means anything was judged there
    iterate = ctypes.CDLL(path).nightjar_step
    iterate.restype = ctypes.c_char_p

    def step():
        if error := iterate():
            raise RuntimeError(error.decode(errors="replace"))
    step.kept = native.kept
    return step
