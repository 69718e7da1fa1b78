"""The life of a pod on a cluster's GPU: nothing is installed or kept but its image, it has no
secret, it measures with whatever clocks its node has, and it is killed. The libraries of the GPU,
PyTorch's profiler, the index and the issuer of tokens are doubles; agent and service are real."""
import random
import time

import pytest

from environment_test import subjects, verdicts
from gpu_agent_test import (NVIDIA, PRODUCTS, begin, controls_on_the_gpu, double_of_nvidia, publish,
                            start_agent, told)
from loop_test import assert_no_run_twice, finish_in_noise

AUDIENCE = "https://nightjar.test"
# A node's clocks are not locked: an H100 at 1.5 GHz, held back by its power cap.
UNLOCKED = NVIDIA.replace("sm=1980", "sm=1500").replace("events=0x2", "events=0x4")


class Pods:
    """One pod after another, each with an empty file system of its own."""

    def __init__(self, w, issuer, gpu):
        self.world, self.gpu, self.made = w, gpu, 0
        w.environment = issuer.environment()

    def start(self):
        self.made += 1
        w, folder = self.world, self.world.folder / f"pod-{self.made}"
        folder.mkdir()
        start_agent(w, self.gpu, f"pod-{self.made}", folder, "--oidc", "github", "--audience",
                    AUDIENCE, "--device", "cuda", "--label", "pool=h100", "--doctor", "advisory")

    def busy(self):
        return any(one["job"] for one in self.world.items("runners")
                   if one["name"] == f"pod-{self.made}")

    def kill_while_busy(self):
        self.world.wait("a claimed session", self.busy, 60)
        time.sleep(random.uniform(0, 3))  # some moment of it
        self.world.kill(f"pod-{self.made}")
        self.start()


@pytest.mark.timing
def test_a_pod_from_nothing_to_a_culprit_killed_twice_on_the_way(world, issuer, tmp_path):
    (tmp_path / "gpu").mkdir()
    gpu = double_of_nvidia(tmp_path / "gpu", UNLOCKED)
    w = begin(world, gpu, lease=5, more=issuer.trusted(AUDIENCE))
    pods = Pods(w, issuer, gpu)
    pods.start()
    pods.kill_while_busy()
    finish_in_noise(w, 1)
    publish(w, "2026-08-19", 110, "Tile ten times more")
    pods.kill_while_busy()
    finish_in_noise(w, 2)
    [found] = told(w)
    assert [(one["workload"], one["metric"]) for one in found["series"]] == [
        (PRODUCTS, "kernel_time")]
    assert found["series"][0]["ratio"] == pytest.approx(1.1, abs=.01)
    assert subjects(w, found) == ["Tile ten times more"]
    code, said = verdicts(w, found["id"])
    assert code == 0, said
    assert_no_run_twice(w)
    assert pods.made == 3 and controls_on_the_gpu(w) > 0
    assert all(one["labels"]["pool"] == "h100" for one in w.items("runners"))
    for pod in range(1, pods.made + 1):
        text = (w.folder / f"pod-{pod}.log").read_text()
        assert issuer.SECRET not in text and "eyJ" not in text
    # What harms is told of each session and ends none.
    assert "each session notes it" in text
