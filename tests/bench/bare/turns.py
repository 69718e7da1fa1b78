"""The loop that a person would write beside the Python harness, in one process and in turns: prints
"ours bare" in seconds, of each turn's last iteration. A turn has two, so that the caches hold what
its own kind left, or one where an iteration is LONG. Used by harness_bench.py: turns.py WORKLOAD
SECONDS. With "peak" for the seconds: the bare loop alone, as many iterations as a run's peak memory
is read after, and VmHWM in bytes. turns.cpp is the same in C++."""

import contextlib
import importlib
import pathlib
import sys
import time


LONG = 0.02  # seconds; refilling caches takes well under a hundredth of it


def ours(loop, iterations):
    for _ in range(iterations):
        loop.iterate()
    return loop.samples(loop.done - 1)[0][0]


def bare(step, iterations):
    for _ in range(iterations - 1):
        step()
    begin = time.perf_counter()
    step()
    return time.perf_counter() - begin


def main():
    sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "runner" / "workloads"))
    import torch
    from harness import definition
    from harness.case import Case
    from harness.protocol import PEAK_AT
    from harness.loop import CAP, Loop
    from harness.probe import Probe
    from harness.process import Counters, peak_bytes
    found = definition.find(sys.argv[1], 1)
    torch.set_num_threads(1)
    with contextlib.redirect_stdout(sys.stderr):  # some models have something to say
        step = importlib.import_module(found.module).make(Case(found, 0))
    if sys.argv[2] == "peak":
        for _ in range(PEAK_AT):
            step()
        print(peak_bytes())
        return
    probe, counters = Probe(), Counters()
    loop = Loop(step, None, counters, probe)
    while not loop.warm():
        loop.iterate()
    turn = 1 if loop.samples(loop.done - 1)[0][0] > LONG else 2
    first, end = True, time.monotonic() + float(sys.argv[2])
    while time.monotonic() < end:
        if loop.done + 2 > CAP:
            loop = Loop(step, None, counters, probe)
        mine = ours(loop, turn) if first else None
        theirs = bare(step, turn)
        print(mine if first else ours(loop, turn), theirs)
        first = not first


if __name__ == "__main__":
    main()
