"""What the demo waits for, for how long, and when it gives up."""

import pytest

import narrate
from follow import Patience, follow
from stage import Broken

NIGHTLY = {"version": "2.13.0.dev20260820+cpu", "date": "2026-08-20"}
NOTHING = {"builds": [], "lookups": [], "nights": [], "jobs": [], "regressions": [],
           "bisections": [], "reports": []}


def build(state, reason="", kind="nightly"):
    return {
        "id": 1, "kind": kind, "version": NIGHTLY["version"], "state": state, "reason": reason,
        "commit": "a" * 40, "base": None}


def night(state):
    return [{"id": 3, "state": state, "build": {"date": NIGHTLY["date"]}, "reason": ""}]


class FakeStage:
    """A service that always says the same."""
    folder = "/logs"

    def __init__(self, snapshot):
        self.service = self
        self.snapshot = lambda: snapshot

    def check_alive(self):
        pass


@pytest.mark.parametrize("state", ["unproved", "unusable"])
def test_a_refused_nightly_ends_the_demo_with_the_reason(state):
    stage = FakeStage(
        NOTHING
        | {"builds": [build(state, "it should be of variant cpu, but was built for CUDA 13.0")]})
    said = []
    with pytest.raises(Broken) as stopped:
        follow(stage, said.append, NOTHING, NIGHTLY)
    assert str(stopped.value) == (f"the nightly 2.13.0.dev20260820+cpu is refused as {state}: "
                                  "it should be of variant cpu, but was built for CUDA 13.0")
    assert len(said) == 1


def test_another_build_that_cannot_be_used_is_part_of_the_day():
    overlay = build("unusable", kind="overlay") | {"version": "overlay"}
    assert narrate.refusal(NOTHING | {"builds": [overlay, build("proved")]},
                           NIGHTLY["version"]) is None


def test_a_settled_nightly_ends_the_waiting():
    end = NOTHING | {"builds": [build("proved")], "nights": night("done")}
    noticed = []
    assert follow(FakeStage(end), lambda _: None, NOTHING, NIGHTLY, noticed.append) == end
    assert noticed == [end]


@pytest.mark.parametrize("what, snapshot", [
    ("the nightly 2.13.0.dev20260820+cpu to be found and proved", NOTHING),
    ("the nightly 2.13.0.dev20260820+cpu to be found and proved", {"builds": [build("found")]}),
    ("the night of 2.13.0.dev20260820+cpu to start", {"builds": [build("proved")]}),
    ("night 3 to be measured", {"nights": night("measuring")}),
    ("the suspects of night 3 to be compared again", {"nights": night("judging")}),
    ("the commits behind the regressions of night 3 to be found", {
        "nights": night("done"), "regressions": [{"state": "bisecting"}, {"state": "dismissed"}]}),
    ("the culprits of night 3 to be profiled and reported", {
        "nights": night("done"), "regressions": [{"state": "blamed"}], "reports": [{
            "state": "pending"}]})])
def test_each_stage_has_a_name_and_a_limit(what, snapshot):
    stage, seconds, _ = narrate.awaited(NOTHING | snapshot, NIGHTLY)
    assert stage == what and 0 < seconds <= 3600


def test_measuring_has_an_hour_on_a_busy_machine_also_for_the_profiles_of_a_report():
    measured = [{"nights": night("measuring")}, {"nights": night("judging")},
                {"nights": night("done"), "regressions": [{"state": "bisecting"}]},
                {"nights": night("done"), "regressions": [{"state": "blamed"}]}]
    assert [narrate.awaited(NOTHING | snapshot, NIGHTLY)[1] for snapshot in measured] == [3600] * 4


def test_who_waits_for_a_minute_hears_what_is_under_way(monkeypatch):
    jobs = [{"id": 1, "state": "leased", "kind": "confirm", "runs": 18, "reason": "",
             "workloads": ["python/dlrm/eval/eager/cpu"]}]
    compiled = NOTHING | {"nights": night("judging"), "jobs": jobs}
    stage = FakeStage(compiled)
    stage.last_words = lambda program: "[info] compiling native workloads against=/env"
    seconds = iter(range(0, 10_000, 10))
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr("follow.QUIET_SECONDS", 100)
    said = []

    def hear(sentence):
        said.append(sentence)
        stage.last_words = lambda program: "[info] result accepted"
        if len(said) == 2:
            stage.snapshot = lambda: NOTHING | {"nights": night("done")}
    follow(stage, hear, compiled, NIGHTLY, clock=lambda: next(seconds))
    assert said == ["  … a build's C++ headers differ: its native workloads are being compiled",
                    "  … a confirm session of 18 runs is being measured (python/dlrm/eval)",
                    "night 3 of 2026-08-20 is done: every verdict is in"]


def test_patience_ends_with_the_stage_that_lasts_too_long_and_its_reason():
    now = [0]
    patience = Patience("/logs", lambda: now[0])
    patience.check("a", 10)
    now[0] = 10
    patience.check("a", 10)
    patience.check("b", 10)
    now[0] = 20
    patience.check("b", 10)
    now[0] = 21
    with pytest.raises(Broken) as stopped:
        patience.check("b", 10, "no network")
    assert str(stopped.value) == "waited 10 s for b (no network); see the logs in /logs"
