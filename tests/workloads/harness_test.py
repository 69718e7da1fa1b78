"""The harness's own arithmetic, without torch."""

import programs

programs.put_suite_on_path()
import harness  # noqa: E402


class Scripted:
    """Counters that stand still; memory follows a script."""

    def __init__(self, resident=()):
        self._resident = iter(resident)

    def cpu_ns(self):
        return 0

    def wait_ns(self):
        return 0

    def resident_bytes(self):
        return next(self._resident, 0)


def test_the_leak_slope_is_the_median_over_pairs():
    assert harness.leak_slope([100 + 8 * i for i in range(50)]) == 8
    assert harness.leak_slope([5] * 30) == 0
    assert harness.leak_slope([0] * 20 + [1 << 20] * 5) == 0
    assert harness.leak_slope([1]) == 0
    assert harness.leak_slope([3 * i for i in range(1000)]) == 3


def test_the_result_of_the_fifth_iteration_is_what_is_summed():
    calls = []

    def step():
        calls.append(0)
        return len(calls)

    measured = harness.measure(step, float, 5, 0, counters=Scripted())
    assert measured.checksum == 5
    assert measured.warmup_iterations + len(measured.latency) == len(calls)
    assert len(calls) >= 30


def test_an_iteration_is_never_measured_more_than_a_thousand_times():
    measured = harness.measure(lambda: None, lambda _: 0.0, 1, 3600, counters=Scripted())
    assert len(measured.latency) == 1000


class Clock:
    """Stands in for the module `time`: each reading is a millisecond later."""

    def __init__(self):
        self._now = 0

    def perf_counter_ns(self):
        self._now += 1_000_000
        return self._now

    def perf_counter(self):
        return self.perf_counter_ns() * 1e-9


def test_measuring_goes_on_until_the_time_is_over(monkeypatch):
    monkeypatch.setattr(harness, "time", Clock())
    measured = harness.measure(lambda: None, lambda _: 0.0, 3, 0.3, counters=Scripted())
    # Three readings an iteration: begin, end, and whether the time is over.
    assert 98 <= len(measured.latency) <= 101
    assert measured.latency == [0.001] * len(measured.latency)
    assert measured.warmup_iterations == 6


def test_warm_up_ends_at_25_iterations_if_they_never_agree(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(harness, "time", clock)
    calls = []

    def unsteady():
        calls.append(0)
        for _ in range(len(calls) % 3):
            clock.perf_counter_ns()

    assert harness.measure(unsteady, lambda _: 0.0, 3, 0, counters=Scripted()).warmup_iterations == 25


def test_the_leak_slope_leaves_the_warm_up_out():
    warmup_then_flat = [i << 20 for i in range(25)] + [25 << 20] * 2000
    measured = harness.measure(lambda: None, lambda _: 0.0, 500, 0,
                               counters=Scripted(warmup_then_flat))
    assert measured.leaked_bytes == 0
