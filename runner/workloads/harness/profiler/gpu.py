"""Divides an iteration's time on a GPU, and finds matrix products that do not suit its tensor
cores. Pure."""

from dataclasses import dataclass

from .tree import covered, operator

# Each dimension of a matrix product, and the channels of a convolution, should be a multiple of
# this (16 bytes) for full speed on tensor cores. A result is computed in tiles, and what a tile at
# an edge has too much is work for nothing. NVIDIA, "Matrix multiplication background" and
# "Convolutional layers", 2023.
ALIGNED_TO = {"fp16": 8, "bf16": 8, "int8": 16, "tf32": 4, "fp64": 2}
TILE = 128  # rows and columns; cuBLAS's and cuDNN's most efficient tiles are of 128 and 256
WASTED = 0.2  # of the tiles, from which on it is worth a hint
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


@dataclass(frozen=True)
class Product:
    """A matrix product, or a convolution as one: `dimensions` are (m, n, k) of it. `aligned` are
    the sizes that tensor cores want multiples of; of a convolution its channels."""
    operator: str
    dtype: str  # "tf32" is fp32 where that is allowed
    dimensions: tuple
    flops: int
    aligned: tuple = ()  # empty: the dimensions
    layout: str = ""  # of a convolution, "NCHW" or "NHWC"

    def complaints(self):
        """(kind, multiple) of each reason why it misses the full speed of tensor cores."""
        multiple = ALIGNED_TO.get(self.dtype)
        if self.dtype == "fp32":
            yield "precision", 0
        if multiple and any(size % multiple for size in self.aligned or self.dimensions):
            yield "alignment", multiple
        if multiple and self.layout == "NCHW" and self.dtype != "fp64":
            yield "layout", 0
        if multiple and self.wasted() >= WASTED:
            yield "tile", TILE

    def wasted(self):
        """The share of the result's tiles that is computed for nothing. A result smaller than one
        tile has too little work in any case."""
        m, n, _ = self.dimensions
        if min(m, n) < TILE:
            return 0.0
        return 1 - m * n / (-(-m // TILE) * -(-n // TILE) * TILE**2)


def hints(products):
    """What keeps products from tensor cores at full speed, those with most floating-point
    operations first."""
    found = {}
    for one in products:
        for complaint in one.complaints():
            key = (one.operator, one.dtype, tuple(one.dimensions), *complaint)
            found[key] = found.get(key, 0) + one.flops
    ordered = sorted(found.items(), key=lambda hint: -hint[1])[:MOST_HINTS]
    return [{
        "operator": name, "dtype": dtype, "dimensions": list(dimensions), "kind": kind,
        "multiple": multiple, "flops": flops}
            for (name, dtype, dimensions, kind, multiple), flops in ordered]


def device_rows(activities, windows):
    """Device seconds of each operator in each window. `activities` are (operator, start, end)."""
    rows = {}
    for name, start, end in activities:
        for index, (begin, stop) in enumerate(windows):
            if begin <= start < stop:
                rows.setdefault(name, [0.0] * len(windows))[index] += end - start
    return rows
