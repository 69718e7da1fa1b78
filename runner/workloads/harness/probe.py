"""A fixed piece of work that shows how fast the core is just now; probe.hpp is the same in C++.

Something else that shares the core (another hardware thread, another guest of the host) slows it down
and is seen by no counter of this system.
"""

import time

SLOWED = 1.25  # beside a probe slower than this, as a multiple of the fastest, nothing counts
NUMBERS = range(1500)  # some 20 µs that keep all of a core's units busy


class Probe:
    """`known_ns`: the usual fastest of earlier processes on this machine; 0: not known."""

    def __init__(self, known_ns=0):
        self._known_ns = known_ns
        self.fastest_ns = 0  # of this process

    def read_ns(self):
        sum(NUMBERS)  # the second of two has its code in the cache
        begin = time.perf_counter_ns()
        sum(NUMBERS)
        took = max(1, time.perf_counter_ns() - begin)
        self.fastest_ns = min(self.fastest_ns or took, took)
        return took

    def slowdown(self, took_ns):
        return max(1.0, took_ns / min(self.fastest_ns, self._known_ns or self.fastest_ns))

    def await_quiet(self, seconds):
        """The first probe that was not slowed, or the last one when the time is over."""
        end = time.monotonic() + seconds
        while True:
            took = self.read_ns()
            if self.slowdown(took) <= SLOWED or time.monotonic() >= end:
                return took
            time.sleep(0.02)
