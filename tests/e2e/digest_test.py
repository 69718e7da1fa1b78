"""Weeks end: the digest of each is filed once, also if the service is killed or was away."""
import re

import pytest

from clock_world import ClockWorld
from world import WORKLOADS, script, step

pytestmark = pytest.mark.release


@pytest.fixture
def monday(tmp_path):
    """A service that files a digest on Mondays at 8:00. It begins on a Tuesday."""
    world = ClockWorld(tmp_path, **{"report.digest": {
        "on": ["monday"], "reference": "2.14.0.dev20260831+cpu"}})
    world.set_time("2026-09-01T09:00:00Z")
    yield world
    world.stop()


def digests(world):
    """The issues that tell of a week, by the week's last day."""
    found = [(re.search(r'^title: "Nightjar from \S+ to (\S+):', text, re.MULTILINE), text)
             for text in (issue.read_text() for issue in world.issues())]
    return [(title[1], text) for title, text in found if title]


@pytest.mark.first
def test_each_week_that_ends_has_one_digest(monday):
    world = monday
    world.publish_nightly("2026-08-31")
    world.start_daemon()
    world.start_runner(script(step(WORKLOADS[0], 3, latency=1.3)))
    world.wait("the first night", lambda: world.night_done(1))
    world.repo.grow(5)
    world.publish_nightly("2026-09-01")
    world.wait("the finding's issue", lambda: any(
        one["state"] == "reported" and one["issue_url"] for one in world.items("regressions")), 120)
    assert digests(world) == []

    world.set_time("2026-09-07T08:00:05Z")
    world.wait("the week's digest", lambda: digests(world))
    world.kill("nightjard")  # maybe before it knows that the issue was filed
    world.start_daemon_again()
    world.wait("all to be sent", lambda: {
        one["state"] for one in world.items("reports")} == {"sent"})

    world.kill("nightjard")
    world.set_time("2026-10-05T09:00:00Z")  # four weeks later
    world.start_daemon_again()
    world.wait("the digest of the latest week", lambda: len(digests(world)) > 1)
    world.wait("all to be sent", lambda: {
        one["state"] for one in world.items("reports")} == {"sent"})
    (first, busy), (last, idle) = digests(world)
    assert (first, last) == ("2026-09-07", "2026-10-05")
    assert "1 new finding, 0 series that got better" in busy
    assert WORKLOADS[0] in busy and world.repo.commits[3][:12] in busy
    assert "against `2.14.0.dev20260831+cpu`" in busy and "**1 series is worse" in busy
    assert "Nothing was measured" in idle
    told = [one for one in world.items("reports") if one["regression"] is None]
    assert len(told) == 2 and all(one["url"] for one in told)
