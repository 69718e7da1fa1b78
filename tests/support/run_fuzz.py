"""Feeds each target of tests/fuzz with inputs that libFuzzer makes up. Called by tests/run --fuzz.

Starts from the corpus in the tree, and goes on from what earlier runs found (.cache/fuzz). The last
line of its output is `N passed, N failed`, its exit status 0 only if nothing failed."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests/fuzz/corpus"
KEPT = ROOT / ".cache/fuzz"  # inputs that reach more code, by target; `found` has what failed
# What one small input may cost: seconds, and megabytes at once and altogether.
LIMITS = ["-timeout=10", "-malloc_limit_mb=128", "-rss_limit_mb=1024"]
LARGEST_INPUT = 16384  # bytes
SIDE_BY_SIDE = min(2, len(os.sched_getaffinity(0)))


def command(program, target, seconds):
    return [
        program, f"--target={target}", str(KEPT / target), str(CORPUS / target),
        f"-max_total_time={seconds}", f"-max_len={LARGEST_INPUT}", *LIMITS, "-print_final_stats=1",
        f"-artifact_prefix={KEPT}/found/{target}-"]


def last(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def play(program, target, seconds):
    """Whether nothing was found. Prints a line, or all that libFuzzer says of what it found."""
    (KEPT / target).mkdir(parents=True, exist_ok=True)
    done = subprocess.run(command(program, target, seconds), text=True, errors="replace",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    text = done.stdout
    # By edges of the program's graph: what the last input covers, and all that there are.
    line = (f"{target:<20}{last(r'number_of_executed_units: *([0-9]+)', text):>10} inputs"
            f"{last(r'average_exec_per_sec: *([0-9]+)', text):>8} a second"
            f"{last(r'cov: ([0-9]+)', text):>8} edges"
            f"{last(r'peak_rss_mb: *([0-9]+)', text):>6} MB")
    print(line if done.returncode == 0 else f"{line}  FAILED\n{text[-6000:]}", flush=True)
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("targets", nargs="*", help="all without any")
    options = parser.parse_args()
    targets = options.targets or sorted(folder.name for folder in CORPUS.iterdir())
    (KEPT / "found").mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        fine = list(pool.map(lambda one: play(options.program, one, options.seconds), targets))
    print(f"{sum(fine)} passed, {len(fine) - sum(fine)} failed", flush=True)
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
