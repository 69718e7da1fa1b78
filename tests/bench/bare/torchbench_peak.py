"""Peak memory of the loop that TorchBench's user would write: torchbench_peak.py CHECKOUT MODEL TASK ITERATIONS
prints VmHWM in bytes. Used by by_hand/torchbench_bench.py."""

import importlib
import pathlib
import re
import sys


def main():
    checkout, model, task, iterations = sys.argv[1:]
    sys.path.insert(0, checkout)
    import torch
    torch.set_num_threads(1)
    kind = importlib.import_module(f"torchbenchmark.models.{model}").Model
    step = kind(test=task, device="cpu", batch_size=None, extra_args=[]).invoke
    for _ in range(int(iterations)):
        step()
    status = pathlib.Path("/proc/self/status").read_text(encoding="ascii")
    print(int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)[1]) * 1024)


if __name__ == "__main__":
    main()
