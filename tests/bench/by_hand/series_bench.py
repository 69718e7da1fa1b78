"""Steps in series: `nightjar detect` beside Apache Otava and PELT, on the same series.

    pip install apache-otava ruptures
    python tests/bench/by_hand/series_bench.py [--series N] [--seed S] [--labelled FOLDER]
        [--write FILE]

Drawn series have levels of 6 or more positions (half of the series also short ones), a CV of .5 to
2 % and steps of 10 to 140 % up or down. A step is found by a change within two positions of it; any
other change of at least 7 % is false. PELT has absolute deviations of logs, a least level of 5 and
the penalty 4.5 robust sd x log n. The sd is that of differences between neighbours. FOLDER: the
series of SAP's data set as `NNNN.csv`, and `labels.csv` (series,kind,change_position). FILE: the
document whose figures are to be these."""

import argparse
import csv
import json
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys

import numpy
import ruptures
from otava.analysis import compute_change_points

ROOT = pathlib.Path(__file__).resolve().parents[3]
BIN = pathlib.Path(os.environ.get("NIGHTJAR_BIN", ROOT / "build/bin"))
LEAST = math.log(1.07)
NEAR = 2  # positions


def nightjar(values):
    text = "position,value\n" + "".join(f"{i},{v!r}\n" for i, v in enumerate(values))
    done = subprocess.run([BIN / "nightjar", "detect", "-", "--json"], input=text, check=True,
                          capture_output=True, text=True)
    return [change["position"] for change in json.loads(done.stdout)["changes"]]


def large(logs, splits):
    """The splits whose two levels differ by the threshold."""
    ends = [0, *splits, len(logs)]
    return [ends[i] for i in range(1, len(ends) - 1)
            if abs(statistics.median(logs[ends[i]:ends[i + 1]]) -
                   statistics.median(logs[ends[i - 1]:ends[i]])) >= LEAST]


def otava(values):
    """With its defaults. Some series have one change in two windows, on which 0.8 fails: these get
    one window."""
    try:
        found, _ = compute_change_points(values, window_len=50, max_pvalue=.001)
    except ValueError:
        found, _ = compute_change_points(values, window_len=2 * len(values), max_pvalue=.001)
    return large([math.log(v) for v in values], sorted(point.index for point in found))


def pelt(values):
    logs = [math.log(v) for v in values]
    steps = [abs(b - a) for a, b in zip(logs, logs[1:])]
    sd = 1.4826 * statistics.median(steps) / math.sqrt(2)
    if sd <= 0 or len(logs) < 10:
        return []
    ends = ruptures.Pelt(model="l1", min_size=5, jump=1).fit(numpy.array(logs)).predict(
        pen=4.5 * sd * math.log(len(logs)))
    return large(logs, ends[:-1])


DETECTORS = {"Apache Otava 0.8": otava, "PELT, plain penalty": pelt,
             "**`nightjar detect`**": nightjar}


def drawn(noise):
    values, steps, level, cv = [], [], 100, noise.uniform(.005, .02)
    short = noise.random() < .5
    for i in range(noise.randint(2, 5)):
        if i:
            step = 1 + math.exp(noise.uniform(math.log(.1), math.log(1.4)))
            level *= step if noise.random() < .5 else 1 / step
            steps.append(len(values))
        longest = 13 if short and noise.random() < .5 else 40
        values += [level * noise.lognormvariate(0, cv) for _ in range(noise.randint(6, longest))]
    return values, steps


def rounded(noise):
    values, steps = drawn(noise)
    return [round(value) for value in values], steps


def repaired(noise):
    """A regression that is repaired after 6 to 13 positions."""
    cv, begin, length = noise.uniform(.005, .02), noise.randint(15, 40), noise.randint(6, 13)
    step = noise.uniform(1.1, 2.4)
    values = [100 * (step if begin <= i < begin + length else 1) * noise.lognormvariate(0, cv)
              for i in range(begin + length + noise.randint(6, 40))]
    return values, [begin, begin + length]


def weak_neighbour(noise):
    """A large step beside one of 10 to 20 %, with five to eight positions in between."""
    cv, first, middle = noise.uniform(.005, .02), noise.randint(6, 30), noise.randint(5, 8)
    levels = [100] * first + [240 / 3] * middle + [240 / 3 * noise.uniform(1.1, 1.2)] * 20
    levels = [240] * 14 + levels if noise.random() < .5 else levels
    steps = [i for i in range(1, len(levels)) if levels[i] != levels[i - 1]]
    return [level * noise.lognormvariate(0, cv) for level in levels], steps


def flat(noise):
    cv = noise.uniform(.005, .05)
    return [100 * noise.lognormvariate(0, cv) for _ in range(noise.randint(16, 200))], []


WORLDS = {"levels of 6 or more positions": drawn, "the same, rounded to 1 %": rounded,
          "a regression that is repaired": repaired, "a weak step beside a strong one":
          weak_neighbour, "flat": flat}


def matched(found, steps):
    left, hits = list(found), 0
    for step in steps:
        near = [at for at in left if abs(at - step) <= NEAR]
        if near:
            left.remove(min(near, key=lambda at: abs(at - step)))
            hits += 1
    return hits, len(left)


def labelled(folder):
    """Medians of each position, and where the new level begins."""
    for row in csv.DictReader((folder / "labels.csv").open()):
        runs = {}
        for position, value in list(csv.reader((folder / f"{row['series']}.csv").open()))[1:]:
            runs.setdefault(float(position), []).append(float(value))
        at = row["change_position"]
        yield ([statistics.median(runs[i]) for i in sorted(runs)],
               [sum(i < float(at) for i in runs)] if at else [])


def row(name, world):
    cells = []
    for detect in DETECTORS.values():
        steps = hits = false = 0
        for values, truth in world:
            here, wrong = matched(detect(values), truth)
            steps, hits, false = steps + len(truth), hits + here, false + wrong
        found = f"{hits} of {steps} ({hits / steps:.3f})" if steps else "-"
        cells.append(f"{found}; {false / len(world):.3f}")
    line = f"| {name} | {len(world)} | " + " | ".join(cells) + " |"
    print(line, flush=True)
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--labelled", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    lines = ["Steps in series that were found, and false changes a series:", "",
             "| series | how many | " + " | ".join(DETECTORS) + " |", "|---|---|---|---|---|"]
    for name, draw in WORLDS.items():
        noise = random.Random(f"{options.seed} {name}")
        lines.append(row(name, [draw(noise) for _ in range(options.series)]))
    if options.labelled:
        lines.append(row("labelled, of a real database", list(labelled(options.labelled))))
    if options.write:
        text = options.write.read_text()
        new = re.sub(r"(<!-- figures: series -->\n).*?(<!-- end of figures -->)",
                     lambda place: place[1] + "\n".join(lines) + "\n" + place[2], text, flags=re.S)
        options.write.write_text(new)


if __name__ == "__main__":
    sys.exit(main())
