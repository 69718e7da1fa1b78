"""deploy/action-runner against a real service: jobs on pods as GitHub's runner controller makes
them, each with an empty file system and another name. Only the levels are scripted."""
import hashlib
import json
import random
import signal
import subprocess
import tarfile
import time

import pytest

from composite_action import CompositeAction
from loop_test import assert_no_run_twice, blamed, finish, shas
from world import BIN, ROOT, UV, WORKLOADS, script, step

CULPRIT = 6
MOST_SECONDS = 600  # from a pod's start to its first result


class Pods:
    """Starts one pod after another for the service of `world`."""

    def __init__(self, world, issuer):
        self.world, self.issuer, self.made = world, issuer, []
        archive = world.index.folder / "nightjar-runner.tar"
        with tarfile.open(archive, "w") as tar:
            tar.add(BIN / "nightjar-runner", "nightjar/bin/nightjar-runner")
        rules = world.folder / "script.json"
        rules.write_text(json.dumps(script(step(WORKLOADS[0], CULPRIT, latency=1.25),
                                           run_seconds=.1)))
        self.inputs = {
            "service": world.url, "minutes": "10", "labels": "pool=arc fleet=test",
            "archive": f"{world.index.url}/{archive.name}",
            "sha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
            "options": f"--scripted '{rules}' --uv {UV}"}

    def start(self, **inputs):
        pod = CompositeAction(ROOT / "deploy" / "action-runner",
                              self.world.folder / f"pod-{len(self.made)}",
                              self.issuer.environment())
        self.made.append(pod)
        pod.start(**{**self.inputs, **inputs})
        return pod

    def stop(self):
        for pod in self.made:
            if pod.process.poll() is None:
                pod.process.kill()
                pod.process.wait(30)


def holds_a_job(world, pod):
    return any(one["job"] for one in world.items("runners") if one["name"] == pod.folder.name)


@pytest.mark.first
def test_a_pod_works_from_nothing_and_a_killed_ones_session_is_resumed(world, issuer, capsys):
    w = world()
    w.config.write_text(w.config.read_text() + issuer.trusted("https://nightjar.test"))
    w.publish_nightly("2026-08-19")
    w.start_daemon()
    pods = Pods(w, issuer)
    pods.inputs["audience"] = "https://nightjar.test"
    try:
        killed, moment = pods.start(), random.uniform(0, 6)
        with pytest.raises(subprocess.TimeoutExpired):
            killed.process.wait(moment)
        killed.process.kill()
        killed.process.wait(30)
        begun = time.monotonic()
        again = pods.start()
        # The killed one may have returned the night's only session before.
        w.wait("the first result", lambda: w.items("runs"), MOST_SECONDS)
        with capsys.disabled():
            print(f"\nfirst result {time.monotonic() - begun:.1f} s after a pod's start from "
                  f"nothing; the one before it was killed after {moment:.1f} s")
        w.wait("the first night", lambda: w.night_done(1), 120)

        w.repo.grow(12)
        w.publish_nightly("2026-08-20")
        w.wait("a session of the second night", lambda: holds_a_job(w, again))
        again.process.send_signal(signal.SIGTERM)
        assert again.process.wait(30) == 0, again.said()
        assert "job given back" in again.said()
        pods.start()
        finish(w)
    finally:
        pods.stop()
    assert shas(blamed(w)["latency"]) == [w.repo.commits[CULPRIT]]
    assert not [job["reason"] for job in w.items("jobs") if job["state"] == "failed"]
    assert_no_run_twice(w)
    runner = next(one for one in w.items("runners") if one["name"] == again.folder.name)
    assert {"pool": "arc", "fleet": "test"}.items() <= runner["labels"].items()
    assert again.outputs() == {"name": again.folder.name}
    for pod in pods.made:
        assert issuer.SECRET not in pod.said() and "eyJ" not in pod.said()
