"""Measures one step again and again: warm-up, samples, peak memory, leak slope, checksum.

The rules are docs/workloads.md's; native/harness.hpp is the same in C++.
"""

import gc
import statistics
import time
from array import array
from dataclasses import dataclass

from probe import SLOWED, Probe
from process import Counters, peak_bytes

CHECKSUM_AT = 5  # iterations, warm-up included: at a fixed count, so that time cannot change it
PEAK_AT = 30
WARMUP_CAP = 25
AGREE = 5  # so many iterations within ...
WITHIN = 0.01  # ... this share of each other end the warm-up
CAP = 1000
CLEAN = 10  # undisturbed iterations that measuring goes on for ...
PATIENCE = 12  # ... up to this multiple of the time asked for
LEAK_POINTS = 200


@dataclass
class Measurement:
    warmup_iterations: int
    latency: list  # seconds, one an iteration, as are the next two
    cpu: list
    wait: list
    slowdown: list  # of fixed work beside each iteration; 1 is its fastest
    fastest_probe: float  # seconds
    peak_bytes: int
    leaked_bytes: float  # an iteration
    checksum: float


def measure(step, checksum_of, min_iterations, seconds, synchronize=None, counters=None,
            probe=None, slow=0.0):
    """`step()` is one iteration; what it returns is dropped at once, but for the one iteration
    whose result `checksum_of` turns into a number. `slow`: a slow-down to plant, as a share of a warm
    iteration's time."""
    loop = _Loop(step, synchronize, counters or Counters(), probe or Probe())
    # What the imports left is kept out of later collections. The collector stays on as users have
    # it: a leak through a cycle is not a leak, and collecting is part of Python's price.
    gc.collect()
    gc.freeze()
    checksum = None
    while not loop.warm():
        loop.iterate()
        if loop.done == CHECKSUM_AT - 1:
            checksum = checksum_of(loop.iterate_and_keep())
    warmup = loop.done
    if slow > 0:
        loop.slow_down(slow)
    peak = None
    begin = time.perf_counter()
    while True:
        if loop.done == PEAK_AT:
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
    return Measurement(warmup, *loop.samples(warmup), loop.fastest_probe(), peak, leak_slope(loop.resident_since(warmup)),
                       checksum)


class _Loop:
    """Counters are read outside the timed span, and their arrays exist before it: the harness
    itself must not show in memory."""

    def __init__(self, step, synchronize, counters, probe):
        room = bytes(8 * (WARMUP_CAP + CAP + 1))
        self._step = step
        self._synchronize = synchronize
        self._counters = counters
        self._beside = probe
        columns = (array("q", room) for _ in range(5))
        self._latency, self._cpu, self._wait, self._resident, self._probe = columns
        self._waste_ns = 0
        self.done = 0
        self._probe[0] = probe.read_ns()

    def iterate(self):
        wait, cpu = self._counters.wait_ns(), self._counters.cpu_ns()
        begin = time.perf_counter_ns()
        self._step()
        if self._synchronize:
            self._synchronize()
        if self._waste_ns:
            self._waste()
        end = time.perf_counter_ns()
        self._note(begin, end, cpu, wait)

    def slow_down(self, share):
        """From here on an iteration takes this share of its warm time longer."""
        last = self._latency[max(0, self.done - AGREE):self.done]
        self._waste_ns = int(share * statistics.median(last))

    def _waste(self):
        end = time.perf_counter_ns() + self._waste_ns
        while time.perf_counter_ns() < end:
            pass

    def iterate_and_keep(self):
        wait, cpu = self._counters.wait_ns(), self._counters.cpu_ns()
        begin = time.perf_counter_ns()
        result = self._step()
        if self._synchronize:
            self._synchronize()
        end = time.perf_counter_ns()
        self._note(begin, end, cpu, wait)
        return result

    def _note(self, begin, end, cpu, wait):
        self._cpu[self.done] = self._counters.cpu_ns() - cpu
        self._wait[self.done] = self._counters.wait_ns() - wait
        self._latency[self.done] = end - begin
        self._resident[self.done] = self._counters.resident_bytes()
        self.done += 1
        self._probe[self.done] = self._beside.read_ns()

    def warm(self):
        """The first iteration never counts; then the last five, less their waiting, must agree."""
        if self.done >= WARMUP_CAP:
            return True
        if self.done < 1 + AGREE:
            return False
        last = range(self.done - AGREE, self.done)
        own = [self._latency[i] - self._wait[i] for i in last]
        return max(own) - min(own) <= WITHIN * statistics.median(own)

    def samples(self, since):
        """Latency, CPU and waiting time in seconds, and the slowdown, from iteration `since` on."""
        return [*([ns * 1e-9 for ns in times[since:self.done]]
                  for times in (self._latency, self._cpu, self._wait)), self._slowdown(since)]

    def clean(self, since):
        """How many iterations were not disturbed, from `since` on."""
        return sum(slowdown <= SLOWED for slowdown in self._slowdown(since))

    def _slowdown(self, since):
        return [self._beside.slowdown(max(self._probe[i], self._probe[i + 1]))
                for i in range(since, self.done)]

    def fastest_probe(self):
        return self._beside.fastest_ns * 1e-9

    def await_quiet(self, seconds):
        self._probe[self.done] = self._beside.await_quiet(seconds)

    def resident_since(self, since):
        return list(self._resident[since:self.done])


def leak_slope(resident):
    """Bytes an iteration: the Theil-Sen slope (median over all pairs), which one jump of the
    allocator does not move. At most 200 evenly spaced points, so 20,000 pairs."""
    count = len(resident)
    if count < 2:
        return 0.0
    step = max(1, -(-count // LEAK_POINTS))
    points = [(i, resident[i]) for i in range(0, count, step)]
    return float(statistics.median((y - x) / (j - i) for n, (i, x) in enumerate(points)
                                   for j, y in points[n + 1:]))
