"""Runs the test programs and pytest, two groups side by side, and counts. Called by tests/run; the
last line of its output is `N passed, N failed`, its exit status 0 only if nothing failed.

A failed test is confirmed as Nightjar confirms a suspect: it runs again twice, alone, when all else
is done. It counts as passed if it passes both times, and is named as unsteady. What a sanitizer
reports, a crash, and more than a few failures in one group are believed at once."""

import argparse
import concurrent.futures
import functools
import glob
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A process that finds something writes it to a file of its own, since nobody reads the output of
# most of the end-to-end tests' processes.
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1"
                    ":log_exe_name=1:log_path={}",
    "LSAN_OPTIONS": f"suppressions={ROOT}/tests/support/lsan.supp:print_suppressions=0",
    "UBSAN_OPTIONS": "print_stacktrace=1:log_exe_name=1:log_path={}",
    "TSAN_OPTIONS": f"suppressions={ROOT}/tests/support/tsan.supp:print_suppressions=0"
                    ":second_deadlock_stack=1:log_exe_name=1:log_path={}",
}
LONGEST_SECONDS = 3600  # of a group; on a slow machine the longest took half of it
# These ask for the same runs of workloads, which a process does once.
SHARED_RUNS = [f"tests/workloads/{name}_test.py" for name in ("memory", "protocol", "twins")]
# Under sanitizers, without the end-to-end tests that spend their time in one thread of a command:
# ThreadSanitizer has no race to find there, and AddressSanitizer sees that code in test programs.
NOT_ONE_THREADED = "several_builds_run_at_once or not (cli_test or verify_test or exchange_test)"
# Seeds of the simulation: always, and with --all. AddressSanitizer takes six times as long for one,
# and ThreadSanitizer fifteen times.
SEEDS = {"release": (60, 200), "asan": (15, 15), "tsan": (0, 8)}
# ThreadSanitizer has something to find in these: the server, the daemon's loop, the agent and the
# coordinator.
WITH_THREADS = ["test_web", "test_service", "test_runner"]
FOURTHS = 4  # that the rest is divided into; the gate runs one
MANY_SEEDS = 10_000  # from each base
PARTS = 20  # that they are played in
BASES = [1, 1_000_001, 2_000_001]
CHAOS_SEED, CHAOS_NIGHTS = 1, 4  # a story of a minute
CONFIRMATIONS = 2  # of a failure
MOST_CONFIRMED = 5  # failures of a group; more of them have one cause
SIDE_BY_SIDE = min(2, len(os.sched_getaffinity(0)))
# End-to-end tests mostly wait for processes, so two of their files run at a time, in the order that
# tests/e2e/conftest.py gives them.
TWO_FILES = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]


def run(command, environment):
    """(exit status, output); 124 where it took too long."""
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=LONGEST_SECONDS)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        text = late.stdout or b""
        return 124, text.decode(errors="replace") if isinstance(text, bytes) else text


def cases_of(report):
    """The elements of test cases of a JUnit file; None if it cannot be read."""
    try:
        return list(xml.parse(report).getroot().iter("testcase"))
    except (OSError, xml.ParseError):
        return None


def count(report):
    """(passed, failed, skipped) test cases of a JUnit file; None if it cannot be read."""
    cases = cases_of(report)
    if cases is None:
        return None
    # Catch2 has an element a section: what fails in any of them fails the test case.
    outcome = {}
    for case in cases:
        name = (case.get("classname"),
                name_of(case) if "catch" in str(report) else case.get("name"))
        skipped = case.find("skipped") is not None
        outcome[name] = max(outcome.get(name, 0), 2 if is_bad(case) else 1 if skipped else 0)
    return tuple(list(outcome.values()).count(rank) for rank in (0, 2, 1))


def is_bad(case):
    return case.find("failure") is not None or case.find("error") is not None


def name_of(case):
    """The name of a test case of Catch2, without the section."""
    return case.get("name").split("/")[0]


class Tally:
    """Counts the tests of groups, each a process with a report of its own."""

    def __init__(self, environment, reports):
        self.passed = self.failed = self.skipped = self.unsteady = 0
        self._environment, self._reports = environment, reports
        self._one_at_a_time = threading.Lock()
        self._unconfirmed = []  # (title, tests, command)

    def program(self, path):
        name = os.path.basename(path)
        report = self._reports / f"catch-{name}.xml"
        # JUnit goes to the file; what a failing assertion printed is in it as well.
        self._take(name, [path, "--reporter", "junit", "--out", str(report)], report,
                   functools.partial(self._failed_cases, path, report))

    def _failed_cases(self, path, report):
        """(names, a command that runs them)."""
        names = sorted({name_of(case) for case in cases_of(report) if is_bad(case)})
        chosen = report.with_suffix(".txt")
        # A bare comma ends a name. A name that chose no test would count as one that passed.
        chosen.write_text("".join(name.replace(",", r"\,") + "*\n" for name in names))
        return names, [path, "--durations", "no", "--warn", "NoTests", "--input-file",
                       str(chosen)]

    def simulation(self, path, base, seeds):
        """Each seed is a test."""
        start = time.monotonic()
        command = [path, "--base", str(base), "--seeds", str(seeds)]
        report = self._reports / f"seeds-{base}.xml"  # only sanitizers write one
        status, output = run(command, self._environment_for(report))
        seconds = time.monotonic() - start
        failed = output.count("\nFAILED ") + output.startswith("FAILED ")
        counted = (seeds - failed, failed, 0) if status in (0, 1) else (0, 0, 0)
        with self._one_at_a_time:
            self._add(f"{f'seeds {base} to {base + seeds - 1}':<28}", status, counted, seconds,
                      command, output)
            self._add_sanitizers(report)
            if status == 0:
                print(output.splitlines()[-1], flush=True)

    def chaos(self, seed, nights):
        """One story of tests/chaos, as a test."""
        start = time.monotonic()
        command = [sys.executable, "tests/chaos/run.py", "--seed", str(seed), "--nights",
                   str(nights)]
        status, output = run(command, self._environment)
        with self._one_at_a_time:
            self._add(f"{f'chaos of seed {seed}':<28}", status,
                      (int(status == 0), int(status == 1), 0), time.monotonic() - start, command,
                      output)

    def pytest(self, title, paths, options=()):
        report = self._reports / f"pytest-{title.replace(' ', '-')}.xml"
        cache = report.with_suffix(".cache")
        command = [sys.executable, "-m", "pytest", "-q", "-rs", "-c", "tests/pytest.ini",
                   "--rootdir", str(ROOT), "-o", f"cache_dir={cache}",
                   "--durations=15", "--durations-min=20"]

        def failed_tests():
            names = sorted(json.loads((cache / "v/cache/lastfailed").read_text()))
            return names, command + names

        paths = [path for path in paths if (ROOT / path).exists()]
        self._take(title, [*command, f"--junitxml={report}", *options, *paths], report,
                   failed_tests)

    def _take(self, title, command, report, failed_tests):
        """`failed_tests`: gives (names, a command that runs these)."""
        start = time.monotonic()
        environment = self._environment_for(report)
        status, output = run(command, environment)
        seconds = time.monotonic() - start
        counted = count(report) or (0, 0, 0)
        shown = failures_in(report) if "catch" in report.name else []
        output += "".join(shown)
        with self._one_at_a_time:
            self._add(f"{title:<28}", status, counted, seconds, command, output)
            found = self._add_sanitizers(report)
            # Catch2's programs end with the number of failed assertions, pytest with 1.
            ended_well = status == 1 or 0 < status == min(len(shown), 255)
            if 0 < counted[1] <= MOST_CONFIRMED and ended_well and not found:
                self._unconfirmed.append((title, failed_tests, environment))

    def _environment_for(self, report):
        """Tests measure nothing that a nightly would be blamed for: they wait for no runner of this
        machine. What a sanitizer says goes to files beside the report."""
        return self._environment | {
            name: options.format(report.with_suffix(".sanitizer"))
            for name, options in SANITIZERS.items()} | {
            "NIGHTJAR_MACHINE_LOCK": str(report.with_suffix(".lock"))}

    def _add_sanitizers(self, report):
        """Counts what sanitizers found in a group, and prints it. The number."""
        found = sorted(report.parent.glob(f"{report.with_suffix('.sanitizer').name}.*"))
        for file in found:
            print(f"{file.name}: reported by a sanitizer\n"
                  f"{file.read_text(errors='replace')}", flush=True)
        self.failed += len(found)
        return len(found)

    def confirm(self):
        """Runs again what failed. Call it when nothing else runs."""
        for title, failed_tests, environment in self._unconfirmed:
            names, command = failed_tests()
            print(f"{title}: {', '.join(names)}: again, alone", flush=True)
            for _ in range(CONFIRMATIONS):
                status, output = run(command, environment)
                if status != 0:
                    print(f"confirmed\n{output}", flush=True)
                    break
            else:
                print(f"unsteady: passed {CONFIRMATIONS} times", flush=True)
                self.unsteady += len(names)
                self.failed -= len(names)
                self.passed += len(names)

    def _add(self, title, status, counted, seconds, command, output):
        passed, failed, skipped = counted
        # pytest: 5 means that nothing was selected.
        crashed = status != 0 and failed == 0 and not (status == 5 and "pytest" in command)
        self.passed += passed
        self.failed += failed + crashed
        self.skipped += skipped
        words = f"{passed} passed"
        if failed or crashed:
            words += f", {failed + crashed} failed" + (f" (exit status {status})"
                                                       if crashed else "")
        if skipped:
            words += f", {skipped} skipped"
        print(f"{title}{words}  ({seconds:.1f} s)", flush=True)
        if failed or crashed or skipped:
            print(output, flush=True)


def failures_in(report):
    """What Catch2 says of each failed assertion and exception; nothing if there is no file."""
    return [f"{case.get('name')}\n{failure.get('message')}{failure.text}\n"
            for case in cases_of(report) or []
            for failure in [*case.iter("failure"), *case.iter("error")]]


def end_to_end(tally, options, files, marks):
    """Runs the tests of `files` that have all of the `marks`."""
    chosen = []
    if options.preset != "release":
        # What measures real time tells nothing under a sanitizer, and a browser and a month ask for
        # nothing that other tests do not.
        marks = [*marks, "not timing", "not browser", "not long", "not release"]
        chosen = ["-k", NOT_ONE_THREADED]
    if marks:
        chosen += ["-m", " and ".join(marks)]
    tally.pytest("end to end", [f"tests/e2e/{name}" for name in files], TWO_FILES + chosen)


def rest(options, tally):
    """{name: call} of all that `tests/run` alone leaves out, less the end-to-end tests. No part has
    a process in common with another."""
    parts = {}
    if options.kind != "unit" and options.preset == "release":  # the others need no PyTorch
        for path in python_tests("tests/workloads"):
            if path not in SHARED_RUNS:
                parts[path] = functools.partial(
                    tally.pytest, os.path.basename(path), [path])
        parts["tests/workloads, shared runs"] = functools.partial(
            tally.pytest, "workloads' shared runs", SHARED_RUNS)
        parts["tests/docs_test.py"] = functools.partial(
            tally.pytest, "documents", ["tests/docs_test.py"])
        parts["tests/chaos"] = functools.partial(tally.chaos, CHAOS_SEED, CHAOS_NIGHTS)
    if options.kind != "e2e":
        first, last = SEEDS[options.preset]
        share = (last - first) // FOURTHS
        for base in range(first + 1, last, share or 1):
            parts[f"seeds from {base}"] = functools.partial(
                tally.simulation, simulation(options), base, share)
        for path in programs(options):
            if not is_first(path, options):
                parts[os.path.basename(path)] = functools.partial(tally.program, path)
    return parts


def is_first(program, options):
    """Whether it runs always."""
    return options.preset != "tsan" or os.path.basename(program) in WITH_THREADS


def simulation(options):
    return str(ROOT / options.bin / "simulation")


def programs(options):
    """The test programs, the largest first."""
    found = [path for path in glob.glob(f"{ROOT / options.bin}/test_*") if os.access(path, os.X_OK)]
    if not found:
        sys.exit(f"tests/run: there are no test programs in {options.bin}; deploy/build makes them")
    return sorted(found, key=os.path.getsize, reverse=True)


def python_tests(folder):
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / folder).glob("*_test.py"))


def groups(options, tally):
    """Calls, one a group, the longest first."""
    files = [os.path.basename(path) for path in python_tests("tests/e2e")]
    others = rest(options, tally)
    first, everything = options.tier == "first", options.tier == "all"
    if not first and not everything:
        files, names = files[options.fourth::FOURTHS], sorted(others)[options.fourth::FOURTHS]
        others = {name: others[name] for name in names}
        print(f"fourth {options.fourth} of {FOURTHS} of what tests/run leaves out: "
              f"{' '.join(files) if options.kind != 'unit' else ''} {' '.join(names)}", flush=True)
    if options.kind != "unit":
        if everything or options.preset != "release" and not first:
            yield lambda: end_to_end(tally, options, files, [])
        elif options.preset == "release":
            yield lambda: end_to_end(tally, options, files, ["first" if first else "not first"])
    if not first:
        yield from others.values()
    if options.kind != "e2e" and (first or everything):
        if SEEDS[options.preset][0]:
            yield functools.partial(tally.simulation, simulation(options), 1,
                                    SEEDS[options.preset][0])
        for path in programs(options):
            if is_first(path, options):
                yield functools.partial(tally.program, path)
        if options.preset == "release":  # no program of ours runs in them
            of_the_tree = [f"tests/{name}_test.py" for name in ("star", "foreign", "threat_model")]
            yield lambda: tally.pytest("source tree", [*of_the_tree, "tests/deploy",
                                                              "tests/bench/gate"])


def many_seeds(options, tally):
    share = MANY_SEEDS // PARTS
    for base in options.bases:
        for part in range(PARTS):
            yield functools.partial(tally.simulation, simulation(options), base + part * share,
                                    share)


def whole_numbers(text):
    return [int(number) for number in text.split(",")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=["all", "unit", "e2e", "simulate"], default="all")
    parser.add_argument("--tier", choices=["first", "all", "fourth"], default="first")
    parser.add_argument("--fourth", type=int, choices=range(FOURTHS), default=0)
    parser.add_argument("--bases", type=whole_numbers, default=BASES)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--preset", default="release")
    options = parser.parse_args()
    environment = {**os.environ, "NIGHTJAR_BIN": str(ROOT / options.bin)}
    with (tempfile.TemporaryDirectory(prefix="nightjar-tests-") as folder,
          concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool):
        tally = Tally(environment, pathlib.Path(folder))
        calls = list((many_seeds if options.kind == "simulate" else groups)(options, tally))
        print(f"{len(calls)} groups of tests, {SIDE_BY_SIDE} at a time, the longest first",
              flush=True)
        for group in [pool.submit(call) for call in calls]:
            group.result()
        tally.confirm()
    if tally.skipped:
        print(f"{tally.skipped} skipped: see above why")
    if tally.unsteady:
        print(f"{tally.unsteady} unsteady: failed beside others, and passed alone; see above")
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
