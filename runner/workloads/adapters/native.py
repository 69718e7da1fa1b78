"""The native workloads inside Python, for profiles. NIGHTJAR_PROFILED names the library that holds
them (profiled.cpp). Their own program measures them."""

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
    reason = native.make(case.name, case.definition.version, case.seed, torch.get_num_threads(),
                         case.definition.sizes)
    if reason:
        raise Unavailable(reason)
    assert case.batch  # counts as read: the library has checked that the model reads it
    iterate = ctypes.CDLL(path).nightjar_step
    iterate.restype = ctypes.c_char_p

    def step():
        if error := iterate():
            raise RuntimeError(error.decode(errors="replace"))
    step.kept = native.kept
    return step
