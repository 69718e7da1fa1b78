"""Profiles one workload: `run_profile.py < request`, with the requests and errors of run.py. After
`ready` comes one event `profile`, which docs/profiles.md describes. `min_iterations` are
profiled."""

import statistics
import sys
import time

import run

PLAIN = 5  # iterations without a profiler, for its overhead
LONGEST = 5.0  # seconds that warm-up and each timed pass take at most, once ...
LEAST = 3  # ... this many iterations are done


def profiled(channel, request, found, torch, model):
    from harness.loop import Loop
    from harness.probe import Probe
    from harness.process import Counters
    from harness.profiler import memory, passes
    case, step, synchronize = run.prepare(torch, model, request, found)
    made = memory.Made()
    probe = Probe(int(request.fastest_probe * 1e9))
    loop = Loop(step, synchronize, Counters(), probe)
    begin = time.perf_counter()
    while not loop.warm() and (loop.done < LEAST or time.perf_counter() - begin < LONGEST):
        loop.iterate()
    cuda = found.device == "cuda"
    slow = statistics.median(loop.samples(1)[0])
    fits = max(LEAST, int(LONGEST / slow))
    plain, weighed = slow, 1
    beside_kept = memory.beside_kept(step, synchronize, found.device, made)
    if fits > PLAIN:
        weighed = LEAST
        plain = passes.plain_seconds(step, synchronize, PLAIN)
        passes.time_pass(step, synchronize, 1, probe,
                         cuda)  # a profiler's first iteration makes its own memory
    times = passes.time_pass(step, synchronize, min(request.min_iterations, fits), probe, cuda)
    work, products = passes.work_pass(step, synchronize, found.device, weighed)
    split, holders, reason = memory_of(passes, step, synchronize, found.device, made, beside_kept)
    channel.send("profile", plain_seconds=plain, iteration_seconds=times.seconds,
                 slowdown=times.slowdown, outside_seconds=times.outside,
                 operators=rows(times, work), memory=split and dict(split, holders=holders),
                 memory_reason=reason, gpu=times.gpu,
                 hints=passes.gpu.hints(products) if cuda else [],
                 fastest_probe=loop.fastest_probe())


def rows(times, work):
    """One row for each operator: its times and its counts. One without times was replaced by a
    compiled graph."""
    from harness.profiler import flops
    zeros = [0.0] * len(times.seconds)
    table = []
    worked = [name for name, count in work.items() if count.flops or count.bytes or count.unknown]
    for name in sorted({*times.rows, *times.device_rows, *worked}):
        own, calls = times.rows.get(name, (zeros, [0] * len(zeros)))
        count = work.get(name)
        table.append({
            "name": name, "self_seconds": own, "calls": sorted(calls)[len(calls) // 2],
            "device_seconds": times.device_rows.get(name, zeros),
            "flops": count.flops if count else 0, "bytes": count.bytes if count else 0,
            "unknown": count.unknown if count else 0, "dtype": count.dtype() if count else None,
            "class": (count and count.kind) or flops.kind_of_row(name)})
    return table


def memory_of(passes, step, synchronize, device, made, beside_kept):
    """The split of memory and who holds what stays, or None and why. Some compiled steps do not let
    their saved tensors be watched."""
    try:
        return *passes.memory_pass(step, synchronize, device, made, beside_kept), None
    except Exception as error:  # the rest of the profile is good without it
        return None, {}, run.judge(error)[1]


if __name__ == "__main__":
    sys.exit(run.main(profiled))
