"""The three passes of a profile over a warm step: time, work, memory. Each watches alone, so that
its cost does not show in another."""

import statistics
import time
from dataclasses import dataclass

import torch
from torch.autograd.profiler import profile, record_function

from . import blocks, charging, counting, gpu, memory, tree
from .tree import ITERATION, Node


@dataclass
class Times:
    seconds: list  # of each iteration, profiler included
    slowdown: list
    outside: list  # seconds of each in no operator
    rows: dict  # operator: (own seconds, calls), lists by iteration
    device_rows: dict  # operator: device seconds by iteration
    gpu: list  # of each iteration {"active", "moving", "idle"}; empty without a GPU


def recorded(step, synchronize, iterations=1, probe=None, **options):
    """The profile of some iterations, each in a range, and the slowdown beside each.
    torch.profiler's own class is not used: it imports the whole compiler, which takes two
    seconds."""
    slowdown = []
    with profile(use_kineto=True, **options) as result:
        for _ in range(iterations):
            before = probe.read_ns() if probe else 0
            with record_function(ITERATION):
                step()
                if synchronize:
                    synchronize()
            if probe:
                slowdown.append(probe.slowdown(max(before, probe.read_ns())))
    return result.kineto_results, slowdown


def nodes_of(results):
    """The profiler's trees as nodes (operators and ranges only), in seconds since its start."""
    base = results.trace_start_ns()

    def plain(event):
        return Node(
            event.name, (event.start_time_ns - base) * 1e-9, (event.end_time_ns - base) * 1e-9,
            inputs=[(one.sizes, one.dtype)
                    for one in event.extra_fields.inputs
                    if hasattr(one, "sizes")])

    def is_operator(event):
        return "TorchOp" in str(event.tag)

    roots, left = [], [(event, None) for event in results.experimental_event_tree()]
    while left:
        event, parent = left.pop()
        node = plain(event) if is_operator(event) else parent
        if node is not parent:
            (parent.children if parent else roots).append(node)
        left.extend((child, node) for child in event.children)
    return roots


def plain_seconds(step, synchronize, iterations):
    """Seconds of the median iteration without a profiler, to show what profiling costs."""
    seconds = []
    for _ in range(iterations):
        begin = time.perf_counter()
        step()
        if synchronize:
            synchronize()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


def on_device(event):
    return event.device_type() == torch.autograd.DeviceType.CUDA


def time_pass(step, synchronize, iterations, probe, cuda):
    results, slowdown = recorded(step, synchronize, iterations, probe,
                                 use_device="cuda" if cuda else None)
    windows, rows, outside = tree.per_iteration(nodes_of(results))
    device_rows, divided = {}, []
    if cuda:
        kernels = gpu.activities(results.events(), results.trace_start_ns(), on_device)
        device_rows = gpu.device_rows([(name, start, end) for name, _, start, end in kernels],
                                      windows)
        divided = [gpu.divide(window, [(kind, start, end) for _, kind, start, end in kernels])
                   for window in windows]
    return Times([end - start for start, end in windows], slowdown, outside, rows, device_rows,
                 divided)


def work_pass(step, synchronize, device, iterations):
    """Counts of the first iteration by operator, and its matrix products. The other iterations show
    which operators work and which only wait."""
    scale = counting.Scale(device)

    def weighed():
        with scale:
            step()
        scale.iteration += 1
    results, _ = recorded(weighed, synchronize, iterations, record_shapes=True)
    return charging.charge(nodes_of(results), scale.counts), scale.products


def memory_pass(step, synchronize, device, made, beside_kept):
    """Bytes at the peak by part, and who holds what an iteration before this one made.
    `beside_kept`: what memory.beside_kept found before anything was profiled."""
    kept = memory.Kept(device, made, getattr(step, "kept", None))
    handles = memory.watch_gradients(kept.trained)
    try:
        with memory.watch_saved():
            results, _ = recorded(step, synchronize, profile_memory=True)
    finally:
        for handle in handles:
            handle.remove()
    taken, marks, window = [], [], (0, 0)
    left = list(results.experimental_event_tree())
    while left:
        event = left.pop()
        left.extend(event.children)
        if "Allocation" in str(event.tag):
            found = event.extra_fields
            if found.device.type == device and found.ptr:
                taken.append((event.start_time_ns, found.ptr, found.alloc_size))
        elif event.name == ITERATION:
            window = (event.start_time_ns, event.end_time_ns)
        elif event.name.startswith((blocks.GRADIENT, blocks.SAVED)):
            kind, address = event.name.rsplit(":", 1)
            marks.append((kind + ":", event.start_time_ns, int(address)))
    taken = [one for one in taken if window[0] <= one[0] <= window[1]]
    split = blocks.split(kept.parts, blocks.blocks_of(taken), marks)
    own = split["peak"] - sum(kept.parts.values())
    return dict(split, outside_tensors=max(0, beside_kept - own)), kept.holders
