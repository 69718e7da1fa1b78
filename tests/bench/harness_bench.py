"""What measuring costs: each workload through its harness against a bare loop over the same step.

Processes of both kinds alternate, so that a drift of the machine meets both; the ratio is the median over
the pairs. A row is `name | ours | comparator | ratio | bound`, latencies in milliseconds. Exit status 1 if a
ratio is over its bound and the pairs are quiet enough to say so.
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
PAIRS = int(os.environ.get("NIGHTJAR_BENCH_PAIRS", "9"))
MODELS = ["dlrm/eval/cpu/fp32/b128/eager", "soft_actor_critic/act/cpu/fp32/b1/eager",
          "resnet18/eval/cpu/fp32/b4/eager"]


def pinned(command):
    return ["taskset", "-c", str(max(os.sched_getaffinity(0))), *command]


def ours(name):
    status, messages = programs.answers(pinned(programs.command(name)),
                                        programs.request(name, min_iterations=60))
    assert status == 0 and messages[-1]["event"] == "result", messages[-1]
    return statistics.median(m["latency"] for m in messages if m["event"] == "sample")


def bare(name):
    if name.startswith("native/"):
        program = [str(pathlib.Path(programs.native()).parent / "nightjar-native-bare"), name]
    else:
        program = [programs.python(), str(HERE / "bare" / "loop.py"), name]
    done = subprocess.run(pinned(program), check=True, capture_output=True, text=True,
                          env=programs.environment())
    return float(done.stdout)


def compare(name):
    """Ours, theirs, their ratio and its standard error by the median absolute deviation."""
    pairs = []
    for i in range(PAIRS):
        first, second = (ours, bare) if i % 2 == 0 else (bare, ours)
        both = {first: first(name)}
        both[second] = second(name)
        pairs.append((both[ours], both[bare]))
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
