"""The tables of docs/gallery.md: known regressions of public projects, searched by `nightjar bisect
run` and by `git bisect run`.

    gallery.py FOLDER [--repetitions 10] [--only NAME ...] [--ways WAY ...]
               [--from URL]
    gallery.py --program NAME          prints what measures a case, and runs nothing

gallery_page.py writes the tables. FOLDER keeps clones and results: what it has already is not
measured again. The cases are in gallery.toml. `git bisect run` is told the threshold half way
between the medians of both ends, and believes one run of a commit (x1), or the median of ten (x10).
The programs are run by python3, node, ruby and php. In FOLDER/python lie attrs, pyrsistent, pytz,
six and jsonschema<4.18, and in FOLDER/node_modules autolinker@0.12 and source-map@0.5. Ruby needs
ruby2_keywords. $NIGHTJAR names the program, else it is build-one/bin/nightjar."""

import argparse
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import textwrap
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[3]
NIGHTJAR = os.environ.get("NIGHTJAR", ROOT / "build-one/bin/nightjar")
DATA = tomllib.loads(pathlib.Path(__file__).with_suffix(".toml").read_text())
CASES, PROGRAMS = DATA["case"], DATA["program"]
WAYS = {"nightjar": None, "x1": 1, "x10": 10}  # git bisect run: runs of a commit
LEVEL_RUNS = 5
STEP = """\
#!/bin/bash
# One step of git bisect run: 0 if the median of {count} is below {threshold}.
cd {tree} || exit 128
git clean -q -f -d -x
numbers=$(for ((i = 0; i < {count}; i++)); do {measure}; done) || exit 125
[[ $(wc -l <<<"$numbers") == {count} ]] || exit 125
tee -a {log} <<<"$numbers" | sort -g |
  awk '{{v[NR] = $1}} END {{exit (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 >= {threshold}}}'
"""


def program(case):
    return PROGRAMS[case["language"]]["text"].format(
        setup=case["setup"].strip(), work=textwrap.indent(case["work"].strip(), "    "))


def file_name(case):
    return f"{case['name'].lower()}.{PROGRAMS[case['language']]['ending']}"


def measure(case, path):
    return f"{PROGRAMS[case['language']]['interpreter']} {path} || exit 125"


def git(tree, *words, check=True):
    done = subprocess.run(["git", "-C", tree, *words], check=check, capture_output=True, text=True)
    return done.stdout.strip()


class Case:
    """One case in its folder, with a clone."""

    def __init__(self, facts, folder, source):
        self.facts, self.folder = facts, folder / facts["name"]
        self.tree = self.folder / "clone"
        self.folder.mkdir(exist_ok=True)
        owner, name = facts["repository"].split("/")
        if not self.tree.exists():
            subprocess.run(["git", "clone", "-q", "--no-checkout",
                            source.format(owner=owner, name=name), self.tree], check=True)
        if "input" in facts and not (self.folder / "input").exists():
            subprocess.run(["python3", "-c", facts["input"]], cwd=self.folder, check=True)
        path = self.folder / file_name(facts)
        path.write_text(program(facts))
        self.measure = measure(facts, shlex.quote(str(path)))
        self.environment = os.environ | {
            "INPUT": str(self.folder / "input"), "NODE_PATH": str(folder / "node_modules"),
            "PYTHONPATH": str(folder / "python"), "XDG_STATE_HOME": str(folder / "state")}
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)  # compiled once a commit
        self.good, self.bad = (self.commit(facts[end]) for end in ("good", "bad"))
        self.culprits = {self.commit(name) for name in facts["culprits"]}

    def commit(self, name):
        return git(self.tree, "rev-parse", name + "^{commit}")

    def range(self):
        return git(self.tree, "rev-list", "--first-parent", f"{self.good}..{self.bad}").split()

    def run(self, command, **options):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True,
                              **options)

    def level(self, commit):
        """Milliseconds of LEVEL_RUNS runs."""
        git(self.tree, "checkout", "-qf", commit)
        git(self.tree, "clean", "-q", "-f", "-d", "-x")
        numbers = [self.run(["bash", "-c", self.measure], cwd=self.tree) for _ in range(LEVEL_RUNS)]
        if any(one.returncode for one in numbers):
            sys.exit(f"{self.facts['name']} at {commit[:12]}: {numbers[0].stderr.strip()}")
        return statistics.median(float(one.stdout) for one in numbers)

    def levels(self):
        """Milliseconds at both ends, and before and at each culprit."""
        places = {"good": self.good, "bad": self.bad}
        for culprit in self.facts["culprits"]:
            places |= {f"{culprit}^": self.commit(f"{culprit}^"), culprit: self.commit(culprit)}
        return {place: self.level(commit) for place, commit in places.items()}

    def search(self):
        """By nightjar: what it named and what that cost."""
        done = self.run([
            NIGHTJAR, "bisect", "run", "--json", "--repo", self.tree, "--good", self.good, "--bad",
            self.bad, "--build", "true", "--measure", self.measure])
        if done.returncode not in (0, 1):
            return {"outcome": done.stderr.strip()[-300:], "named": [], "runs": 0, "builds": 0}
        said = json.loads(done.stdout)
        named = [step["commits"] for step in said["culprits"]]
        return {"outcome": said["outcome"], "named": named, "runs": said["runs"],
                "builds": said["builds"],
                "smaller": [step["commits"] for step in said["smaller_steps"]]}

    def bisect(self, count, threshold):
        """By git bisect run, with `count` runs a commit."""
        log, step = self.folder / "numbers", self.folder / "step"
        log.unlink(missing_ok=True)
        step.write_text(STEP.format(count=count, threshold=threshold, measure=self.measure,
                                    tree=shlex.quote(str(self.tree)), log=shlex.quote(str(log))))
        git(self.tree, "bisect", "start", "--first-parent", self.bad, self.good)
        said = self.run(["git", "bisect", "run", "bash", step], cwd=self.tree)
        found = re.search(r"^([0-9a-f]{40,}) is the first bad commit", said.stdout, re.MULTILINE)
        runs = len(log.read_text().splitlines()) if log.exists() else 0
        git(self.tree, "bisect", "reset", check=False)
        return {"outcome": "culprit" if found else said.stdout.strip()[-300:],
                "named": [[found[1]]] if found else [], "runs": runs, "builds": runs // count}

    def repeat(self, way, levels):
        before, start = os.getloadavg()[0], time.monotonic()
        count = WAYS[way]
        result = (self.bisect(count, (levels["good"] + levels["bad"]) / 2) if count
                  else self.search())
        result["seconds"] = time.monotonic() - start
        result["load"] = (before + os.getloadavg()[0]) / 2
        named = {tuple(commits) for commits in result["named"]}
        truth = {(commit,) for commit in self.culprits}
        result["exact"] = named == truth if way == "nightjar" else bool(named & truth)
        result["innocent"] = sum(not set(commits) & self.culprits for commits in named)
        return result


def run_all(options):
    folder = options.folder.resolve()
    results = read_results(folder)
    with open(folder / "results.jsonl", "a") as file:
        def keep(record):
            results.append(record)
            print(json.dumps(record), file=file, flush=True)

        cases = [Case(facts, folder, options.source) for facts in CASES
                 if not options.only or facts["name"] in options.only]
        for case in cases:
            name = case.facts["name"]
            if levels_of(results, name) is None:
                levels = case.levels()
                print(name, {place: f"{level:.3g}" for place, level in levels.items()}, flush=True)
                keep({"case": name, "levels": levels, "range": len(case.range())})
        for number in range(options.repetitions):
            for case in cases:
                for way in options.ways:
                    key = {"case": case.facts["name"], "way": way, "repetition": number}
                    if not any(key.items() <= old.items() for old in results):
                        keep(key | case.repeat(way, levels_of(results, key["case"])))
                        last = results[-1]
                        print(*key.values(), "exact" if last["exact"] else last["outcome"],
                              last["runs"], f"{last['seconds']:.1f} s", flush=True)


def read_results(folder):
    path = folder / "results.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def levels_of(results, name):
    return next((one["levels"] for one in reversed(results)
                 if one["case"] == name and "levels" in one), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--from", dest="source", default="https://github.com/{owner}/{name}")
    parser.add_argument("--program")
    options = parser.parse_args()
    if options.program:
        print(program(next(one for one in CASES if one["name"] == options.program)), end="")
        return
    if not options.folder:
        parser.error("a folder is needed, to work in")
    options.folder.mkdir(exist_ok=True)
    run_all(options)


if __name__ == "__main__":
    main()
