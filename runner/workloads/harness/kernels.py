"""The metric kernel_time: how long a device's kernels run in an iteration, by the profiler. It gets
them from CUPTI, or from ROCTracer on AMD. The trace is read strictly, since a sum of half the
kernels would look like a better build."""

import bisect
import json
import math
import os
import tempfile

from harness.profiler.tree import ITERATION

WARM = 1  # a profiler's first iteration makes its own memory
LEAST = 3  # iterations, however slow they are
LONGEST = 5.0  # seconds that the others take at most
LAUNCHES = ("cuda_runtime", "cuda_driver")  # ROCm has its calls in the first


class BadTrace(Exception):
    pass


def measure(torch, step, iterations, seconds):
    """({"kernel_time": seconds of each iteration}, None), or ({}, why there are none). `seconds`:
    of a plain iteration. A run without kernel times is measured all the same."""
    from harness.profiler import passes
    try:
        passes.recorded(step, torch.cuda.synchronize, WARM, use_device="cuda")
        fits = min(iterations, max(LEAST, int(LONGEST / seconds)))
        results, _ = passes.recorded(step, torch.cuda.synchronize, fits, use_device="cuda")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            results.save(path)
            with open(path, encoding="utf-8") as file:
                return {"kernel_time": kernel_seconds(file.read(), fits)}, None
    except Exception as error:  # also what CUPTI refuses, as a second profiler on the device
        lines = f"{type(error).__name__}: {error}".splitlines()
        return {}, lines[0][:300]


def kernel_seconds(text, iterations):
    """Seconds of all kernels of each iteration, from a trace as the profiler writes it. A kernel
    belongs to the iteration that launched it. Copies and fills are no kernels. Throws BadTrace
    unless each of `iterations` has its range and a kernel."""
    windows, launched, kernels = [], {}, []
    for event in events_in(text):
        kind = str(event.get("cat", "")).lower()
        if event.get("ph") != "X":
            continue
        if kind == "user_annotation" and event.get("name") == ITERATION:
            start = number(event, "ts")
            windows.append((start, start + number(event, "dur")))
        elif kind in LAUNCHES and correlation(event) is not None:
            launched[correlation(event)] = number(event, "ts")
        elif kind == "kernel":
            kernels.append((number(event, "ts"), number(event, "dur"), correlation(event)))
    windows.sort()
    if len(windows) != iterations:
        raise BadTrace(f"the trace has {len(windows)} iterations, not {iterations}")
    if not kernels:
        raise BadTrace("the trace has no kernel")
    sums = [[] for _ in windows]
    for start, duration, key in kernels:
        sums[window_of(windows, launched.get(key, start))].append(duration)
    if not all(sums):
        raise BadTrace(f"iteration {sums.index([]) + 1} of the trace has no kernel")
    return [math.fsum(durations) * 1e-6 for durations in sums]


def events_in(text):
    try:
        trace = json.loads(text)
    except ValueError as error:
        raise BadTrace(f"the trace is no JSON: {error}") from None
    events = trace.get("traceEvents") if isinstance(trace, dict) else None
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise BadTrace("the trace has no list of events")
    return events


def number(event, name):
    """Microseconds."""
    value = event.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
        raise BadTrace(f"an event of kind {event['cat']} has no '{name}'")
    return value


def correlation(event):
    """The number that a kernel shares with the call that launched it; None if it has none."""
    found = event.get("args", {})
    return found.get("correlation") if isinstance(found, dict) else None


def window_of(windows, time):
    index = bisect.bisect_right(windows, (time, math.inf)) - 1
    if index < 0 or time > windows[index][1]:
        raise BadTrace("a kernel was launched in no iteration")
    return index
