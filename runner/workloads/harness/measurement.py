"""Measures one step repeatedly: warm-up, samples, peak memory, leak slope, checksum. The rules:
docs/workloads.md."""

import gc
import statistics
import time
from dataclasses import dataclass

from harness.loop import CAP, Loop
from harness.probe import Probe
from harness.process import Counters, peak_bytes
from harness.protocol import PEAK_AT

CHECKSUM_AT = 5  # iterations with the warm-up: a fixed count, whatever the time
SLOW_PEAK_AT = 16  # where iterations take over a second: the fewest that a run has
CLEAN = 10  # measuring goes on until this many iterations were undisturbed ...
PATIENCE = 12  # ... but not longer than this multiple of the requested time
LEAK_POINTS = 200
FIRST = 10  # iterations in which a compiler works, as PyTorch's dynamo runners count them


@dataclass
class Measurement:
    warmup_iterations: int
    latency: list  # seconds, one an iteration, as are the next two
    cpu: list
    wait: list
    slowdown: list  # of the probes beside each iteration; 1 is the fastest
    fastest_probe: float  # seconds
    peak_bytes: int
    leaked_bytes: float  # each iteration
    checksum: float | None  # None if the step has none
    first: list  # seconds of the first ten iterations, warm-up included


def measure(step, checksum_of, min_iterations, seconds, synchronize=None, counters=None,
            probe=None, slow=0.0, observe=None, peak_at=PEAK_AT):
    """`step()` is one iteration. Its result is dropped at once, except for the one that
    `checksum_of` turns into a number or None. `slow`: a slow-down to plant, as a share of a warm
    iteration's time. `observe()` is called after each iteration, outside its time. Peak memory is
    read after `peak_at` iterations, and the warm-up is no longer than that."""
    loop = Loop(step, synchronize, counters or Counters(), probe or Probe(), observe)
    # Later collections skip what the imports left. The collector stays on, as users have it: it
    # mends a leak through a cycle, and its time is part of Python's price.
    gc.collect()
    gc.freeze()
    checksum = None
    while loop.done < peak_at and not loop.warm():
        loop.iterate()
        if loop.done == CHECKSUM_AT - 1:
            checksum = checksum_of(loop.iterate_and_keep())
    warmup = loop.done
    if slow > 0:
        loop.slow_down(slow)
    peak = None
    begin = time.perf_counter()
    while True:
        if loop.done == peak_at and peak is None or loop.done == SLOW_PEAK_AT and loop.slow():
            peak = peak_bytes()
        measured = loop.done - warmup
        if measured >= CAP:
            break
        spent = time.perf_counter() - begin
        if measured >= min_iterations and spent >= seconds and peak is not None:
            left = PATIENCE * seconds - spent
            if left <= 0 or loop.clean(warmup) >= max(min_iterations, CLEAN):
                break
            loop.await_quiet(left)
        loop.iterate()
    return Measurement(warmup, *loop.samples(warmup), loop.fastest_probe(), peak,
                       leak_slope(loop.resident_since(warmup)), checksum, loop.first(FIRST))


def leak_slope(resident):
    """The Theil-Sen slope in bytes an iteration: the median over pairs that are at most a third of
    the run apart. A jump of the allocator in the middle lies between a fifth of these pairs, but
    between half of all pairs. Uses at most 200 evenly spaced points."""
    count = len(resident)
    if count < 2:
        return 0.0
    step = max(1, -(-count // LEAK_POINTS))
    points = [(i, resident[i]) for i in range(0, count, step)]
    reach = max(1, len(points) // 3)
    return float(statistics.median((y - x) / (j - i) for n, (i, x) in enumerate(points)
                                   for j, y in points[n + 1:n + 1 + reach]))
