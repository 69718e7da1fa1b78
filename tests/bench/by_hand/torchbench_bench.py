"""TorchBench's models through the harness against a bare loop over the same model: latency in turns in one process
(as harness_bench.py does), and peak memory of a process of each. NIGHTJAR_TORCHBENCH names a checkout and
NIGHTJAR_PYTHON a Python that has psutil and pyyaml; without a checkout nothing is compared. Exit status 1 if
a ratio is over its bound.
"""

import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "workloads")]
import harness_bench  # noqa: E402
import programs  # noqa: E402

BOUND = 1.02
PEAK_AT = 30  # iterations, as the harness
NAMES = ["torchbench/lennard_jones/train/cpu/fp32/b1000/eager", "torchbench/lennard_jones/eval/cpu/fp32/b1000/eager",
         "torchbench/tts_angular/eval/cpu/fp32/b64/eager", "torchbench/phlippe_resnet/eval/cpu/fp32/b128/eager"]


def bare_peak(checkout, name):
    _, model, task, *_ = name.split("/")
    done = subprocess.run([programs.python(), str(HERE / "bare" / "torchbench_peak.py"), checkout, model, task,
                           str(PEAK_AT)], check=True, capture_output=True, text=True, env=programs.environment())
    return int(done.stdout.split()[-1])


def peak(name):
    return programs.result(programs.run(name))["metrics"]["peak_cpu_memory"][0]


def main():
    checkout = os.environ.get("NIGHTJAR_TORCHBENCH")
    if not checkout:
        print("no comparison: NIGHTJAR_TORCHBENCH names no checkout of TorchBench")
        return 0
    print("name | ours | comparator | ratio | bound")
    over = False
    for name in NAMES:
        mine, theirs, ratio, error, pairs = harness_bench.compare(name)
        over |= abs(ratio - 1) - error > BOUND - 1
        print(f"latency {name} | {mine * 1e3:.3f} ms | bare loop {theirs * 1e3:.3f} ms | {ratio:.4f} ± {error:.4f} "
              f"({pairs} pairs) | within 2 %", flush=True)
        mine, theirs = (statistics.median(run() for _ in range(3))
                        for run in (lambda: peak(name), lambda: bare_peak(checkout, name)))
        over |= abs(mine / theirs - 1) > BOUND - 1
        print(f"peak memory {name} | {mine / 2**20:.1f} MiB | bare loop {theirs / 2**20:.1f} MiB | "
              f"{mine / theirs:.4f} | within 2 %", flush=True)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
