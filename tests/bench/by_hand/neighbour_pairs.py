"""A real neighbour on another core: what it does to pairs of runs of one build, and to the screen.

    tests/bench/by_hand/neighbour_pairs.py [--sessions N] [--workload NAME] [--keep FILE]

Each session is that of a screening: the control workload, twenty runs, the control workload.
All of them keep to CPU 0. The neighbour keeps to CPU 1 and copies memory, or compiles, or there is
none; which it is changes from session to session, by a fixed seed. The build is the same all the
time, so whatever is found is false.

- Pairs: runs 0 1, 3 2, 4 5 ... are of the sides A and B, as a confirmation interleaves them. The
  sessions of one kind in blocks of two are 20 pairs, less what has no value, which the
  confirmation's rule judges.
- Nights: each session is held against the 14 before it, as measured and with what the control said.
  The first five runs are the night's.

--keep writes what was measured, and judges that file if it is there already. 20 sessions of each
kind take 20 minutes. Needs two CPUs that nothing else uses.
"""

import argparse
import ctypes
import json
import math
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support/history"))
from judge import Judge  # noqa: E402

RUNNER = pathlib.Path(os.environ.get("NIGHTJAR_BIN", ROOT / "build/bin")) / "nightjar-runner"
WORKLOAD = "native/autoencoder/eval/cpu/fp32/b16/eager"
RUNS, NIGHT_RUNS, NIGHTS, BLOCK = 20, 5, 14, 2
PROGRAM = ("#include <map>\n#include <regex>\nint main(int argc, char**) {"
           "std::map<int, std::regex> all; return argc + all.size(); }\n")


def copy_memory():
    library, size = ctypes.CDLL(None), 256 << 20
    one, other = ctypes.create_string_buffer(size), ctypes.create_string_buffer(size)
    while True:
        library.memcpy(other, one, size)


def compile_again():
    while True:
        subprocess.run(["g++", "-O2", "-x", "c++", "-", "-o", "/dev/null"], input=PROGRAM,
                       text=True, check=True)


NEIGHBOURS = {"quiet": None, "copies memory": copy_memory, "compiles": compile_again}


class Neighbour:
    """On CPU 1 while this block runs."""

    def __init__(self, kind):
        self._work = NEIGHBOURS[kind]
        self._process = None

    def __enter__(self):
        if self._work:
            self._process = os.fork()
            if self._process == 0:
                os.setsid()
                os.sched_setaffinity(0, {1})
                self._work()
            time.sleep(1)

    def __exit__(self, *_):
        if self._process:
            os.killpg(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)


def on_first_cpu():
    os.sched_setaffinity(0, {0})


def control():
    """The control's location in seconds: the first decile, as of all latencies."""
    read, write = os.pipe()
    process = subprocess.Popen(["bash", "-c", f'exec "{RUNNER}" control 3>&{write}'], text=True,
                               stdin=subprocess.PIPE, pass_fds=[write], preexec_fn=on_first_cpu)
    os.close(write)
    process.stdin.write('{"workload": "control"}')
    process.stdin.close()
    with os.fdopen(read) as answers:
        events = [json.loads(line) for line in answers]
    if process.wait() != 0:
        sys.exit("the control workload failed")
    latencies = sorted(e["latency"] for e in events if e["event"] == "sample")
    return latencies[len(latencies) // 10]


def runs(workload):
    done = subprocess.run([RUNNER, "measure", workload, "--runs", str(RUNS), "--seconds", "0.2",
                           "--json"], capture_output=True, text=True, preexec_fn=on_first_cpu)
    if done.returncode != 0:
        sys.exit(f"{workload} was not measured:\n{done.stderr}")
    (item, ) = json.loads(done.stdout)["items"]
    return item["metrics"]["latency"]["values"]


def measure(workload, count):
    kinds = [kind for kind in NEIGHBOURS for _ in range(count)]
    random.Random(3).shuffle(kinds)
    sessions = []
    for i, kind in enumerate(kinds):
        with Neighbour(kind):
            first = control()
            values = runs(workload)
            sessions.append({"neighbour": kind, "control": [first, control()], "runs": values})
        print(f"\r{i + 1} of {len(kinds)} sessions", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return sessions


def measured(session):
    """Its runs that have a latency: one without an undisturbed iteration has none."""
    return [value for value in session["runs"] if value is not None]


def sides(session):
    """The runs of A and those of B, in turns: A B, B A, ..."""
    values = session["runs"]
    pairs = [(values[i], values[i + 1])[::1 if i % 4 == 0 else -1] for i in range(0, RUNS, 2)]
    return zip(*[pair for pair in pairs if None not in pair])


def numbered(values):
    return {"values": values, "runs": list(range(1, len(values) + 1))}


def confirmed(judge, a, b):
    """What the confirmation's rule says, asked at each of its rungs."""
    want = 5
    while True:
        said = judge.ask("confirmation", metric="latency", good=numbered(a[:want]),
                         bad=numbered(b[:want]))
        if not said["more"] or said["more"] > len(a):
            return said
        want = said["more"]


def spread(values):
    logs = [math.log(v) for v in values]
    mean = sum(logs) / len(logs)
    return math.sqrt(sum((x - mean) ** 2 for x in logs) / (len(logs) - 1))


def tell_pairs(judge, sessions):
    print("| neighbour | pairs | scatter of runs in a session | level beside the quiet machine | "
          "blocks of 20 pairs | A and B differ by, at most | worse or better |\n"
          "|---|---|---|---|---|---|---|")
    quiet = sorted(v for s in sessions if s["neighbour"] == "quiet" for v in measured(s))
    for kind in NEIGHBOURS:
        some = [s for s in sessions if s["neighbour"] == kind]
        scatter = math.sqrt(sum(spread(measured(s)) ** 2 for s in some) / len(some))
        values = sorted(v for s in some for v in measured(s))
        level = values[len(values) // 2] / quiet[len(quiet) // 2] - 1
        largest = found = blocks = 0
        for at in range(0, len(some) - BLOCK + 1, BLOCK):
            a, b = [], []
            for session in some[at:at + BLOCK]:
                first, second = sides(session)
                a += first
                b += second
            said = confirmed(judge, a, b)["evidence"]
            blocks += 1
            largest = max(largest, abs(math.log(said["ratio"])))
            found += said["verdict"] in ("worse", "better")
        print(f"| {kind} | {len(some) * RUNS // 2} | {scatter:.1%} | {level:+.1%} | {blocks} | "
              f"{largest:.1%} | {found} |")


def tell_nights(judge, sessions, reads_control):
    """Suspicions and unclear nights by neighbour; every one is false."""
    levels, before = [], []
    found = {kind: [0, 0, 0, 0] for kind in NEIGHBOURS}
    for session in sessions:
        asked = {"metric": "latency", "levels": levels[:NIGHTS],
                 "tonight": numbered(measured(session)[:NIGHT_RUNS])}
        said = judge.ask("screening", **asked, control={"runs": session["control"],
                                                        "before": before[-NIGHTS:]})
        before.append({"location": math.sqrt(math.prod(session["control"])),
                       "within": said["controls"][0]["within"]})
        if not reads_control:
            said = judge.ask("screening", **asked)
        count = found[session["neighbour"]]
        count[0] += 1
        for column, verdict in enumerate(("suspect_worse", "suspect_better", "unclear"), 1):
            count[column] += said["verdict"] == verdict
        if said["verdict"] in ("first_night", "same", "suspect_better"):
            levels.insert(0, said["level"])
    for kind, counts in found.items():
        name = kind if reads_control else f"{kind}, control not read"
        print(f"| {name} | {' | '.join(map(str, counts))} |")


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--sessions", type=int, default=20, help="of each kind of neighbour")
    options.add_argument("--workload", default=WORKLOAD)
    options.add_argument("--keep", type=pathlib.Path, help="what was measured, as JSON")
    asked = options.parse_args()
    if asked.keep and asked.keep.exists():
        sessions = json.loads(asked.keep.read_text())
    else:
        sessions = measure(asked.workload, asked.sessions)
        if asked.keep:
            asked.keep.write_text(json.dumps(sessions))
    judge = Judge()
    tell_pairs(judge, sessions)
    print("\n| nights with | nights | seems worse | seems better | unclear |\n"
          "|---|---|---|---|---|")
    for reads_control in (False, True):
        tell_nights(judge, sessions, reads_control)
    judge.close()


if __name__ == "__main__":
    main()
