"""How an iteration's time divides on a GPU, and which matrix products miss its tensor cores. Pure."""

from .tree import covered, operator

# Tensor cores want each dimension of a matrix product to be a multiple of so many (16 bytes):
# NVIDIA, "GPU performance background", 2023.
ALIGNED_TO = {"fp16": 8, "bf16": 8, "int8": 16}
MOST_HINTS = 10


def divide(window, activities):
    """Seconds of a window (start, end): some kernel active; else data moved (copies, fills); else idle.
    `activities` are (kind, start, end), kind "kernel" or "transfer"."""
    begin, end = window
    kernels = [(start, stop) for kind, start, stop in activities if kind == "kernel"]
    active = covered(kernels, begin, end)
    busy = covered([(start, stop) for _, start, stop in activities], begin, end)
    return {"active": active, "moving": busy - active, "idle": end - begin - busy}


def activities(events, base, on_device):
    """(operator that started it, kind, start, end) of all that a GPU did, in seconds since `base` nanoseconds."""
    operators, ranges, found = {}, set(), []
    for event in events:
        if on_device(event):
            found.append(event)
        elif operator(event.name()):  # calls of CUDA itself have numbers too, of another count
            operators[event.correlation_id()] = event.name()
        else:
            ranges.add(event.name())
    # Ranges of the CPU are shown on the GPU again, under their names: no work of its own.
    return [(operators.get(event.linked_correlation_id(), event.name()), kind_of(event.name()),
             (event.start_ns() - base) * 1e-9, (event.end_ns() - base) * 1e-9)
            for event in found if event.name() not in ranges]


def kind_of(name):
    return "transfer" if name.startswith(("Memcpy", "Memset")) else "kernel"


def misaligned(products):
    """Hints about products (operator, type, (m, n, k), flops) with dimensions that are no multiples,
    those with most floating-point operations first."""
    hints = {}
    for name, dtype, dimensions, flops in products:
        multiple = ALIGNED_TO.get(dtype)
        if multiple and any(size % multiple for size in dimensions):
            key = (name, dtype, tuple(dimensions))
            hints[key] = hints.get(key, 0) + flops
    ordered = sorted(hints.items(), key=lambda hint: -hint[1])[:MOST_HINTS]
    return [{"operator": name, "dtype": dtype, "dimensions": list(dimensions), "multiple": ALIGNED_TO[dtype],
             "flops": flops} for (name, dtype, dimensions), flops in ordered]


def device_rows(activities, windows):
    """Device seconds of each operator, one an iteration; `activities` are (operator, start, end)."""
    rows = {}
    for name, start, end in activities:
        for index, (begin, stop) in enumerate(windows):
            if begin <= start < stop:
                rows.setdefault(name, [0.0] * len(windows))[index] += end - start
    return rows
