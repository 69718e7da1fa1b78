"""What measuring costs: each workload's step through its harness against a bare loop over the same
step.

Both take turns of some milliseconds in one process, so that they meet the same machine, memory and
code; several processes, so that no one layout decides. A row is `name | ours | comparator | ratio |
bound`, medians of latency in milliseconds; the ratio is the median over the pairs of turns, with
twice its standard error. Then peak memory, medians of processes of their own. Exit status 1 if a
ratio is over its bound by more than its error. """

import functools
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "workloads"))
import programs  # noqa: E402

BOUND, PEAK_BOUND = 1.01, 1.02
SECONDS = 10  # of one process
PRECISE = 0.004  # twice the standard error at which to stop ...
PROCESSES = 3, 6  # ... but for the least and most of these
MODELS = ["dlrm/eval/cpu/fp32/b128/eager", "soft_actor_critic/act/cpu/fp32/b1/eager",
          "resnet18/eval/cpu/fp32/b4/eager"]
# Each block from this size on is mapped by itself, on both sides. Otherwise the order in which
# blocks of a heap are freed decides a peak: one line of Python more moved resnet18's by 2 %.
MAPPED = {"MALLOC_MMAP_THRESHOLD_": str(64 << 10)}


@functools.cache
def bare_native():
    build = programs.ROOT / ".cache" / "bare"
    for command in (["cmake", "-S", programs.WORKLOADS, "-B", build, "-G", "Ninja",
                     f"-DLIBTORCH={programs.libtorch()}"],
                    ["cmake", "--build", build, "--target", "nightjar-native-bare"]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return str(build / "nightjar-native-bare")


def bare_program(name):
    if name.startswith("native/"):
        return [bare_native()]
    return [programs.python(), str(HERE / "bare" / "turns.py")]


def turns(name, seconds=SECONDS):
    core = str(max(os.sched_getaffinity(0)))
    done = subprocess.run(["taskset", "-c", core, *bare_program(name), name,
                           str(seconds)], check=True, capture_output=True, text=True,
                          env=programs.environment())
    return [tuple(map(float, line.split())) for line in done.stdout.splitlines()]


def median_of_ratios(pairs):
    """The median of the pairs' ratios, and twice its standard error by the median absolute
    deviation."""
    ratios = [mine / theirs for mine, theirs in pairs]
    ratio = statistics.median(ratios)
    spread = 1.4826 * statistics.median(abs(r - ratio) for r in ratios)
    return ratio, 2 * 1.25 * spread / len(pairs)**0.5


def compare(name, seconds=SECONDS, processes=PROCESSES, precise=PRECISE):
    """Ours, theirs, their ratio, twice its standard error, and the pairs."""
    pairs, error = [], float("inf")
    for process in range(processes[1]):
        if process >= processes[0] and error <= precise:
            break
        pairs += turns(name, seconds)
        ratio, error = median_of_ratios(pairs)
    return (statistics.median(mine for mine, _ in pairs),
            statistics.median(theirs for _, theirs in pairs), ratio, error, len(pairs))


def peak(name):
    _, messages = programs.answers(programs.command(name), programs.request(name), **MAPPED)
    return programs.result(messages)["metrics"]["peak_cpu_memory"][0]


def bare_peak(name):
    done = subprocess.run([*bare_program(name), name, "peak"], check=True, capture_output=True,
                          text=True, env={**programs.environment(), **MAPPED})
    return int(done.stdout)


def peak_row(name):
    """Prints it, with the range of each side's processes; True if it is over its bound."""
    sides = [sorted(measure(name) for _ in range(PROCESSES[0])) for measure in (peak, bare_peak)]
    ours, bare = map(statistics.median, sides)
    spread = " and ".join(f"{(peaks[-1] - peaks[0]) / 2**20:.1f}" for peaks in sides)
    print(
        f"peak {name} | {ours / 2**20:.1f} MiB | bare loop {bare / 2**20:.1f} MiB | "
        f"{ours / bare:.4f} "
        f"(spread {spread} MiB) | ≤ {PEAK_BOUND}", flush=True)
    return abs(ours / bare - 1) > PEAK_BOUND - 1


def main():
    programs.native(), bare_native()  # nothing compiles while something measures
    print("name | ours | comparator | ratio | bound")
    over = False
    for suite in ("python", "native"):
        for model in MODELS:
            mine, theirs, ratio, error, pairs = compare(f"{suite}/{model}")
            over |= ratio - error > BOUND
            print(
                f"harness {suite}/{model} | {mine * 1e3:.3f} ms | bare loop {theirs * 1e3:.3f} ms "
                "| "
                f"{ratio:.4f} ± {error:.4f} ({pairs} pairs) | ≤ {BOUND}", flush=True)
            over |= peak_row(f"{suite}/{model}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
