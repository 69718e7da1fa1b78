"""Prints the files that clang-tidy is to read, one a line: the product's, out of a
compile_commands.json.

  units.py COMPILE_COMMANDS [COMMIT]

With COMMIT, only those that a change since then reaches: by one of their sources, or by a header
that these include, directly or not. All of them where COMMIT is unknown, or where the checks or the
way of compiling changed."""

import functools
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
OF_ALL = re.compile(
    r"(^|/)(CMakeLists\.txt|\.clang-tidy)$|\.cmake$|^CMakePresets\.json$|^tests/lint")


@functools.cache
def included(path):
    """What a file includes of the repository; names are from its root, or whole."""
    try:
        names = INCLUDE.findall(path.read_text())
    except OSError:  # a system's header in quotes
        return frozenset()
    return frozenset(ROOT / name for name in names)


def reached(unit):
    seen, left = set(), [unit]
    while left:
        path = left.pop()
        if path not in seen:
            seen.add(path)
            left += included(path)
    return seen


def changed_since(commit):
    """Paths, of what is not committed too; None where nothing is known."""
    done = subprocess.run(["git", "diff", "--name-only", commit, "--"], cwd=ROOT,
                          capture_output=True, text=True)
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else None


def main():
    commands = pathlib.Path(sys.argv[1]).resolve()
    not_product = (commands.parent / "tests", ROOT / "tests", commands.parent / "alone")
    changed = changed_since(sys.argv[2]) if len(sys.argv) > 2 else None
    everything = changed is None or any(map(OF_ALL.search, changed))
    touched = {ROOT / name for name in changed or []}
    for entry in json.loads(commands.read_text()):
        path = pathlib.Path(entry["file"])
        if "_headers.dir" in str(path) or any(map(path.is_relative_to, not_product)):
            continue
        if everything or not touched.isdisjoint(reached(path)):
            print(path)


if __name__ == "__main__":
    main()
