"""Charges the counts of a call to an operator. A call goes through several operators, and one of
them does the work."""

import statistics
from collections import Counter

from . import fused
from .count import Count
from .tree import MARK, operator, walk

CALL = MARK + "call:"  # a range around each call, with its iteration, its index and its name
ALLOCATES = {
    "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize_", "set_",
    "_unsafe_view"}


def marked(roots):
    """For each call that a Scale marked: its iteration, its index there, its name, and the
    operators behind it."""
    for node in walk(roots):
        if node.name.startswith(CALL):
            iteration, index, func = node.name[len(CALL):].split(":")
            yield int(iteration), int(index), func, [
                inner for inner in walk(node.children) if operator(inner.name)]


def charge(roots, counts):
    """Counts by operator. A call is charged to the operator behind it with most time of its own
    over all such calls. That time is the median iteration's, since any operator seems slow when
    another process takes the core. A call that holds many kernels is charged to each of them by the
    shapes that the profiler saw."""
    rows, spent, weighed = {}, {}, []
    for iteration, index, func, behind in marked(roots):
        if func in fused.CALLS:
            for inner in behind if iteration == 0 else ():
                rows.setdefault(inner.name, Count()).add(fused.count(inner))
            continue
        names = frozenset(inner.name for inner in behind if not allocates(inner.name))
        names = names or frozenset([f"aten::{func}"])
        seconds = spent.setdefault((func, names), {}).setdefault(iteration, Counter())
        for inner in behind:
            seconds[inner.name] += inner.own()
        if iteration == 0:
            weighed.append(((func, names), counts[index]))
    works = {kind: busiest(kind[1], iterations.values()) for kind, iterations in spent.items()}
    for kind, count in weighed:
        rows.setdefault(works[kind], Count()).add(count)
    return rows


def busiest(names, iterations):
    return max(sorted(names),
               key=lambda name: statistics.median(seconds[name] for seconds in iterations))


def allocates(name):
    return name.removeprefix("aten::") in ALLOCATES
