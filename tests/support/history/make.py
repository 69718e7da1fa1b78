"""A folder with repository, configuration and filled database."""

import contextlib
import datetime
import hashlib
import os
import pathlib
import random
import secrets
import sqlite3
import subprocess
import time

import drawn
import repository
from fill import History
from people import address

BIN = pathlib.Path(os.environ.get("NIGHTJAR_BIN", drawn.ROOT / "build" / "bin"))
# Runners count as live for a day: nobody renews when they were seen.
CONFIGURATION = """\
[service]
data = "data"
port = 0
port_file = "port"
[source]
directory = "wheels"
variant = "{variant}"
keep_days = 3650
[repository]
url = "{folder}/repository"
[night]
workloads = ["**"]
at = "23:59"
on_new_build = false
[queue]
runner_silent = 86400
[report]
directory = "reports"
[[token]]
name = "operator"
role = "admin"
sha256 = "{token}"
"""


def make(folder, nights, workloads, seed=1, progress=lambda text: None):
    """`folder` must not exist. Days are counted back from today, so that pages show them as they
    would. `progress` is told how far it is."""
    folder = folder.resolve()
    folder.mkdir(parents=True)
    (folder / "wheels").mkdir()
    token = secrets.token_hex()
    (folder / "admin.token").write_text(token)
    (folder / "nightjar.toml").write_text(CONFIGURATION.format(
        folder=folder, variant=drawn.VARIANT, token=hashlib.sha256(token.encode()).hexdigest()))
    now = datetime.datetime.now(datetime.timezone.utc)
    truth = drawn.Truth(random.Random(seed), nights, workloads, now)
    repository.make(folder / "repository", truth.commits, address)
    make_schema(folder)
    repository.fetch(folder / "data" / "repository.git")
    history = History(folder / "data" / "nightjar.sqlite", truth, folder / "wheels", progress)
    history.fill()
    # The tracker is a folder, one file an issue.
    (folder / "reports").mkdir(exist_ok=True)
    for number in history.issues:
        (folder / "reports" / f"{number}-made.md").write_text("An issue of the made history.\n")
    # The source still lists the newest build, which is known.
    pathlib.Path(history.builds[nights - 1]["url"].removeprefix("file://")).touch()


def serve(folder):
    """Starts nightjard on it, and waits until it has summed up the suites of its nights:
    (process, address). The caller ends the process."""
    port = folder / "port"
    port.unlink(missing_ok=True)
    with open(folder / "nightjard.log", "ab") as log:
        process = subprocess.Popen([BIN / "nightjard", "--config", folder / "nightjar.toml"],
                                   stdout=log, stderr=log)

    def wait_until(condition, what):
        end = time.monotonic() + 600
        while not condition():
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"nightjard does not {what}: "
                                   + (folder / "nightjard.log").read_text()[-2000:])
            time.sleep(.05)
    try:
        # A file of gigabytes is checked before the service listens.
        wait_until(lambda: port.exists() and port.read_text().strip(), "start")
        wait_until(lambda: not nights_to_sum_up(folder), "sum up the nights")
    except BaseException:
        process.kill()
        process.wait()
        raise
    return process, f"http://127.0.0.1:{port.read_text().strip()}"


def nights_to_sum_up(folder):
    """How many nights are over and not summed up."""
    with contextlib.closing(sqlite3.connect(f"file:{folder}/data/nightjar.sqlite?mode=ro",
                                            uri=True)) as db:
        return db.execute("SELECT count(*) FROM night WHERE state = 'done' AND build IS NOT NULL "
                          "AND summed_up = 0").fetchone()[0]


def make_schema(folder):
    """The service makes its own tables, in an empty folder."""
    process, _ = serve(folder)
    process.terminate()
    process.wait(60)
