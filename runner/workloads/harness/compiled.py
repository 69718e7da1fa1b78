"""Measures a workload whose networks torch.compile compiles: beside what every run measures, what compiling cost,
whether the result is right, and what was gained over eager in the same process.

In this order, so that peak memory is the compiled workload's own: cold, with an empty cache (this is the run
that is measured); eager; compiled again with the caches that the first has left on disk; both in turns.
"""

import contextlib
import dataclasses
import os
import shutil
import statistics
import tempfile
import time

from harness.failure import Unavailable, WrongResult
from harness.measurement import FIRST

PAIRS = 30  # of iterations, eager and compiled; fewer, but at least five, where they take longer than ...
PAIRS_SECONDS = 4.0
# What PyTorch says where compiling is no question of right or wrong, and what that means.
IMPOSSIBLE = {"does not currently support double backward": "torch.compile does not differentiate twice",
              "InvalidCxxCompiler": "torch.compile needs a C++ compiler; install g++",
              "Python.h: No such file": "torch.compile needs Python's headers; install python3-dev"}


@contextlib.contextmanager
def fresh_cache():
    """Compiled code goes to a folder of this process's own. To be entered before torch is imported."""
    folder = tempfile.mkdtemp(prefix="nightjar-compiled-")
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
    # In this process, so that its time and memory are this run's: no pool that starts at its leisure.
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure(torch, build, found, synchronize, measure_step):
    """`build(definition)`: a case and its step, `measure_step(step)`: its Measurement. Returns the case, the
    Measurement and metrics by name. What it throws has an attribute `accuracy`, unless the workload cannot
    be compiled at all."""
    eager = dataclasses.replace(found, backend="eager")
    try:
        return _measure(torch, build, found, eager, synchronize, measure_step)
    except (Unavailable, WrongResult):
        raise
    except Exception as error:
        for text, reason in IMPOSSIBLE.items():
            if text in f"{type(error).__name__}: {error}":
                raise Unavailable(reason) from error
        error.accuracy = "fail_to_run" if runs(build, eager) else "eager_fail_to_run"
        raise


def _measure(torch, build, found, eager_found, synchronize, measure_step):
    prime(torch, found.device)
    case, step = build(found)
    cold = measure_step(step)
    metrics = counters()
    eager = first_iterations(torch, build, eager_found, synchronize)
    forget_in_process(torch)
    warm = first_iterations(torch, build, found, synchronize)
    require_equal(torch, build, found, eager, warm)
    for name, seconds in (("compile_time", sum(cold.first)), ("warm_compile_time", warm.seconds)):
        if seconds > eager.seconds:  # else what was gained hides what compiling took
            metrics[name] = seconds - eager.seconds
    metrics["speedup"] = speedup(eager.step, warm.step, synchronize)
    return case, cold, {name: [value] for name, value in metrics.items()}


def prime(torch, device):
    """What is paid once a process and once a machine (importing the compiler, trying the instruction sets,
    precompiling headers) is paid by a trivial function: it would hide how long the model takes."""
    torch.compile(lambda x: x + 1)(torch.ones(64, device=device))
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()


def counters():
    """Read in PyTorch's internals, which may move: what is not where it was is left out."""
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
    """What is left is what a new process would find on disk."""
    torch._dynamo.reset()
    with contextlib.suppress(ImportError, AttributeError):
        from torch._inductor.utils import clear_caches
        clear_caches()


@dataclasses.dataclass
class Side:
    step: object
    seconds: float  # of the first iterations together
    tensors: dict  # what the very first one computed
    draws: bool  # whether it drew random numbers


def first_iterations(torch, build, found, synchronize):
    from harness.accuracy import evidence
    case, step = build(found)
    state = torch.cuda.get_rng_state if found.device == "cuda" else torch.get_rng_state
    before = state()
    seconds, output = timed(step, synchronize)
    draws = not torch.equal(before, state())
    tensors = evidence(case, output)
    del output
    return Side(step, seconds + sum(timed(step, synchronize)[0] for _ in range(FIRST - 1)), tensors, draws)


def require_equal(torch, build, found, eager, compiled):
    from harness.accuracy import difference, evidence

    def double():
        """The same in double precision; None where that cannot be had or draws other numbers."""
        if eager.draws:
            return None
        try:
            case, step = build(dataclasses.replace(found, backend="eager", precision="fp64"))
            return evidence(case, step())
        except Exception:  # an operator that knows no double, no memory: dynamo's runners go on, too
            return None
    reason = difference(eager.tensors, compiled.tensors, found.precision, double)
    if reason:
        error = WrongResult(f"compiled and eager differ: {reason}")
        error.accuracy = "fail_accuracy"
        raise error


def runs(build, found):
    try:
        build(found)[1]()
        return True
    except Exception:
        return False


def speedup(eager, compiled, synchronize):
    """Median over median, of iterations in turns: what disturbs one disturbs the other."""
    taken = [], []
    end = time.monotonic() + PAIRS_SECONDS
    while len(taken[0]) < 5 or (len(taken[0]) < PAIRS and time.monotonic() < end):
        for step, seconds in zip((eager, compiled), taken):
            seconds.append(timed(step, synchronize)[0])
    return statistics.median(taken[0]) / statistics.median(taken[1])


def timed(step, synchronize):
    """Seconds, and what came out."""
    begin = time.perf_counter()
    output = step()
    if synchronize:
        synchronize()
    return time.perf_counter() - begin, output
