"""The profiler's events as plain nodes: each operator's own time, and the time in no operator.
Pure; times are in seconds."""

import bisect
from dataclasses import dataclass, field

MARK = "nightjar::"  # begins our own ranges
ITERATION = MARK + "iteration"
COMPILED = "compiled graph"  # one row for all operators that a compiler merged


@dataclass
class Node:
    name: str
    start: float
    end: float
    children: list = field(default_factory=list)  # nodes of the same thread that lie within
    inputs: list = field(
        default_factory=list)  # (sizes, type) of tensors, where shapes were recorded

    def own(self):
        """Seconds in this node but in no operator that it calls. A range within an operator is part
        of it."""
        called = sum(inner.end - inner.start for inner in top_operators(self.children))
        return max(0.0, self.end - self.start - called)


def walk(nodes):
    """All nodes, each parent before its children. Not recursive, since autograd nests deeply."""
    left = list(reversed(nodes))
    while left:
        node = left.pop()
        yield node
        left.extend(reversed(node.children))


def operator(name):
    """The row of a node: an operator's name, COMPILED, or None for ranges around operators (the
    autograd engine's, an optimizer's and our own)."""
    if name.startswith(("## Call CompiledFxGraph", "Torch-Compiled Region", "CompiledFunction")):
        return COMPILED
    if "::" not in name or " " in name or name.startswith(
        (MARK, "autograd::", "torch::autograd::")):
        return None
    return name


def top_operators(nodes):
    """Operators that no other operator called."""
    left = list(nodes)
    while left:
        node = left.pop()
        if operator(node.name):
            yield node
        else:
            left.extend(node.children)


def covered(spans, begin, end):
    """Time within [begin, end] that at least one of the spans (start, end) covers."""
    total, reached = 0.0, begin
    for start, stop in sorted(spans):
        start, stop = max(start, reached), min(stop, end)
        if stop > start:
            total += stop - start
            reached = stop
    return total


def per_iteration(roots):
    """(windows, rows, outside). Windows are (start, end) of each iteration. Rows hold each
    operator's own seconds and calls by iteration. Outside are each iteration's seconds in which no
    operator ran on any thread."""
    windows = sorted((node.start, node.end) for node in walk(roots) if node.name == ITERATION)
    begins = [start for start, _ in windows]

    def index_of(node):
        index = bisect.bisect_right(begins, node.start) - 1
        return index if index >= 0 and node.start <= windows[index][1] else None

    rows = {}
    for node in walk(roots):
        name, index = operator(node.name), index_of(node)
        if name is None or index is None:
            continue
        own, calls = rows.setdefault(name, ([0.0] * len(windows), [0] * len(windows)))
        own[index] += node.own()
        calls[index] += 1
    spans = [[] for _ in windows]
    for node in top_operators(roots):
        if (index := index_of(node)) is not None:
            spans[index].append((node.start, node.end))
    outside = [end - start - covered(inside, start, end)
               for (start, end), inside in zip(windows, spans)]
    return windows, rows, outside
