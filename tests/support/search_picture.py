"""Makes the picture of docs/bisect-anything.md: the page of a real search in a made repository.

    .cache/tools/bin/python tests/support/search_picture.py"""

import pathlib
import subprocess
import tempfile

from browser import Browser
from screenshots import save

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "build/bin/nightjar"
SIZE = (1120, 640)
COMMITS, CULPRIT = 64, 41
# Milliseconds with 3 % of noise, which are the same in each search.
BENCH = f"""#!/usr/bin/env python3
import random
number = int(open("number").read())
with open("runs", "a") as runs:
    random.seed(number + 1000 * runs.tell())
    runs.write(".")
print((47 if number >= {CULPRIT} else 42) * random.lognormvariate(0, .03))
"""


def git(folder, *arguments):
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=n@n", "-C", folder, *arguments],
                   check=True)


def make_repository(folder):
    git(folder, "init", "-q", "-b", "main")
    (folder / "bench").write_text(BENCH)
    (folder / "bench").chmod(0o755)
    for number in range(COMMITS):
        (folder / "number").write_text(str(number))
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", f"Change number {number}",
            f"--date=2026-08-01T00:00:{number % 60:02}Z")


def main():
    browser = Browser()
    try:
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            make_repository(folder)
            subprocess.run([PROGRAM, "bisect", "run", "--repo", folder, "--good",
                            f"HEAD~{COMMITS - 1}", "--bad", "HEAD", "--measure", "./bench parse",
                            "--html", folder / "search.html"], check=True)
            browser.show(SIZE)
            browser.open((folder / "search.html").as_uri())
            save(browser, "search")
    finally:
        browser.close()


if __name__ == "__main__":
    main()
