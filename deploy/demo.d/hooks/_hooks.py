"""What the package asks its C++ for by plain functions; the sources are in torch/csrc/hooks."""

import ctypes
import os

# A call keeps the interpreter's lock: each takes less than a microsecond.
_library = ctypes.PyDLL(os.path.join(os.path.dirname(__file__), "libtorch_hooks.so"))


def _function(name, arguments):
    function = _library[f"hooks_{name}"]
    function.argtypes, function.restype = [ctypes.c_int64] * arguments, ctypes.c_int64
    return function


_begin_step = _function("begin_step", 1)
_check_bags = _function("check_bags", 2)
_check_sample = _function("check_sample", 1)


def begin_step(groups):
    if _begin_step(groups) < 0:
        raise RuntimeError(f"An optimizer cannot have {groups} groups of parameters")


def check_bags(bags, mode):
    if _check_bags(bags, mode):
        raise RuntimeError(f"embedding_bag cannot look up {bags} bags in mode {mode}")


def check_sample(dimensions):
    if _check_sample(dimensions):
        raise RuntimeError(f"A sample cannot have {dimensions} dimensions")
