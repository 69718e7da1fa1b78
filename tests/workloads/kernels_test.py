"""The time of a device's kernels, read from traces of the shape that CUPTI's have, and from real
ones of the CPU to which launches and kernels are added."""

import json
import pathlib

import pytest
import programs

programs.put_suite_on_path()
from harness import kernels  # noqa: E402  (pure: no torch)

TRACE = (pathlib.Path(__file__).parent / "data" / "kernels.json").read_text(encoding="utf-8")


def changed(change):
    """The trace after `change(events)`, which may give other events."""
    trace = json.loads(TRACE)
    trace["traceEvents"] = change(trace["traceEvents"]) or trace["traceEvents"]
    return json.dumps(trace)


def without(**fields):
    return lambda events: [e for e in events if any(e.get(k) != v for k, v in fields.items())]


def test_the_kernels_of_each_iteration_are_summed_and_copies_are_not():
    assert kernels.kernel_seconds(TRACE, 3) == pytest.approx([45.376e-6, 45.536e-6, 45.280e-6],
                                                             abs=1e-12)


def test_a_kernel_belongs_to_the_iteration_that_launched_it():
    """The second one's clock is behind, so it starts before its range."""
    def late(events):
        for event in events:
            if event.get("cat") == "kernel":
                event["ts"] += 5000
    assert kernels.kernel_seconds(changed(late), 3) == kernels.kernel_seconds(TRACE, 3)


def test_without_its_launch_a_kernel_is_found_by_its_own_time():
    launches = without(name="cuLaunchKernelEx")
    assert kernels.kernel_seconds(changed(launches), 3) == kernels.kernel_seconds(TRACE, 3)
    launches = without(name="cudaLaunchKernel")
    with pytest.raises(kernels.BadTrace, match="a kernel was launched in no iteration"):
        kernels.kernel_seconds(changed(launches), 3)


def set_in_kernels(name, value):
    def change(events):
        for event in events:
            if event.get("cat") == "kernel":
                event[name] = value
    return change


def no_kernel_in_the_second(events):
    """The last iteration's are left, as after a buffer that was full."""
    begin = events[0]["ts"]
    return [e for e in events if e.get("cat") != "kernel" or not 1000 < e["ts"] - begin < 2000]


@pytest.mark.parametrize("text,reason", [
    ("{", "no JSON"),
    ("[]", "no list of events"),
    ('{"traceEvents": [3]}', "no list of events"),
    (changed(without(cat="kernel")), "the trace has no kernel"),
    (changed(without(name="nightjar::iteration")), "0 iterations, not 3"),
    (changed(set_in_kernels("dur", -1)), "kind kernel has no 'dur'"),
    (changed(set_in_kernels("dur", "41.5")), "kind kernel has no 'dur'"),
    (changed(set_in_kernels("ts", None)), "kind kernel has no 'ts'"),
    (changed(no_kernel_in_the_second), "iteration 2 of the trace has no kernel"),
])
def test_a_trace_that_is_not_whole_gives_no_time(text, reason):
    with pytest.raises(kernels.BadTrace, match=reason):
        kernels.kernel_seconds(text, 3)
