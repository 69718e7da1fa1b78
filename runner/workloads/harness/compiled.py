"""Measures a workload whose networks torch.compile compiles. Beside what every run measures, it
says what compiling cost, whether the result is right, and the speed-up over eager in the same
process. Memory beside eager's is compared in another one (compression.py).

The order keeps peak memory the compiled workload's own: first cold, with an empty cache, which is
the run that is measured; then eager; then compiled again with the caches that the first left on
disk; then both in turns. """

import contextlib
import dataclasses
import os
import shutil
import statistics
import tempfile
import time

from harness import comparison
from harness.failure import Unavailable, WrongResult, is_out_of_memory
from harness.measurement import FIRST

# Pairs of an eager and a compiled iteration. Fewer, but at least five, if they take longer than
# PAIRS_SECONDS.
PAIRS = 30
PAIRS_SECONDS = 4.0
# PyTorch's errors that say nothing about the compiled code, and the reason to give.
IMPOSSIBLE = {
    "does not currently support double backward": "torch.compile does not differentiate twice",
    "InvalidCxxCompiler": "torch.compile needs a C++ compiler; install g++",
    "Python.h: No such file": "torch.compile needs Python's headers; install python3-dev"}


def cache(request):
    """Where compiled code goes: a folder of this run's own, which its second process finds."""
    return contextlib.nullcontext() if request.compare_memory else fresh_cache()


@contextlib.contextmanager
def fresh_cache():
    """Sends compiled code to a folder of this process's own. Enter it before importing torch."""
    folder = tempfile.mkdtemp(prefix="nightjar-compiled-")
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
    # Compiles in this process and not in a pool, so that its time and memory belong to this run.
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure(torch, build, found, synchronize, measure_step):
    """The number of parameters, the Measurement, dynamo's word on the accuracy, and further metrics
    by name.
    `build(definition)` makes a case and its step, `measure_step(step)` its Measurement. Exceptions
    have an attribute `accuracy`, unless the workload cannot be compiled at all."""
    eager = dataclasses.replace(found, backend="eager")
    try:
        return _measure(torch, build, found, eager, synchronize, measure_step)
    except (Unavailable, WrongResult):
        raise
    except Exception as error:
        for text, reason in IMPOSSIBLE.items():
            if text in f"{type(error).__name__}: {error}":
                raise Unavailable(reason) from error
        error.accuracy = word_of_failure(error, build, eager)
        raise


def _measure(torch, build, found, eager_found, synchronize, measure_step):
    prime(torch, found.device)
    case, step = build(found)
    cold = measure_step(step)
    metrics = counters()
    eager = first_iterations(torch, build, eager_found, synchronize)
    forget_in_process(torch)
    warm = first_iterations(torch, build, found, synchronize)
    for name, seconds in (("compile_time", sum(cold.first)), ("warm_compile_time", warm.seconds)):
        if seconds > eager.seconds:  # else the gain hides the time of compiling
            metrics[name] = seconds - eager.seconds
    metrics["speedup"] = speedup(eager.step, warm.step, synchronize)
    accuracy = comparison.word_of(torch, build, found, eager, warm)  # it may compile again
    return case.parameters, cold, accuracy, {name: [value] for name, value in metrics.items()}


def prime(torch, device):
    """Compiles a trivial function first. Importing the compiler, trying the instruction sets and
    precompiling headers happen once a process or machine, and would hide the time of the model."""
    torch.compile(lambda x: x + 1)(torch.ones(64, device=device))
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()


def counters():
    """Dynamo's counts. They are PyTorch's internals, so one that has moved is left out."""
    def graph_breaks():
        from torch._dynamo.utils import counters as counted
        return sum(counted["graph_break"].values())

    def unique_graphs():
        from torch._dynamo.utils import counters as counted
        return counted["stats"]["unique_graphs"]

    def recompiles():
        from torch._dynamo.convert_frame import FRAME_COMPILE_COUNTER
        return sum(count - 1 for count in FRAME_COMPILE_COUNTER.values())

    counts = {}
    for read in (graph_breaks, unique_graphs, recompiles):
        with contextlib.suppress(ImportError, AttributeError):
            counts[read.__name__] = read()
    return counts


def forget_in_process(torch):
    """Leaves what a new process would find: the caches on disk."""
    torch._dynamo.reset()
    with contextlib.suppress(ImportError, AttributeError):
        from torch._inductor.utils import clear_caches
        clear_caches()


def first_iterations(torch, build, found, synchronize):
    """The Side of the first iterations; its results are those of the very first."""
    case, step = build(found)
    side = comparison.first(torch, case, step, found.device, lambda step: timed(step, synchronize))
    side.seconds += sum(timed(step, synchronize)[0] for _ in range(FIRST - 1))
    return side


def word_of_failure(error, build, eager):
    """dynamo's word: whether memory was too small, and whether eager fails as well."""
    try:
        build(eager)[1]()
    except Exception as own:
        return "eager_1st_run_OOM" if is_out_of_memory(own) else "eager_fail_to_run"
    return "OOM" if is_out_of_memory(error) else "fail_to_run"


def speedup(eager, compiled, synchronize):
    """The ratio of medians. Iterations take turns, so that a disturbance meets both."""
    taken = [], []
    end = time.monotonic() + PAIRS_SECONDS
    while len(taken[0]) < 5 or (len(taken[0]) < PAIRS and time.monotonic() < end):
        for step, seconds in zip((eager, compiled), taken):
            seconds.append(timed(step, synchronize)[0])
    return statistics.median(taken[0]) / statistics.median(taken[1])


def timed(step, synchronize):
    """Seconds of one iteration, and its output."""
    begin = time.perf_counter()
    output = step()
    if synchronize:
        synchronize()
    return time.perf_counter() - begin, output
