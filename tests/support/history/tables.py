"""Rows into the service's own schema. Times are microseconds, enumerators the service's words."""

import array
import hashlib
import json
import random
import sqlite3

from drawn import VARIANT


def microseconds(at):
    return int(at.timestamp() * 1_000_000)


def blob(values):
    return array.array("d", values).tobytes()


def digest(text):
    return hashlib.sha256(str(text).encode()).hexdigest()


class Tables:
    """Inserts by column name, so that a column that the schema no longer has is an error."""

    def __init__(self, path):
        self.db = sqlite3.connect(path, isolation_level=None)
        # close() checks the references at once; a file that is half made is of no use.
        self.db.execute("PRAGMA foreign_keys = OFF")
        self.db.execute("PRAGMA synchronous = OFF")
        self.db.execute("PRAGMA cache_size = -262144")  # KiB
        self.db.execute("BEGIN")
        self._texts = {}

    def add(self, table, **row):
        key = (table, *row)
        if key not in self._texts:
            marks = ", ".join("?" * len(row))
            self._texts[key] = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"
        return self.db.execute(self._texts[key], tuple(row.values())).lastrowid

    def close(self):
        """Commits, and refuses rows that refer to nothing or a damaged file."""
        self.db.execute("COMMIT")
        broken = self.db.execute("PRAGMA foreign_key_check").fetchone()
        sound = self.db.execute("PRAGMA quick_check").fetchone()[0]
        self.db.execute("ANALYZE")
        self.db.close()
        if broken or sound != "ok":
            raise ValueError(f"the made database is broken: {broken or sound}")


FAILED = 1.25  # what a failed run counts
# What dynamo calls it; only of what is compiled.
ACCURACY = {"measured": "pass", "wrong_result": "fail_accuracy", "out_of_memory": "OOM"}
STATE = {"load1": .1, "steal_share": 0.0, "frequency_mhz": 3100.0, "extra": {}, "gpus": []}
NO_LIMITS = {"timeout_seconds": 300.0, "memory_bytes": 0, "output_bytes": 1 << 20, "threads": 1,
             "seconds": 2.0, "min_iterations": 10, "seed": 0}


class Jobs:
    """Jobs with their sessions and runs."""

    def __init__(self, tables, truth):
        self.tables, self.truth = tables, truth
        self.series = {}  # (workload id, metric, class) -> id
        self.facts = {}   # class -> [(since when, id)]
        self.random = random.Random(5)

    def add(self, key, night, machine, kind, builds, workloads, order, at, **more):
        """`order`: (build index, workload index) of each run, (-1, -1) for a control."""
        row = {"state": "done", "priority": 0, "attempt": 1, "runner": machine + 1, "reason": "",
               "nonce": digest(key)[:32], "variant": VARIANT,
               "facts": [id for since, id in self.facts[machine] if since <= at][-1]} | more
        spec = {
            "kind": kind, "limits": NO_LIMITS, "environments": [{
                "build": b["id"], "wheel_url": b["url"], "wheel_file": b["url"].rsplit("/", 1)[-1],
                "wheel_sha256": b["sha256"], "overlay": None, "version": b["version"],
                "git_version": b["nightly_commit"]} for b in builds],
            "workloads": [{"id": w.id, "name": w.name, "version": 1} for w in workloads],
            "order": [{"environment": e, "workload": w} for e, w in order]}
        job = self.tables.add(
            "job", key=key, night=night, machine=machine + 1, kind=kind, spec=json.dumps(spec),
            created_at_us=microseconds(at), **row)
        for workload in workloads:
            self.tables.add("job_workload", job=job, workload=f"{workload.name}@1")
        return job

    def finish(self, job, machine, at, reason="", setup=11.5):
        """The session of a done job; `reason`: why it is void."""
        frame = {"runs": [], "before": STATE, "after": STATE | {
            "load1": self.random.uniform(.9, 1.3)}, "packages": {"python": "3.11.9",
                                                               "numpy": "2.3.1"},
                 "settings": {"threads": "1", "omp_wait_policy": "passive"},
                 "setup_seconds": [{"environment": digest(job), "seconds": setup}]}
        self.tables.add("session", job=job, stored_at_us=microseconds(at),
                        frame=json.dumps(frame))
        self.tables.add("session_check", job=job, machine=machine + 1, usable=not reason,
                        reason=reason, control=.0099 * self.random.uniform(.99, 1.01))

    def read_control(self, job):
        """What the control of a screening says: the machine moves by 1.2 % at most. Of some, too
        little came before to know."""
        known = job % 7 != 3
        self.tables.add("control_reading", job=job, gauge="cpu", within=.004 + .001 * (job % 3),
                        moved=.004 * (job % 7 - 3) if known else None,
                        unrest=.002 * (job % 2) if known else None)

    def run(self, job, position, build, commit, workload, machine, at, session, screened,
            status="measured", reason=""):
        """One run with all its metrics; returns the run's id and {metric: value}."""
        run = self.tables.add(
            "run", job=job, position=position, build=build["id"], workload=workload.id,
            status=status, reason=reason, checksum=1.0, warmup_iterations=5,
            started_at_us=microseconds(at), seconds=2.4,
            accuracy=None if workload.name.endswith("/eager") else ACCURACY[status])
        values = {}
        for metric in workload.metrics:
            value = self.truth.run(workload, metric, machine, commit, session)
            if status != "measured":
                if metric != "failures":
                    continue  # a failed run says nothing else
                value = FAILED
            values[metric] = value
            self.tables.add("series_value", series=self.series[workload.id, metric, machine],
                            build=build["id"], run=run, screened=int(screened), value=value,
                            wait_share=0.0)
            if metric == "failures":
                continue  # told by the run's status
            # A run's latency is the first decile of its iterations.
            samples = [value * (1 + d) / (1 - .0088) for d in (-.012, -.004, 0, .003, .02)]
            self.tables.add("sample", run=run, metric=metric,
                            samples=blob(samples if metric == "latency" else [value]))
        return run, values
