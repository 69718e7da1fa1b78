"""Pilots on a real Slurm, as docs/clusters.md has them: controller and nodes on this machine, real
service and agent. Only the levels are scripted. What Slurm does to pilots changes no result."""
import json
import os
import subprocess

import pytest

import slurm_cluster
from loop_test import assert_no_run_twice, blamed, finish, first_night, shas
from world import BIN, ROOT, UV, WORKLOADS, script, step

pytestmark = [
    pytest.mark.skipif(bool(slurm_cluster.missing()), reason=slurm_cluster.missing()),
    pytest.mark.timing]
CULPRIT = 6
RULES = [step(WORKLOADS[0], CULPRIT, latency=1.25)]
POOL = "pool=slurm"


@pytest.fixture
def cluster(tmp_path):
    made = slurm_cluster.Cluster(tmp_path / "slurm")
    made.start()
    yield made
    made.stop()


class Pilots:
    """nightjar-pilot, for the service of `world`."""

    def __init__(self, world, cluster, **settings):
        self.world, self.cluster, self.folder = world, cluster, world.folder / "pilots"
        self.folder.mkdir()
        rules = world.folder / "script.json"
        rules.write_text(json.dumps(script(*RULES, run_seconds=.1)))
        self.settings = self.folder / "settings"
        values = {
            "NIGHTJAR_URL": world.url, "NIGHTJAR_TOKEN_FILE": world.folder / "runner.token",
            "NIGHTJAR_LABEL": POOL, "NIGHTJAR_CACHE": self.folder / "cache",
            "NIGHTJAR_RUNNER": BIN / "nightjar-runner", "NIGHTJAR_DOCTOR": "advisory",
            "NIGHTJAR_RUNNER_OPTIONS": f"--scripted {rules} --uv {UV}",
            "NIGHTJAR_SPREAD_SECONDS": 0, "NIGHTJAR_IDLE_SECONDS": 2, **settings}
        self.settings.write_text("".join(f'{name}="{value}"\n' for name, value in values.items()))
        self.environment = dict(cluster.environment, XDG_CACHE_HOME=str(self.folder / "memory"))
        self.command = [
            ROOT / "deploy/slurm/nightjar-pilot", "--settings", self.settings, "--max", "2",
            "--interval", "1"]
        self.after = ["--", f"--output={self.folder}/%j.%N.log"]

    def start(self):
        log = open(self.world.folder / "nightjar-pilot.log", "ab")
        self.world.processes["nightjar-pilot"] = subprocess.Popen(
            [str(word) for word in self.command + self.after], env=self.environment, stdout=log,
            stderr=log)

    def once(self, *options):
        command = [*self.command, "--once", *options, *self.after]
        return subprocess.run([str(word) for word in command],
                              env=self.environment, text=True, capture_output=True, timeout=90)

    def logs(self):
        return "".join(log.read_text(errors="replace") for log in sorted(self.folder.glob("*.log")))

    def disturb(self, what, how):
        """Does it to nodes that hold a job until a job was given back because of it."""
        before = self.logs().count("job given back")

        def given_back():
            for runner in self.world.items("runners"):
                if runner["job"] and any(job["node"] == runner["name"]
                                         for job in self.cluster.running("nightjar-pilot")):
                    how(runner["name"])
                    self.cluster.wait(f"{runner['name']} to be free", lambda: not any(
                        job["node"] == runner["name"]
                        for job in self.cluster.running("nightjar-pilot")))
                    break
            return self.logs().count("job given back") > before
        self.world.wait(f"a session to be {what}", given_back, 60)


def measure_second_night(world):
    world.repo.grow(12)
    world.publish_nightly("2026-08-20")


def outcome(world):
    return {"blamed": shas(blamed(world)["latency"]), "issues": len(world.issues()),
            "failed": [job["reason"] for job in world.items("jobs") if job["state"] == "failed"],
            "lost": [one["trouble"] for one in world.items("runners") if one["trouble"]]}


@pytest.mark.first
def test_a_night_through_pilots_ends_as_one_without(world, cluster):
    plain, w = world(), world()
    first_night(plain, *RULES)
    measure_second_night(plain)
    finish(plain)

    w.publish_nightly("2026-08-19")
    w.start_daemon()
    pilots = Pilots(w, cluster)
    pilots.start()
    # Nothing is queued while no runner is known: one pilot comes for the night itself.
    w.wait("the first night", lambda: w.night_done(1), 60)
    w.wait("idle pilots to end", lambda: not cluster.jobs("nightjar-pilot"), 30)
    assert 'cause="no job for 2 s"' in pilots.logs()

    urgent = w.folder / "urgent.sh"
    urgent.write_text("#!/bin/sh\nsleep 1\n")
    measure_second_night(w)
    pilots.disturb("preempted", lambda node: cluster.call(
        "sbatch", "--partition=urgent", "--exclusive", f"--nodelist={node}", "--time=1",
        "--output=/dev/null", urgent))
    pilots.disturb("cancelled", lambda node: cluster.call(
        "scancel", *(job["id"] for job in cluster.running("nightjar-pilot")
                     if job["node"] == node)))
    w.wait("a busy node", lambda: cluster.running("nightjar-pilot"), 30)
    drained = cluster.running("nightjar-pilot")[0]["node"]
    cluster.call("scontrol", "update", f"NodeName={drained}", "State=DRAIN", "Reason=test")
    cluster.stop_controller()
    w.wait("nightjar-pilot to be told nothing", lambda: "nothing more is submitted" in w.tail(
        "nightjar-pilot"))
    cluster.start_controller()
    finish(w)
    assert outcome(w) == outcome(plain) == {
        "blamed": [w.repo.commits[CULPRIT]], "issues": 1, "failed": [], "lost": []}
    assert_no_run_twice(w)
    # Never more pilots at once than there may be.
    assert {one["name"] for one in w.items("runners")} <= set(cluster.names)


def test_a_slice_ends_between_two_sessions(world, cluster):
    w = world()
    w.publish_nightly("2026-08-19")
    w.start_daemon()
    # The slice of an hour is over for the agent after 20 seconds. The doctor takes two, the session
    # another one, and several times as long where compilers work beside them.
    pilots = Pilots(w, cluster, NIGHTJAR_MARGIN_SECONDS=3600 - 20, NIGHTJAR_IDLE_SECONDS=60)
    assert pilots.once().returncode == 0
    w.wait("the night", lambda: w.night_done(1), 60)
    cluster.wait("the pilot to end", lambda: not cluster.jobs(), 60)
    assert 'ending cause="it is ' in pilots.logs()
    assert "given back" not in pilots.logs()
    assert outcome_of_night(w) == ("done", [])


def outcome_of_night(world):
    return (world.items("nights")[0]["state"],
            [job["state"] for job in world.items("jobs") if job["state"] != "done"])


def test_a_node_that_the_doctor_refuses_claims_nothing_and_is_not_stormed(world, cluster):
    w = world()
    w.publish_nightly("2026-08-19")
    w.start_daemon()
    w.wait("a night that measures", lambda: any(
        night["state"] == "measuring" for night in w.items("nights")))
    sick = w.folder / "sick-runner"
    sick.write_text('#!/bin/sh\n[ "$1" = doctor ] || touch "$0.claimed"\nexit 1\n')
    sick.chmod(0o755)
    pilots = Pilots(w, cluster, NIGHTJAR_RUNNER=sick, NIGHTJAR_DOCTOR="required")
    # The pilot fails at once, and the next one would come after the interval.
    for _ in range(4):
        assert pilots.once("--interval", "3600").returncode == 0
        cluster.wait("the pilot to end", lambda: not cluster.jobs())
    (log, ) = pilots.folder.glob("*.log")
    assert "is not fit to measure" in log.read_text()
    assert not os.path.exists(f"{sick}.claimed")
    assert w.items("runners") == []
