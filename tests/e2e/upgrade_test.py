"""An upgrade while jobs are under way, and the way back: as docs/operating.md has them.

`data/rows_38.sql` has the rows of a file of the oldest version that is read, in the middle of a
night; `storage/schema.sql` is that version's schema. Neither changes. How the rows were made, with
NIGHTJAR_BIN naming the folder of programs of that version:

    upgrade_test.py tests/e2e/data/rows_38.sql
"""

import contextlib
import json
import pathlib
import signal
import sqlite3
import sys
import tempfile
import time

import pytest

from durability_test import database, run_documented, start_and_wait
from session_result import session_result
from world import ROOT, WORKLOADS, World

OLD_VERSION = 38
HEAD = f"""PRAGMA auto_vacuum = 2;
PRAGMA application_id = {0x4e4a4152};
PRAGMA user_version = {OLD_VERSION};
"""
ROWS = pathlib.Path(__file__).with_name("data") / f"rows_{OLD_VERSION}.sql"
NIGHTLIES = ["2026-08-19", "2026-08-20"]
# Longer than any test: what is under way stays with who has it.
LONG = {"queue": {"lease": 3600, "tick": 1}, "night": {"workloads": [WORKLOADS[0]]}}


class Agent:
    """Speaks the agents' protocol; a machine class of its own. It registers once, as an agent that
    goes on running while the service is replaced."""

    def __init__(self, world, name):
        self.world, self.name = world, name
        self.runner = None

    def post(self, path, body):
        """(status, answer)."""
        status, text = self.world.request("POST", f"/api/v1/agent/{path}", body, token="runner")
        return status, json.loads(text) if text else None

    def register(self):
        status, answer = self.post("register", {
            "name": self.name, "labels": {}, "version": "1", "workloads": [f"{WORKLOADS[0]}@1"],
            "instance": f"host of {self.name}", "facts": {"cpu_model": f"of {self.name}"}})
        assert status == 200, answer
        self.runner = answer["runner"]

    def claim(self):
        """A job, or None."""
        status, answer = self.post("claim", {
            "runner": self.runner, "instance": f"host of {self.name}", "wait_seconds": 0})
        assert status in (200, 204), answer
        return answer

    def renew(self, job, **other):
        """The status."""
        return self.post(f"jobs/{job['id']}/renew", proof(job) | other)[0]

    def send_result(self, job, **other):
        """(status, what became of it)."""
        result = session_result(job["spec"]["order"], 5)
        status, answer = self.post(f"jobs/{job['id']}/result",
                                   proof(job) | {"result": result} | other)
        return status, answer.get("accepted")


def proof(job):
    return {"attempt": job["attempt"], "nonce": job["nonce"]}


def work(world, agents, nights):
    """Lets the agents measure what they are given until `nights` nights are done."""
    def is_done():
        for agent in agents:
            while job := agent.claim():
                assert agent.send_result(job) == (200, "stored")
        return world.night_done(nights)
    world.wait(f"{nights} nights", is_done)


def claim_soon(world, agent):
    return world.wait(f"a job for {agent.name}", agent.claim)


def publish(world, nightlies):
    for date in nightlies:
        world.repo.grow(4)
        world.publish_nightly(date)


def night_under_way(world):
    """One night is done; of the next, the job of `lab` is claimed and that of `far` waits. Stops
    the service. Returns both agents and the claimed job."""
    publish(world, NIGHTLIES[:1])
    world.start_daemon()
    agents = [Agent(world, "lab"), Agent(world, "far")]
    for agent in agents:
        agent.register()
    work(world, agents, 1)
    publish(world, NIGHTLIES[1:])
    job = claim_soon(world, agents[0])
    world.wait("the other job", lambda: world.get("/api/v1/jobs?state=queued")["items"])
    world.kill("nightjard", signal.SIGTERM)
    return agents, job


# ---- files
@contextlib.contextmanager
def opened(file):
    with contextlib.closing(sqlite3.connect(file)) as connection, connection:
        yield connection


def version_of(file):
    with opened(file) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return connection.execute("PRAGMA user_version").fetchone()[0]


def text_of(file):
    """Schema and rows."""
    with opened(file) as connection:
        return list(connection.iterdump())


def times_of(connection):
    """(table, column) of each column that holds an instant."""
    tables = [name for name, in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table'")]
    return [(table, column[1]) for table in tables
            for column in connection.execute(f"PRAGMA table_info({table})")
            if column[1].endswith("_us")]


def load_old(file):
    """The old version's file, as though it had been written a moment ago."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with opened(file) as connection:
        connection.executescript(
            HEAD + (ROOT / "storage/schema.sql").read_text() + ROWS.read_text())
        [written] = connection.execute("SELECT max(seen_at_us) FROM runner").fetchone()
        later = int(time.time() * 1e6) - written
        for table, column in times_of(connection):
            connection.execute(f"UPDATE {table} SET {column} = {column} + ? WHERE {column} > 1e15",
                               [later])


def claimed_in(file):
    """The job that is claimed there, as its agent knows it."""
    with opened(file) as connection:
        [(job, attempt, nonce, spec)] = connection.execute(
            "SELECT id, attempt, nonce, spec FROM job WHERE state = 'leased'").fetchall()
    return {"id": job, "attempt": attempt, "nonce": nonce, "spec": json.loads(spec)}


def agents_in(world):
    agents = [Agent(world, "lab"), Agent(world, "far")]
    for agent in agents:
        with opened(database(world)) as connection:
            [agent.runner] = connection.execute("SELECT id FROM runner WHERE name = ?",
                                                [agent.name]).fetchone()
    return agents


# ---- tests
def upgraded(world):
    """A world whose service of today has just started with the old version's file; the agents, the
    job that one of them has, and the text of the old file."""
    w = world(**LONG)
    publish(w, NIGHTLIES)
    load_old(database(w))
    agents, job, before = agents_in(w), claimed_in(database(w)), text_of(database(w))
    w.start_daemon()
    return w, agents, job, before


def backup_of(world):
    return database(world).with_name(f"nightjar.sqlite.before-v{OLD_VERSION}")


@pytest.mark.first
def test_an_upgrade_keeps_a_backup_and_what_was_under_way_goes_on(world):
    w, agents, job, before = upgraded(world)
    assert version_of(backup_of(w)) == OLD_VERSION
    assert text_of(backup_of(w)) == before
    assert version_of(database(w)) > OLD_VERSION
    lab = agents[0]
    assert lab.renew(job, nonce="0" * 32) == 409
    assert lab.renew(job) == 200
    assert lab.send_result(job, nonce="0" * 32) == (200, "stale")
    assert lab.send_result(job) == (200, "stored")
    assert lab.send_result(job) == (200, "already_stored")
    work(w, agents, 2)
    publish(w, ["2026-08-21"])
    work(w, agents, 3)
    nights = sorted(w.items("nights"), key=lambda night: night["id"])
    assert [night["build"]["version"][-12:-4] for night in nights] == [
        "20260819", "20260820", "20260821"]
    assert {one["state"] for one in w.items("jobs")} == {"done"}
    assert all(one["attempt"] == 1 for one in w.items("jobs"))
    assert w.items("regressions") == []


def test_a_result_of_before_the_upgrade_is_refused_by_the_restored_file_once_it_is_measured_again(
        world):
    w, agents, job, before = upgraded(world)
    lab = agents[0]
    assert lab.send_result(job) == (200, "stored")
    w.kill("nightjard", signal.SIGTERM)
    restored = run_documented(w, "--restore", backup_of(w))
    assert restored.returncode == 0, restored.stderr
    assert text_of(database(w)) == before
    w.start_daemon_again()
    lab.register()  # it has no result any more, and starts over
    again = claim_soon(w, lab)
    assert again["id"] == job["id"] and again["nonce"] != job["nonce"]
    assert lab.send_result(job) == (200, "stale")
    assert lab.send_result(again) == (200, "stored")
    work(w, agents, 2)


# The program of today plays the older one: the file is made to look as a newer one writes it.
def test_an_older_program_refuses_a_newer_file_and_goes_on_with_the_restored_one(world):
    w = world(**LONG)
    agents, job = night_under_way(w)
    lab = agents[0]
    backup = database(w).with_name("nightjar.sqlite.before")
    w.start_daemon_again()
    made = run_documented(w, "--backup", backup)
    assert made.returncode == 0, made.stderr
    # What the newer program did before it was found wanting.
    assert lab.send_result(job) == (200, "stored")
    work(w, agents, 2)
    publish(w, ["2026-08-21"])
    lost = claim_soon(w, lab)
    w.kill("nightjard", signal.SIGTERM)
    known = version_of(database(w))
    with opened(database(w)) as connection:
        connection.execute("CREATE TABLE of_tomorrow (id INTEGER PRIMARY KEY)")
        connection.execute(f"PRAGMA user_version = {known + 1}")

    ended = start_and_wait(w)
    assert ended.returncode == 3
    [line] = ended.stderr.strip().splitlines()
    assert f"has schema version {known + 1}" in line and f"versions up to {known};" in line
    assert "restore a backup" in line
    refused = run_documented(w, "--restore", database(w))
    assert refused.returncode == 3 and version_of(database(w)) == known + 1
    restored = run_documented(w, "--restore", backup)
    assert restored.returncode == 0, restored.stderr
    w.start_daemon_again()
    # The second one is under way again; the third may have been found by now.
    states = {night["build"]["version"][-12:-4]: night["state"] for night in w.items("nights")}
    assert states["20260819"] == "done" and states["20260820"] != "done"
    status, accepted = lab.send_result(lost)
    assert (status, accepted) == (404, None) or accepted == "stale"
    lab.register()
    again = claim_soon(w, lab)
    assert again["id"] == job["id"] and again["nonce"] != job["nonce"]
    assert lab.send_result(again) == (200, "stored")
    work(w, agents, 3)
    assert {one["state"] for one in w.items("jobs")} == {"done"}


def record(file):
    with tempfile.TemporaryDirectory() as folder:
        world = World(pathlib.Path(folder), **LONG)
        try:
            night_under_way(world)
            rows = [line for line in text_of(database(world)) if line.startswith("INSERT")]
            pathlib.Path(file).write_text("\n".join([
                "PRAGMA foreign_keys = OFF;", "BEGIN TRANSACTION;", *rows, "COMMIT;"]) + "\n")
        finally:
            world.stop()


if __name__ == "__main__":
    record(sys.argv[1])
