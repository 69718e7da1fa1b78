"""The demo's stage with the real service, and a wheel of a few files that says it was built for
CUDA."""

import datetime
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "deploy" / "demo.d"), str(ROOT / "tests" / "support")]

import day_wheel  # noqa: E402
import index_server  # noqa: E402
import make_day  # noqa: E402
import wheel  # noqa: E402
from follow import follow  # noqa: E402
from stage import Broken, Stage  # noqa: E402

NOTHING = {
    "builds": [], "nights": [], "jobs": [], "regressions": [], "bisections": [], "reports": []}


@pytest.fixture
def publish(tmp_path):
    """Makes a service that watches an index with the first nightly of a CUDA build: (stage,
    nightly)."""
    ends = []

    def make():
        base = day_wheel.make(tmp_path, "2.13.0+cu130", "", cuda="13.0")
        folder = tmp_path / "day"
        folder.mkdir()
        today = datetime.datetime.now(datetime.timezone.utc).date()
        day = make_day.make_day(base, str(folder), 1, False, today)
        index, stop_index = index_server.start(str(folder))
        stage = Stage(tmp_path)
        ends.extend([stage.stop, stop_index])
        stage.write_configuration(index, day["repository"], day["variant"], "cp311")
        stage.start_service()
        make_day.publish(str(folder), day, 1)
        return stage, day["nightlies"][0]
    yield make
    for end in ends:
        end()


def test_the_nightlies_of_a_cuda_build_are_proved(publish):
    stage, nightly = publish()

    def judged():
        return [
            build for build in stage.service.items("/api/v1/builds") if build["state"] != "found"]
    builds = stage.wait(judged, 60, "the nightly to be judged")
    assert [(build["version"], build["variant"], build["state"]) for build in builds] == [
        (nightly["version"], "cu130", "proved")]


def test_the_demo_ends_with_the_reason_when_its_nightly_is_refused(publish, monkeypatch):
    monkeypatch.setattr(wheel, "variant", lambda base: "cpu")
    stage, nightly = publish()
    with pytest.raises(
            Broken,
            match="is refused as unproved: it should be of variant cpu, but was built for CUDA 13.0"
    ):
        follow(stage, lambda _: None, NOTHING, nightly)
