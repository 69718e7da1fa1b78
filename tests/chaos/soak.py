"""One simulated year of nights against the real service, a nightly a day: after each night the
clock of service and agents is set a day ahead. Each week it takes down the service's resident
memory and the size of its database. Started by `tests/run --soak`; see README.md.

    soak.py [--days 365] [--csv FILE]
"""

import argparse
import contextlib
import datetime
import pathlib
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "e2e"))

from clock_world import ClockWorld  # noqa: E402
from world import script, step  # noqa: E402

DAY = 86_400
FLAT = 1.1  # memory's last quarter over its second, of medians
# docs/operating.md, "What is kept": bytes that a value of a series takes, with its samples and once
# they are dropped.
VALUE_BYTES, BARE_VALUE_BYTES = 17.4 * 2**20 / 30_000, 1.7 * 2**20 / 30_000
SAMPLES_DAYS = 180
CYCLE_DAYS = 28  # a cause begins on the 8th day of each, and is repaired two weeks later
MODELS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
WORKLOADS = [f"python/{name}/eval/cpu/fp32/b1/eager" for name in MODELS]


class Soak(ClockWorld):
    def __init__(self, folder):
        super().__init__(folder, queue={"lease": 120, "tick": 1})
        self.first_day = datetime.datetime.now(datetime.timezone.utc).date()
        self.repo.day = self.first_day.isoformat()

    def begin(self, days):
        rules = [{"when": {"workload": WORKLOADS[cycle % len(WORKLOADS)], "contains": "slow",
                           "file": f"torch/cause{cycle}.py"}, "factors": {"latency": 1.2}}
                 for cycle in range(days // CYCLE_DAYS + 1)]
        self.start_daemon()
        self.start_runner(script(*rules, run_seconds=0) | {
            "workloads": [{"name": name, "version": 1} for name in WORKLOADS]})

    def play_day(self, day):
        self.clock.set(day * DAY)
        cycle, in_cycle = divmod(day, CYCLE_DAYS)
        if in_cycle in (7, 21):
            text = "slow\n" if in_cycle == 7 else "fine\n"
            self.repo.write(f"torch/cause{cycle}.py", text)
            self.repo.commit(f"Make cause {cycle} {text.strip()}")
        self.repo.grow(2)
        date = (self.first_day + datetime.timedelta(days=day)).isoformat()
        version = self.publish_nightly(date)
        self.wait(f"the night of {version}", lambda: self.is_over(version), 300)

    def is_over(self, version):
        night = self.get("/api/v1/nights?limit=1")
        jobs = self.get("/api/v1/jobs?limit=20")
        if not night or not night["items"] or not jobs:
            return False
        newest = night["items"][0]
        return (newest["build"]["version"] == version and newest["state"] == "done"
                and not any(one["state"] in ("queued", "leased") for one in jobs["items"]))

    def resident_kib(self):
        status = pathlib.Path(f"/proc/{self.processes['nightjard'].pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if "VmRSS" in line))

    def database_bytes(self):
        """Without the write-ahead log, which SQLite keeps at some 4 MiB."""
        return (self.folder / "data/nightjar.sqlite").stat().st_size

    def count(self):
        """(sessions, values of series) so far."""
        file = self.folder / "data/nightjar.sqlite"
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            return [connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                    for table in ("session", "series_value")]


def most_database_bytes(days, values):
    """The size that docs/operating.md promises for `values` values over `days` days."""
    with_samples = min(1.0, SAMPLES_DAYS / days)
    return values * (with_samples * VALUE_BYTES + (1 - with_samples) * BARE_VALUE_BYTES)


def judge(weeks):
    """What is wrong. Each week: resident KiB."""
    quarter = len(weeks) // 4
    second = statistics.median(weeks[quarter:2 * quarter])
    last = statistics.median(weeks[-quarter:])
    print(f"resident memory: {second / 1024:.1f} MiB in the second quarter, "
          f"{last / 1024:.1f} MiB in the last (medians): {last / second:.3f}")
    if last > FLAT * second:
        return [f"memory grew by {last / second:.3f}, {FLAT} is allowed"]
    return []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--csv", type=argparse.FileType("w"))
    options = parser.parse_args()
    if options.days < 28:
        parser.error("--days must be at least 28: quarters have a week each then")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nightjar-soak-"))
    soak, weeks, begun = Soak(folder), [], time.monotonic()
    print("day,seconds,resident_kib,database_bytes,sessions,values", file=options.csv, flush=True)
    try:
        soak.begin(options.days)
        for day in range(1, options.days + 1):
            soak.play_day(day)
            if day % 7 == 0:
                weeks.append(soak.resident_kib())
                print(day, f"{time.monotonic() - begun:.0f}", weeks[-1], soak.database_bytes(),
                      *soak.count(), sep=",", file=options.csv, flush=True)
        size, (sessions, values) = soak.database_bytes(), soak.count()
        reported = soak.issues()
    finally:
        soak.stop()
    wrong = judge(weeks)
    most = most_database_bytes(options.days, values)
    print(f"database: {size / 2**20:.1f} MiB after {options.days} nights with {sessions} sessions "
          f"and {values} values; {most / 2**20:.1f} MiB are promised")
    if size > most:
        wrong.append("the database is larger than docs/operating.md says")
    planted = sum(cycle * CYCLE_DAYS + 7 <= options.days
                  for cycle in range(options.days // CYCLE_DAYS + 1))
    if len(reported) != planted:
        wrong.append(f"{planted} causes were planted, {len(reported)} issues were filed")
    for one in wrong:
        print(f"WRONG: {one}")
    print(f"{int(not wrong)} passed, {int(bool(wrong))} failed"
          + (f"; see {folder}" if wrong else ""))
    if not wrong:
        shutil.rmtree(folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
