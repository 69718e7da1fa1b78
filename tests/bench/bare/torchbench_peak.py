"""Peak memory of the loop that TorchBench's user would write: torchbench_peak.py CHECKOUT MODEL
TASK [BATCH] prints VmHWM in bytes after as many iterations as our harness takes. Used by
by_hand/torchbench_bench.py."""

import importlib
import pathlib
import re
import sys
import time


def main():
    checkout, model, task, batch = sys.argv[1:]
    sys.path.insert(0, checkout)
    import torch
    torch.set_num_threads(1)
    sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "runner" / "workloads"))
    from adapters import images
    images.make_torchvision_importable()
    kind = importlib.import_module(f"torchbenchmark.models.{model}").Model
    step = kind(test=task, device="cpu", batch_size=int(batch) if batch else None,
                extra_args=[]).invoke
    step()
    begin = time.monotonic()
    for done in range(2, 31):
        step()
        if done == 16 and time.monotonic() - begin >= 20:
            break
    status = pathlib.Path("/proc/self/status").read_text(encoding="ascii")
    print(int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)[1]) * 1024)


if __name__ == "__main__":
    main()
