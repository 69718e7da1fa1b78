"""Repeats one step and records the time, memory and disturbance of each iteration."""

import statistics
import time
from array import array

from harness.probe import SLOWED

WARMUP_CAP = 25
AGREE = 5  # the warm-up ends when this many iterations ...
WITHIN = 0.01  # ... are within this share of each other
CAP = 1000  # iterations after the warm-up
SLOW = 20  # seconds of iterations after which warm-up and peak memory need no more of them


class Loop:
    """Reads its counters outside the timed span, into arrays made before it. The harness itself
    must not show in memory."""

    def __init__(self, step, synchronize, counters, probe, observe=None):
        room = bytes(8 * (WARMUP_CAP + CAP + 1))
        self._step = step
        self._synchronize = synchronize
        self._counters = counters
        self._observe = observe
        self._beside = probe
        columns = (array("q", room) for _ in range(5))
        self._latency, self._cpu, self._wait, self._resident, self._probe = columns
        self._waste_ns = self._spent_ns = 0
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
        """From here on each iteration takes longer by this share of its warm time: a planted
        slow-down."""
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
        self._spent_ns += end - begin if self.done else 0  # the first may have compiled
        self._resident[self.done] = self._counters.resident_bytes()
        if self._observe:
            self._observe()
        self.done += 1
        self._probe[self.done] = self._beside.read_ns()

    def warm(self):
        """Whether the last five iterations agree, less their waiting time. The first never
        counts."""
        if self.done < 1 + AGREE:
            return False
        if self.done >= WARMUP_CAP or self.slow():
            return True
        last = range(self.done - AGREE, self.done)
        own = [self._latency[i] - self._wait[i] for i in last]
        return max(own) - min(own) <= WITHIN * statistics.median(own)

    def slow(self):
        return self._spent_ns >= SLOW * 1e9

    def samples(self, since):
        """Latency, CPU and waiting time in seconds, and the slowdown, from iteration `since` on."""
        return [*([ns * 1e-9 for ns in times[since:self.done]]
                  for times in (self._latency, self._cpu, self._wait)), self._slowdown(since)]

    def first(self, count):
        """Seconds of the first iterations."""
        return [ns * 1e-9 for ns in self._latency[:min(count, self.done)]]

    def clean(self, since):
        """The number of undisturbed iterations from `since` on."""
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
