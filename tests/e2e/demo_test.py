"""The demo's stage with the real service, and a wheel of a few files that says it was built for
CUDA."""

import datetime
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "deploy" / "demo.d"), str(ROOT / "tests" / "support")]

import day_wheel  # noqa: E402
import pytorch_day  # noqa: E402
import wheel  # noqa: E402
from follow import follow  # noqa: E402
from stage import Broken, Stage  # noqa: E402

NOTHING = {"builds": [], "lookups": [], "nights": [], "jobs": [], "regressions": [],
           "bisections": [], "reports": []}


class Options:
    seed, quiet_day = 1, False


@pytest.fixture
def publish(tmp_path, monkeypatch):
    """Makes a service that watches an index with the first nightlies of a CUDA build:
    (stage, day)."""
    ends = []

    def make(count=1):
        base = day_wheel.make(tmp_path, "2.13.0+cu130", "", cuda="13.0")
        monkeypatch.setattr(pytorch_day, "find_wheel", lambda: base)
        day = pytorch_day.PyTorchDay(Options)
        day.make(str(tmp_path / "day"), lambda _: None)
        stage = Stage(tmp_path)
        ends.extend([stage.stop, day.close])
        day.open(stage)
        stage.start_service()
        day.publish(count)
        return stage, day
    yield make
    for end in ends:
        end()


def test_the_nightlies_of_a_cuda_build_are_proved(publish):
    stage, day = publish()

    def judged():
        return [
            build for build in stage.service.items("/api/v1/builds") if build["state"] != "found"]
    builds = stage.wait(judged, 60, "the nightly to be judged")
    assert [(build["version"], build["variant"], build["state"]) for build in builds] == [
        (day.nightlies[0]["version"], "cu130", "proved")]


def test_cis_wheels_of_the_day_are_proved_and_the_other_groups_are_known_to_have_none(publish):
    stage, day = publish()
    stage.wait(lambda: [build for build in stage.service.items("/api/v1/builds")
                        if build["state"] == "proved"], 60, "the first nightly")
    day.publish(2)

    def fetched():
        states = [lookup["state"] for lookup in stage.service.items("/api/v1/lookups")]
        return len(day.archives) == states.count("fetched") and "wanted" not in states
    stage.wait(fetched, 120, "CI's wheels")
    builds = [build for build in stage.service.items("/api/v1/builds") if build["kind"] == "ci"]
    assert {(build["commit"], build["state"]) for build in builds} == {
        (commit, "proved") for commit in day.archives}
    others = {lookup["state"] for lookup in stage.service.items("/api/v1/lookups")
              if lookup["commit"] not in day.archives}
    assert others == {"absent"}
    day.check()


def test_the_demo_ends_with_the_reason_when_its_nightly_is_refused(publish, monkeypatch):
    monkeypatch.setattr(wheel, "variant", lambda base: "cpu")
    stage, day = publish()
    with pytest.raises(
            Broken,
            match="is refused as unproved: it should be of variant cpu, but was built for CUDA 13.0"
    ):
        follow(stage, lambda _: None, NOTHING, day.nightlies[0])
