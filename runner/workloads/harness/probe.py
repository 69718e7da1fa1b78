"""Times a fixed piece of work, which shows how fast the core is at the moment. Another hardware
thread or another guest of the host slows it down, and no counter of this system shows that."""

import time

# An iteration is disturbed if a probe beside it is slower than this multiple of the fastest.
SLOWED = 1.25
NUMBERS = range(1500)  # about 20 µs of work that keeps all of a core's units busy


class Probe:
    """`known_ns`: the usual fastest probe of earlier processes on this machine; 0: not known."""

    def __init__(self, known_ns=0):
        self._known_ns = known_ns
        self.fastest_ns = 0  # of this process

    def read_ns(self):
        sum(NUMBERS)  # brings its code into the cache
        begin = time.perf_counter_ns()
        sum(NUMBERS)
        took = max(1, time.perf_counter_ns() - begin)
        self.fastest_ns = min(self.fastest_ns or took, took)
        return took

    def slowdown(self, took_ns):
        return max(1.0, took_ns / min(self.fastest_ns, self._known_ns or self.fastest_ns))

    def await_quiet(self, seconds):
        """Repeats the probe until it is not slowed, or until the time is over. Returns the last
        one."""
        end = time.monotonic() + seconds
        while True:
            took = self.read_ns()
            if self.slowdown(took) <= SLOWED or time.monotonic() >= end:
                return took
            time.sleep(0.02)
