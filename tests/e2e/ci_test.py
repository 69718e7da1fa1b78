"""A service that fetches wheels of CI from a bucket on loopback, and is killed while it does."""

import hashlib
import urllib.parse

import pytest

from world import Double, World

ENVIRONMENT = "linux-jammy-py3.11-gcc11"


class Ci(Double):
    """The double of tests/support/ci as a process."""

    def __init__(self, folder):
        folder.mkdir()
        super().__init__(
            "ci", "--repository", "pytorch/pytorch", "--folder", folder, "--page-size", "2"
        )

    def publish(self, run, commit, **recipe):
        """A finished run of `commit` with its wheel in the archive of one environment."""
        self.tell("runs", items=[{"id": run, "head_sha": commit}])
        recipe = {
            "version": f"2.14.0a0+git{commit[:7]}",
            "git_version": commit,
            "payload_bytes": 3 << 20,
        } | recipe
        self.tell(
            "archives",
            items=[
                {
                    "key": f"pytorch/pytorch/{run}/{ENVIRONMENT}/artifacts.zip",
                    "members": [{"name": "build/tests", "zeros": 8 << 20}, {"wheel": recipe}],
                }
            ],
        )


@pytest.fixture
def watched(tmp_path):
    """A world with a nightly, two later commits in C++, and a mirror of CI."""
    ci = Ci(tmp_path / "ci")
    world = World(
        tmp_path,
        **{
            "source.ci": {
                "environments": ["linux-jammy-py3.*-gcc11"],
                "api": f"{ci.url}/api",
                "bucket": f"{ci.url}/bucket",
                "repository": "pytorch/pytorch",
                "mirror": "days:9999",
            }
        },
    )
    world.repo.grow(1)
    world.publish_nightly("2026-08-20")
    world.repo.grow(2, native={2, 3})
    yield world, ci, world.repo.commits[-2:]
    world.stop()
    state = ci.tell("state")
    ci.stop()
    assert state["violations"] == []


def of_ci(world):
    return [build for build in world.items("builds") if build["kind"] == "ci"]


def artifacts(world):
    return sorted(path.name for path in (world.folder / "data" / "artifacts").iterdir())


@pytest.mark.first
def test_wheels_of_ci_become_proved_builds(watched):
    world, ci, (first, second) = watched
    ci.publish(1, first)
    ci.publish(2, second)
    world.start_daemon()
    builds = world.wait("two wheels of CI", lambda: len(of_ci(world)) == 2 and of_ci(world))
    assert {build["commit"] for build in builds} == {first, second}
    for build in builds:
        assert build["state"] == "proved"
        assert build["version"] == f"2.14.0a0+git{build['commit'][:7]}"
        name = urllib.parse.quote(f"torch-{build['version']}-cp311-cp311-linux_x86_64.whl")
        assert build["url"].endswith(f"/{ENVIRONMENT}/artifacts.zip!/dist/{name}")
        assert build["sha256"] in artifacts(world)


@pytest.mark.parametrize("fault", ["403_retry_after", "404", "cut_before", "half_xml"])
def test_a_fault_of_one_look_does_not_stop_the_next_commit(watched, fault):
    world, ci, (first, second) = watched
    ci.publish(1, first)
    ci.publish(2, second)
    ci.tell("faults", items=[{"on": "%2F2%2F", "kind": fault, "times": 2, "retry_after": 3600}])
    world.start_daemon()
    world.wait(
        "the other commit's wheel", lambda: [build["commit"] for build in of_ci(world)] == [first]
    )
    (lookup,) = world.wait(
        "the state of the other",
        lambda: [
            one
            for one in world.items("lookups")
            if one["commit"] == second and one["state"] == "failed"
        ],
    )
    assert (
        lookup["reason"] and lookup["retry_at"] and "actions/runs?head_sha=" in lookup["looked_at"]
    )


def test_a_download_that_is_killed_leaves_nothing_that_is_used(watched):
    world, ci, (first, _) = watched
    ci.publish(1, first)
    # Behind the archive's end and the member's header comes the wheel itself: only half of it.
    ci.tell("faults", items=[{"on": "GET /bucket/pytorch", "kind": "hold", "skip": 2}])
    world.start_daemon()
    world.wait(
        "half of the wheel",
        lambda: any(
            name.startswith("tmp-")
            and (world.folder / "data" / "artifacts" / name).stat().st_size > 1 << 20
            for name in artifacts(world)
        ),
    )
    assert of_ci(world) == []
    world.kill("nightjard")
    assert [name for name in artifacts(world) if name.startswith("tmp-")]
    world.start_daemon_again()
    (build,) = world.wait("the wheel", lambda: of_ci(world))
    assert build["state"] == "proved" and build["commit"] == first
    assert not [name for name in artifacts(world) if name.startswith("tmp-")]
    for name in artifacts(world):
        assert (
            hashlib.sha256((world.folder / "data" / "artifacts" / name).read_bytes()).hexdigest()
            == name
        )
