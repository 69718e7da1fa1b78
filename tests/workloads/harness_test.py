"""The harness's own arithmetic, without torch."""

import re
import time

import pytest
import programs

programs.put_suite_on_path()
from harness import device_clock, loop, measurement, probe  # noqa: E402


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


class Quiet:
    """A machine on which the probe always takes the same time."""

    fastest_ns = 20_000

    def read_ns(self):
        return self.fastest_ns

    def slowdown(self, took_ns):
        return took_ns / self.fastest_ns


class Shared(Quiet):
    """A machine that is disturbed from the tenth probe on, until somebody waits."""

    def __init__(self):
        self.probes = self.waited = 0

    def read_ns(self):
        self.probes += 1
        return 20_000 if self.probes < 10 or self.waited else 32_000

    def await_quiet(self, seconds):
        self.waited += 1
        return 20_000


def test_all_twins_call_the_same_slowdown_undisturbed():
    """The service's constant, and those of the harness, which has to stand alone in both
    languages."""
    for file, name in (("storage/model/run_value.hpp", "undisturbed_slowdown"),
                       ("runner/workloads/harness/probe.hpp", "slowed_from")):
        text = (programs.ROOT / file).read_text()
        assert float(re.search(rf"constexpr double {name} = ([\d.]+);",
                               text)[1]) == probe.SLOWED, file


def test_the_leak_slope_is_the_median_over_pairs():
    assert measurement.leak_slope([100 + 8 * i for i in range(50)]) == 8
    assert measurement.leak_slope([5] * 30) == 0
    assert measurement.leak_slope([0] * 20 + [1 << 20] * 5) == 0
    assert measurement.leak_slope([1]) == 0
    assert measurement.leak_slope([3 * i for i in range(1000)]) == 3
    assert measurement.leak_slope([0, 8]) == 8


@pytest.mark.parametrize("where", [.1, .3, .5, .7, .9])
@pytest.mark.parametrize("count", [16, 30, 70, 1000])
def test_one_jump_wherever_it_is_hardly_moves_the_leak_slope(count, where):
    """A heap that takes a page for every iteration, a few at once at times."""
    grown = [4096 * (i - i % 3) + (1 << 26) * (i >= where * count) for i in range(count)]
    assert measurement.leak_slope(grown) == pytest.approx(4096, rel=.25)


def test_the_result_of_the_fifth_iteration_is_what_is_summed():
    calls = []

    def step():
        calls.append(0)
        return len(calls)

    measured = measurement.measure(step, float, 5, 0, counters=Scripted(), probe=Quiet())
    assert measured.checksum == 5
    assert measured.warmup_iterations + len(measured.latency) == len(calls)
    assert len(calls) >= 30


def test_an_iteration_is_never_measured_more_than_a_thousand_times():
    measured = measurement.measure(lambda: None, lambda _: 0.0, 1, 3600, counters=Scripted(),
                                   probe=Quiet())
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


def use_clock(monkeypatch, clock):
    for module in (loop, measurement):
        monkeypatch.setattr(module, "time", clock)


def test_measuring_goes_on_until_the_time_is_over(monkeypatch):
    use_clock(monkeypatch, Clock())
    measured = measurement.measure(lambda: None, lambda _: 0.0, 3, 0.3, counters=Scripted(),
                                   probe=Quiet())
    # Three readings an iteration: begin, end, and whether the time is over.
    assert 98 <= len(measured.latency) <= 101
    assert measured.latency == [0.001] * len(measured.latency)
    assert measured.warmup_iterations == 6


def test_what_a_busy_neighbour_slowed_is_marked_and_made_up_for(monkeypatch):
    use_clock(monkeypatch, Clock())
    shared = Shared()
    measured = measurement.measure(lambda: None, lambda _: 0.0, 3, 0.15, counters=Scripted(),
                                   probe=shared)
    assert shared.waited >= 1
    slowed = [value for value in measured.slowdown if value == 1.6]
    assert 20 <= len(slowed) < len(measured.slowdown) == len(measured.latency)
    assert measured.slowdown.count(1.0) >= measurement.CLEAN


def test_a_process_that_was_slowed_throughout_knows_it_from_earlier_ones():
    slowed = probe.Probe(known_ns=1)
    assert slowed.slowdown(slowed.read_ns()) > probe.SLOWED
    fresh = probe.Probe()
    assert fresh.slowdown(fresh.read_ns()) == 1
    begin = time.monotonic()
    slowed.await_quiet(0.1)
    assert 0.1 <= time.monotonic() - begin < 2


def test_warm_up_ends_at_25_iterations_if_they_never_agree(monkeypatch):
    clock = Clock()
    use_clock(monkeypatch, clock)
    calls = []

    def unsteady():
        calls.append(0)
        for _ in range(len(calls) % 3):
            clock.perf_counter_ns()

    assert measurement.measure(unsteady, lambda _: 0.0, 3, 0, counters=Scripted(),
                               probe=Quiet()).warmup_iterations == 25


def test_iterations_of_seconds_end_the_warm_up_and_do_not_wait_for_thirty_of_them(monkeypatch):
    clock = Clock()
    use_clock(monkeypatch, clock)
    read_at = []
    monkeypatch.setattr(measurement, "peak_bytes", lambda: read_at.append(len(calls)) or 1)

    def measured(seconds, first=0.0):
        calls.clear()
        read_at.clear()

        def step():
            calls.append(0)
            clock._now += int((seconds +
                               (first if len(calls) == 1 else len(calls) % 3 * 0.1)) * 1e9)

        result = measurement.measure(step, lambda _: 0.0, 10, 2, counters=Scripted(), probe=Quiet())
        return result.warmup_iterations, len(calls), read_at

    calls = []
    assert measured(seconds=5) == (6, 16, [16])
    assert measured(seconds=2) == (11, 21, [16])
    assert measured(seconds=1) == (20, 30, [30])
    # One that compiles for a minute in its first iteration is no slow one.
    assert measured(seconds=0.1, first=60) == (25, 35, [30])


def test_the_leak_slope_leaves_the_warm_up_out():
    warmup_then_flat = [i << 20 for i in range(25)] + [25 << 20] * 2000
    measured = measurement.measure(lambda: None, lambda _: 0.0, 500, 0,
                               counters=Scripted(warmup_then_flat))
    assert measured.leaked_bytes == 0


def test_a_planted_slow_down_takes_its_share_of_an_iteration(monkeypatch):
    clock = Clock()
    use_clock(monkeypatch, clock)

    def step():
        clock._now += 200_000_000

    def latencies(**more):
        measured = measurement.measure(step, lambda _: 0.0, 30, 0, counters=Scripted(),
                                       probe=Quiet(), **more)
        return min(measured.latency), max(measured.latency)

    plain, slowed = latencies(), latencies(slow=0.5)
    assert plain == pytest.approx((0.201, 0.201))
    assert slowed == pytest.approx((0.3015, 0.3015),
                                   abs=0.003)  # readings of the clock take time as well


class Cuda:
    """As much of torch.cuda as the clock uses: work is asynchronous, an event has a time only once
    the device is synchronised, and reading statistics is slow. Every step takes 2 ms and keeps 768
    bytes."""

    def __init__(self):
        self.now = self.held = self.peak = 0
        self.synchronized = True

    def Event(self, enable_timing):
        assert enable_timing
        return CudaEvent(self)

    def launch(self):
        self.now += 2
        self.held += 768
        self.peak = max(self.peak, self.held + 4096)
        self.synchronized = False

    def synchronize(self):
        self.synchronized = True

    def memory_allocated(self):
        time.sleep(0.002)
        return self.held

    def max_memory_allocated(self):
        return self.peak

    def max_memory_reserved(self):
        return 2 << 20


class CudaEvent:
    def __init__(self, cuda):
        self._cuda = cuda

    def record(self):
        self.at = self._cuda.now

    def elapsed_time(self, end):
        assert self._cuda.synchronized
        return end.at - self.at


class Torch:
    def __init__(self):
        self.cuda = Cuda()


def test_a_device_is_timed_by_its_events_and_read_outside_the_iterations():
    torch = Torch()
    clock = device_clock.DeviceClock(torch)
    measured = measurement.measure(clock.around(torch.cuda.launch), lambda output: 1.0, 10, 0,
                                   clock.synchronize, Scripted([50] * 60), Quiet(),
                                   observe=clock.observe)
    metrics = clock.metrics(measured.warmup_iterations)
    assert metrics["cuda_latency"] == [0.002] * len(measured.latency)
    assert metrics["leaked_gpu_memory"] == [768]
    iterations = measured.warmup_iterations + len(measured.latency)
    assert metrics["peak_gpu_memory"] == [768 * iterations + 4096]
    assert metrics["peak_gpu_memory_reserved"] == [2 << 20]
    assert sorted(measured.latency)[len(measured.latency) // 2] < 0.001
