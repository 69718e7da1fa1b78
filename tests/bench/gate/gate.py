"""The benches of the gate in their short forms: each figure is a ratio to a comparator that ran in
turns with it. One that is below its band twice fails. Called by tests/run --ratios.

    gate.py [--bin FOLDER] [--learn N] [--record]

--learn N  adds N runs to learned.json, which keeps the last 20 of each figure, and judges nothing.
           Nothing else should run on the machine meanwhile
--record   also adds the figures to figures.csv under the commit that is checked out

The last line is `N passed, N failed`."""

import argparse
import csv
import functools
import json
import os
import pathlib
import shlex
import subprocess
import sys

from bands import RUNS, judge

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
LEARNED, FIGURES = HERE / "learned.json", HERE / "figures.csv"
# The programs print these with --ratio. `compile` is measured here.
PROGRAMS = {"ingest_bench": ["ingest", "claim"], "http_bench": ["http_healthz", "http_list"],
            "verdicts_bench": ["search_step"], "simulation": ["simulation"]}
NAMES = [name for names in PROGRAMS.values() for name in names] + ["compile"]
# Compiled with the flags of its room. The comparator needs the same standard headers.
UNIT, FIXED_UNIT = ROOT / "storage/sessions.cpp", HERE / "fixed_unit.cpp"
LONGEST_SECONDS = 120  # of one program


def run_program(path):
    """{name: figure} of one bench; empty, and a line that says why, if it fails."""
    done = subprocess.run([path, "--ratio"], cwd=ROOT, capture_output=True, text=True,
                          timeout=LONGEST_SECONDS)
    if done.returncode:
        print(f"{path} --ratio ended with status {done.returncode}: {done.stderr.strip()}")
        return {}
    return {name: float(figure) for name, figure in map(str.split, done.stdout.splitlines())}


def compiler_command(build):
    """The compiler and flags of the unit's room, without the launcher that remembers results."""
    entries = json.loads((build / "compile_commands.json").read_text())
    room = next(entry for entry in entries if "/nightjar_storage.dir/" in entry["command"])
    words = shlex.split(room["command"])
    compiler = next(i for i, word in enumerate(words) if "++" in os.path.basename(word))
    return [*words[compiler:words.index("-o")], "-o", os.devnull, "-c"]


def cpu_seconds(command, build):
    process = subprocess.Popen(command, cwd=build)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_utime + usage.ru_stime


def compile_ratio(build):
    command = compiler_command(build)
    ours = cpu_seconds([*command, str(UNIT)], build)
    return {"compile": cpu_seconds([*command, str(FIXED_UNIT)], build) / ours}


def measures(folder):
    """{name: call that gives {name: figure}}; a call measures all that its program prints."""
    calls = {name: functools.partial(run_program, str(folder / program))
             for program, names in PROGRAMS.items() for name in names}
    calls["compile"] = functools.partial(compile_ratio, folder.parent)
    return calls


def measure_all(calls):
    figures = {}
    for name in NAMES:
        if name not in figures:
            figures |= calls[name]()
    return figures


def read_history(path):
    with open(path, newline="") as file:
        return [(row["commit"], {name: float(row[name]) for name in row
                                 if name != "commit" and row[name]})
                for row in csv.DictReader(file)]


def write_history(path, history):
    with open(path, "w", newline="") as file:
        rows = csv.DictWriter(file, ["commit", *NAMES], extrasaction="ignore", lineterminator="\n")
        rows.writeheader()
        for commit, figures in history:
            rows.writerow({"commit": commit} | {name: f"{figures[name]:.4g}" for name in figures})


def commit_checked_out():
    """Exits with 2 if what is compiled is not a commit."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True,
                              text=True).stdout.strip()
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", f":!{HERE}")
    if changed:
        print("gate.py: cannot record figures of uncommitted changes; commit them first",
              file=sys.stderr)
        sys.exit(2)
    return git("rev-parse", "--short=8", "HEAD")


def learn(calls, count):
    learned = json.loads(LEARNED.read_text()) if LEARNED.exists() else {}
    for _ in range(count):
        figures = measure_all(calls)
        print(figures, flush=True)
        learned = {name: (learned.get(name, []) + [round(figures[name], 4)])[-RUNS:]
                   for name in NAMES}
        lines = [f'  "{name}": {json.dumps(runs)}' for name, runs in learned.items()]
        LEARNED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def judge_all(figures, calls, learned, history):
    """Prints a line a figure and the count; the exit status."""
    passed = 0
    for name in NAMES:
        well, line = judge(figures.get(name), name, learned, history,
                           lambda: calls[name]().get(name))
        passed += well
        print(line, flush=True)
    print(f"{passed} passed, {len(NAMES) - passed} failed", flush=True)
    return 0 if passed == len(NAMES) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin", type=pathlib.Path)
    parser.add_argument("--learn", type=int, metavar="N")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    calls = measures(ROOT / options.bin)
    if options.learn:
        learn(calls, options.learn)
        return 0
    commit = commit_checked_out() if options.record else None
    figures = measure_all(calls)
    history = read_history(FIGURES)
    if commit:
        write_history(FIGURES, [entry for entry in history if entry[0] != commit] +
                      [(commit, figures)])
    return judge_all(figures, calls, json.loads(LEARNED.read_text()), history)


if __name__ == "__main__":
    sys.exit(main())
