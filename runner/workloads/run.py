"""Runs one workload inside the PyTorch that is first on the path: `run.py < request`, or --list.

Exit status 0: it answered, with a result or an error; 2: wrong use. run_profile.py answers the same
request with a profile. """

import contextlib
import dataclasses
import importlib
import importlib.metadata
import math
import os
import platform
import statistics
import sys

from harness import compiled, compression, definition, protocol, raised
from harness.device_clock import DeviceClock
from harness.failure import (Faulty, Unavailable, WrongResult, is_out_of_memory, one_line,
                             telling_line)
from harness.process import Counters, settings, steady_allocator

PACKAGES = ("numpy", "sympy", "typing_extensions", "networkx", "jinja2", "fsspec", "filelock",
            "transformers", "timm", "torchvision")


def main(work=None):
    if sys.argv[1:] == ["--list"]:
        return list_names()
    if sys.argv[1:]:
        print("run.py takes a request on standard input, or --list", file=sys.stderr)
        return 2
    return serve(work or measured, definition.find, listed_model)


def serve(work, find, load):
    """Answers the request on standard input. `find(name, version, sizes)` gives the definition, and
    `load(definition)` the module that makes its step. After `ready`, `work(channel, request, found,
    torch, model)` gives the answer."""
    channel = protocol.Channel()
    steady_allocator()
    watched = "torch"
    try:
        request = protocol.Request.parse(sys.stdin.buffer.read())
        watched = request.module
        found = find(request.workload, request.version, request.sizes)
        request = dataclasses.replace(request, threads=found.threads or request.threads)
        with contextlib.nullcontext() if found.backend == "eager" else compiled.cache(request):
            answer(channel, request, found, work, load)
    except protocol.BadRequest as error:
        channel.error("failed", str(error))
        return 2
    except definition.UnknownWorkload as error:
        channel.error("failed", str(error))
    except BaseException as error:  # whatever ends a run is the run's answer
        status, reason = judge(error, watched)
        if status == "failed" and not isinstance(error, Faulty):
            print(raised.shortened(error), file=sys.stderr)
        channel.error(status, reason, getattr(error, "accuracy", None))
    return 0


def list_names():
    try:
        print("\n".join(definition.names()))
    except definition.UnknownWorkload as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def listed_model(found):
    try:
        return importlib.import_module(found.module)
    except ModuleNotFoundError as error:
        if error.name == found.module:
            raise Faulty(
                f"there is no file {found.file}; {found.name} needs one with a function make(case)"
            ) from None
        raise


def answer(channel, request, found, work, load):
    import torch
    fields = {"torch": identity(torch), "packages": packages()}
    if request.module != "torch":
        watched = importlib.import_module(request.module)
        fields["module"] = {"path": os.path.dirname(watched.__file__)}
        fields["packages"]["torch"] = torch.__version__
    model = load(found)
    channel.send("ready", **fields, settings=settings(request.threads),
                 memory_after_import=Counters().resident_bytes())
    if found.device == "cuda" and not torch.cuda.is_available():
        raise Unavailable("no CUDA device")
    work(channel, request, found, torch, model)


def measured(channel, request, found, torch, model):
    if request.compare_memory:
        return memory_compared(channel, request, found, torch, model)
    return send_result(channel, *run(torch, model, request, found))


def memory_compared(channel, request, found, torch, model):
    from harness import case
    set_up(torch, request)
    sides = {"eager": dataclasses.replace(found, backend="eager"), "compiled": found}
    compiled.prime(torch, found.device)
    channel.send("memory", **{
        name: compression.own_bytes(torch, lambda definition: case.build(
            model, definition, request.seed), side) for name, side in sides.items()})


def prepare(torch, model, request, found):
    """The case, its step, and the function that waits for its device, if any."""
    from harness import case
    set_up(torch, request)
    return *case.build(model, found,
                       request.seed), torch.cuda.synchronize if found.device == "cuda" else None


def set_up(torch, request):
    torch.set_num_threads(request.threads)
    torch.set_num_interop_threads(1)
    torch.set_flush_denormal(True)  # a loss near zero must not slow down the thousandth iteration


def run(torch, model, request, found):
    """The Measurement and the result's fields."""
    from harness import case, kernels, measurement
    from harness.probe import Probe
    set_up(torch, request)
    clock = DeviceClock(torch) if found.device == "cuda" else None

    def build(definition):
        return case.build(model, definition, request.seed)

    fields, metrics, kernel_metrics = {}, {}, {}

    def measure(step):
        result = measurement.measure(clock.around(step) if clock else step,
                                     getattr(step, "checksum", case.checksum_of),
                                     request.min_iterations, request.seconds, clock
                                     and clock.synchronize,
                                     probe=Probe(int(request.fastest_probe * 1e9)),
                                     slow=request.slow, observe=clock and clock.observe,
                                     peak_at=request.peak_at)
        if clock and request.kernel_iterations:  # while what was compiled is still there
            usual = statistics.median(result.latency)
            found, missing = kernels.measure(torch, step, request.kernel_iterations, usual)
            kernel_metrics.update(found)
            if missing:
                fields["missing"] = {"kernel_time": missing}
        return result
    if found.backend == "eager":
        made, step = build(found)
        result = measure(step)
        parameters = made.parameters
    else:
        parameters, result, fields["accuracy"], metrics = compiled.measure(
            torch, build, found, clock and torch.cuda.synchronize, measure)
        if not clock:
            ratio, missing = compression.measured(request)
            metrics |= ratio
            if missing:
                fields["missing"] = {"compression_ratio": missing}
    if result.checksum is not None and not math.isfinite(result.checksum):
        raise WrongResult(f"the output's checksum is {result.checksum}")
    metrics |= {"peak_cpu_memory": [result.peak_bytes], "leaked_memory": [result.leaked_bytes]}
    if clock:
        metrics |= clock.metrics(result.warmup_iterations) | kernel_metrics
    return result, {"metrics": metrics, "parameters": parameters, **fields}


def send_result(channel, result, fields):
    rows = zip(result.latency, result.cpu, result.wait, result.slowdown)
    channel.send_all([{"event": "sample", "latency": latency, "cpu": cpu, "wait": wait,
                       "slowdown": slowdown} for latency, cpu, wait, slowdown in rows])
    channel.send("result", warmup_iterations=result.warmup_iterations,
                 fastest_probe=result.fastest_probe, checksum=result.checksum, **fields)


def identity(torch):
    return {"version": torch.__version__, "git_version": torch.version.git_version,
            "path": os.path.dirname(torch.__file__)}


def packages():
    """Versions of packages that a workload can depend on, without importing them."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def judge(error, watched="torch"):
    """The status and the reason for an exception. `watched`: the module that the build is of."""
    reason = one_line(error)
    for kind, status in ((Unavailable, "unavailable"), (WrongResult, "wrong_result"), (Faulty,
                                                                                       "failed")):
        if isinstance(error, kind):
            return status, telling_line(error)
    if isinstance(error, ModuleNotFoundError) and not is_of_build(error.name, watched):
        return "unavailable", reason
    if isinstance(error, ImportError):
        from harness import missing  # late: or it would lie in the heap of each run
        if module := missing.library(error):
            return "unavailable", f"no module named '{module}'"
    if is_out_of_memory(error):
        return "out_of_memory", reason
    place = raised.place(error)
    return "failed", f"{place}: {reason}" if place else reason


def is_of_build(module, watched):
    top = (module or "torch").split(".")[0]
    return top in ("torch", "torchgen", "functorch", watched.split(".")[0])


if __name__ == "__main__":
    sys.exit(main())
