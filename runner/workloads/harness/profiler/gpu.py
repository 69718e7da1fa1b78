"""Divides an iteration's time on a GPU, and finds matrix products that do not suit its tensor
cores. Pure."""

from .tree import covered, operator

# Each dimension of a matrix product should be a multiple of this (16 bytes) for full speed on
# tensor cores: NVIDIA, "GPU performance background", 2023.
ALIGNED_TO = {"fp16": 8, "bf16": 8, "int8": 16}
MOST_HINTS = 10


def divide(window, activities):
    """Seconds of a window (start, end) in which a kernel is active, else data move (copies, fills),
    else nothing runs. `activities` are (kind, start, end), with kind "kernel" or "transfer"."""
    begin, end = window
    kernels = [(start, stop) for kind, start, stop in activities if kind == "kernel"]
    active = covered(kernels, begin, end)
    busy = covered([(start, stop) for _, start, stop in activities], begin, end)
    return {"active": active, "moving": busy - active, "idle": end - begin - busy}


def activities(events, base, on_device):
    """(operator, kind, start, end) of each activity of the GPU, in seconds since `base`
    nanoseconds. The operator is the one that started it."""
    operators, ranges, found = {}, set(), []
    for event in events:
        if on_device(event):
            found.append(event)
        elif operator(event.name()):  # CUDA's own calls have ids too, from another counter
            operators[event.correlation_id()] = event.name()
        else:
            ranges.add(event.name())
    # The profiler repeats ranges of the CPU on the GPU, under their names; they are not work.
    return [(operators.get(event.linked_correlation_id(), event.name()), kind_of(event.name()),
             (event.start_ns() - base) * 1e-9, (event.end_ns() - base) * 1e-9)
            for event in found if event.name() not in ranges]


def kind_of(name):
    return "transfer" if name.startswith(("Memcpy", "Memset")) else "kernel"


def misaligned(products):
    """Hints about products (operator, type, (m, n, k), flops) whose dimensions are not such
    multiples, those with most floating-point operations first."""
    hints = {}
    for name, dtype, dimensions, flops in products:
        multiple = ALIGNED_TO.get(dtype)
        if multiple and any(size % multiple for size in dimensions):
            key = (name, dtype, tuple(dimensions))
            hints[key] = hints.get(key, 0) + flops
    ordered = sorted(hints.items(), key=lambda hint: -hint[1])[:MOST_HINTS]
    return [{
        "operator": name, "dtype": dtype, "dimensions": list(dimensions),
        "multiple": ALIGNED_TO[dtype], "flops": flops}
            for (name, dtype, dimensions), flops in ordered]


def device_rows(activities, windows):
    """Device seconds of each operator in each window. `activities` are (operator, start, end)."""
    rows = {}
    for name, start, end in activities:
        for index, (begin, stop) in enumerate(windows):
            if begin <= start < stop:
                rows.setdefault(name, [0.0] * len(windows))[index] += end - start
    return rows
