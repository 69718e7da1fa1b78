"""What measuring costs: each workload's step through its harness against a bare loop over the same step.

Both take turns in one process, so that they meet the same machine, memory and code; several processes, so that
no one layout decides. A row is `name | ours | comparator | ratio | bound`, latencies (first deciles) in
milliseconds; the ratio is the median over the rounds, with twice its standard error. Exit status 1 if a ratio
is over its bound by more than that.
"""

import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "workloads"))
import programs  # noqa: E402

BOUND = 1.01
PROCESSES, ROUNDS = 3, 10
MODELS = ["dlrm/eval/cpu/fp32/b128/eager", "soft_actor_critic/act/cpu/fp32/b1/eager",
          "resnet18/eval/cpu/fp32/b4/eager"]


def rounds(name):
    if name.startswith("native/"):
        program = [str(pathlib.Path(programs.native()).parent / "nightjar-native-bare")]
    else:
        program = [programs.python(), str(HERE / "bare" / "loop.py")]
    core = str(max(os.sched_getaffinity(0)))
    done = subprocess.run(["taskset", "-c", core, *program, name, str(ROUNDS)], check=True, capture_output=True,
                          text=True, env=programs.environment())
    return [tuple(map(float, line.split())) for line in done.stdout.splitlines()]


def compare(name):
    """Ours, theirs, their ratio and its standard error by the median absolute deviation."""
    pairs = [pair for _ in range(PROCESSES) for pair in rounds(name)]
    ratios = [mine / theirs for mine, theirs in pairs]
    ratio = statistics.median(ratios)
    spread = 1.4826 * statistics.median(abs(r - ratio) for r in ratios)
    return (statistics.median(mine for mine, _ in pairs),
            statistics.median(theirs for _, theirs in pairs), ratio, 1.25 * spread / len(pairs)**0.5)


def main():
    build = pathlib.Path(programs.native()).parent
    subprocess.run(["cmake", "--build", str(build), "--target", "nightjar-native-bare"], check=True,
                   stdout=subprocess.DEVNULL)
    print("name | ours | comparator | ratio | bound")
    over = False
    for suite in ("python", "native"):
        for model in MODELS:
            mine, theirs, ratio, error = compare(f"{suite}/{model}")
            over |= ratio - 2 * error > BOUND
            print(f"harness {suite}/{model} | {mine * 1e3:.3f} ms | bare loop {theirs * 1e3:.3f} ms | "
                  f"{ratio:.4f} ± {2 * error:.4f} | ≤ {BOUND}", flush=True)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
