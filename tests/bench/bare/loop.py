"""The loop that a person would write: what harness_bench.py compares the Python harness with. Prints
the median latency of 60 iterations in seconds, the first 25 left out."""

import importlib
import pathlib
import statistics
import sys
import time

if __name__ == "__main__" and len(sys.argv) == 2:
    sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "runner" / "workloads" / "python"))
    import torch
    import definition
    from case import Case
    found = definition.find(sys.argv[1], 1)
    torch.set_num_threads(1)
    step = importlib.import_module(f"models.{found.model}").make(Case(found, 0))
    latency = []
    for _ in range(85):
        begin = time.perf_counter()
        step()
        latency.append(time.perf_counter() - begin)
    print(statistics.median(latency[25:]))
