"""Runs the test programs and pytest, and counts. Called by tests/run; the last line of its output is
`N passed, N failed`, its exit status 0 only if nothing failed."""

import argparse
import glob
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[2]
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1",
    "LSAN_OPTIONS": f"suppressions={ROOT}/tests/support/lsan.supp:print_suppressions=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "second_deadlock_stack=1",
}
LONGEST_SECONDS = 2400  # of a group: four times what the longest took on two quiet cores


def run(command, environment):
    """(exit status, output); 124 where it took too long."""
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LONGEST_SECONDS)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        text = late.stdout or b""
        return 124, text.decode(errors="replace") if isinstance(text, bytes) else text


def count(report):
    """(passed, failed, skipped) test cases of a JUnit file; None if there is none to be read."""
    try:
        cases = xml.parse(report).getroot().iter("testcase")
    except (OSError, xml.ParseError):
        return None
    # Catch2 has an element a section: what fails in any of them fails the test case.
    outcome = {}
    for case in cases:
        name = (case.get("classname"), case.get("name").split("/")[0] if "catch" in str(report) else case.get("name"))
        bad = case.find("failure") is not None or case.find("error") is not None
        skipped = case.find("skipped") is not None
        outcome[name] = max(outcome.get(name, 0), 2 if bad else 1 if skipped else 0)
    return tuple(list(outcome.values()).count(rank) for rank in (0, 2, 1))


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def take(self, title, command, report, environment):
        start = time.monotonic()
        status, output = run(command, environment)
        passed, failed, skipped = count(report) or (0, 0, 0)
        # pytest: 5 means that nothing was selected.
        crashed = status != 0 and failed == 0 and not (status == 5 and "pytest" in command)
        self.passed += passed
        self.failed += failed + crashed
        self.skipped += skipped
        words = f"{passed} passed"
        if failed or crashed:
            words += f", {failed + crashed} failed" + (f" (exit status {status})" if crashed else "")
        if skipped:
            words += f", {skipped} skipped"
        print(f"{title:<28}{words}  ({time.monotonic() - start:.1f} s)", flush=True)
        if failed or crashed or skipped:
            print(output, flush=True)


def unit(tally, bin_folder, environment, reports):
    programs = sorted(p for p in glob.glob(f"{bin_folder}/test_*") if os.access(p, os.X_OK))
    if not programs:
        sys.exit(f"tests/run: there are no test programs in {bin_folder}; deploy/build makes them")
    for program in programs:
        name = os.path.basename(program)
        report = reports / f"catch-{name}.xml"
        # JUnit goes to the file; what a failing assertion printed is in it as well.
        status = [program, "--reporter", "junit", "--out", str(report)]
        tally.take(name, status, report, environment)
        if "<failure" in (report.read_text(errors="replace") if report.exists() else ""):
            print(run([program, "--durations", "no"], environment)[1], flush=True)
    pytest(tally, "source tree", ["tests/star_test.py", "tests/deploy"], environment, reports, [])


def pytest(tally, title, paths, environment, reports, options):
    report = reports / f"pytest-{title.replace(' ', '-')}.xml"
    paths = [path for path in paths if (ROOT / path).exists()]
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-c", "tests/pytest.ini", "--rootdir", str(ROOT),
               f"--junitxml={report}", *options, *paths]
    tally.take(title, command, report, environment)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=["all", "unit", "e2e"], default="all")
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--preset", default="release")
    options = parser.parse_args()
    environment = {**os.environ, **SANITIZERS, "NIGHTJAR_BIN": str(ROOT / options.bin)}
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="nightjar-tests-") as folder:
        reports = pathlib.Path(folder)
        # Tests measure nothing that a nightly would be blamed for: they wait for no runner of this machine.
        environment["NIGHTJAR_MACHINE_LOCK"] = str(reports / "machine.lock")
        if options.kind in ("all", "unit"):
            unit(tally, ROOT / options.bin, environment, reports)
        if options.kind in ("all", "e2e"):
            sanitized = options.preset != "release"
            chosen = ["-m", "not timing"] if sanitized else []
            pytest(tally, "end to end", ["tests/e2e"], environment, reports, chosen)
            if not sanitized:
                pytest(tally, "workloads", ["tests/workloads"], environment, reports, [])
    if tally.skipped:
        print(f"{tally.skipped} skipped: see above why")
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
