"""The loop that a person would write beside the Python harness, in one process and in turns, so that both
meet the same machine: prints "ours bare" in seconds for each round, each the first decile of 60 iterations."""

import importlib
import pathlib
import sys
import time

ROUNDS = int(sys.argv[2])


def decile(latency):
    return sorted(latency)[len(latency) // 10]


def bare(step):
    latency = []
    for _ in range(70):
        begin = time.perf_counter()
        step()
        latency.append(time.perf_counter() - begin)
    return decile(latency[10:])


def main():
    sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "runner" / "workloads" / "python"))
    import torch
    import definition
    import harness
    from case import Case
    found = definition.find(sys.argv[1], 1)
    torch.set_num_threads(1)
    step = importlib.import_module(f"models.{found.model}").make(Case(found, 0))

    def ours():
        return decile(harness.measure(step, lambda _: 0.0, 60, 0.0).latency[:60])

    ours(), bare(step)
    for i in range(ROUNDS):
        first, second = (ours, lambda: bare(step)) if i % 2 == 0 else (lambda: bare(step), ours)
        pair = [first(), second()]
        print(*(pair if i % 2 == 0 else reversed(pair)), flush=True)


if __name__ == "__main__":
    main()
