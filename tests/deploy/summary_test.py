import copy

import narrate
import summary

A, B, C = "a" * 40, "b" * 40, "c" * 40
LEAD = {
    "series": 1, "workload": "python/x/act/cpu/fp32/b1/eager", "metric": "latency", "unit": "s",
    "before": 1.0, "after": 1.2, "ratio": 1.2, "low": 1.18, "high": 1.22}
EMPTY = {"builds": [], "lookups": [], "nights": [], "jobs": [], "regressions": [],
         "bisections": [], "reports": []}
TRUTH = {"commits": 50, "planted": [{"commit": A, "metric": "latency", "subject": "one"},
                                    {"commit": B, "metric": "peak_cpu_memory", "subject": "two"}]}
TIMES = {"setup": 1.0, "night": 2.0, "confirm": 3.0, "bisect": 4.0}


def regression(number, commits, state="reported", metric="latency"):
    culprit = {"commits": commits, "probability": .995, "ratio": 1.2, "low": 1.1, "high": 1.3
               } if commits else None
    return {"id": number, "state": state, "series": [dict(LEAD, metric=metric)], "culprit": culprit,
            "merged_into": None, "issue_url": f"reports/{number}.md"}


def snapshot(*regressions, unsent=()):
    reports = [{"regression": r["id"], "kind": "open_issue", "title": f"title {r['id']}",
                "state": "pending" if r["id"] in unsent else "sent"}
               for r in regressions if r["state"] in ("blamed", "reported")]
    jobs = [{"id": 1, "runs": 10, "state": "done"}, {"id": 2, "runs": 99, "state": "failed"}]
    return dict(EMPTY, regressions=list(regressions), reports=reports, jobs=jobs,
                builds=[{"kind": "nightly"}, {"kind": "overlay"}, {"kind": "overlay"}])


def test_the_planted_commits_and_only_those_are_right():
    result = summary.summarise(TRUTH, snapshot(regression(1, [A]), regression(2, [B])), TIMES)
    assert summary.is_right(result)
    assert result["builds"] == 2 and result["runs"] == 10 and result["seconds"] == TIMES
    assert result["reported"][0] | {"issue": 0} == {
        "commits": [A], "metric": "latency", "probability": .995, "ratio": 1.2, "title": "title 1",
        "issue": 0}


def test_a_missed_commit_is_wrong():
    result = summary.summarise(TRUTH, snapshot(regression(1, [A])), TIMES)
    assert result["missed"] == [B] and not summary.is_right(result)
    assert "MISSED" in summary.table(TRUTH, result)


def test_an_innocent_commit_is_wrong_also_beside_a_guilty_one():
    result = summary.summarise(TRUTH, snapshot(regression(1, [A, C]), regression(2, [B])), TIMES)
    assert result["innocent"] == [C] and not summary.is_right(result)


def test_two_issues_for_one_commit_are_wrong():
    result = summary.summarise(TRUTH,
                               snapshot(regression(1, [A]), regression(2, [B]), regression(3, [A])),
                               TIMES)
    assert result["missed"] == [] == result["innocent"] and not summary.is_right(result)


def test_blamed_but_not_sent_or_dismissed_is_not_reported():
    result = summary.summarise(
        TRUTH, snapshot(regression(1, [A], "blamed"), regression(2, None, "dismissed"), unsent=[1]),
        TIMES)
    assert result["reported"] == [] and result["missed"] == sorted([A, B])


def test_a_quiet_day_is_right_only_if_nothing_is_reported():
    quiet = {"commits": 50, "planted": []}
    assert summary.is_right(summary.summarise(quiet, snapshot(), TIMES))
    assert not summary.is_right(summary.summarise(quiet, snapshot(regression(1, [A])), TIMES))
    assert "nothing was planted" in summary.table(quiet,
                                                  summary.summarise(quiet, snapshot(), TIMES))


def night(state, date="2026-08-20"):
    return {"id": 1, "state": state, "build": {"date": date}}


def test_a_night_is_settled_when_nothing_is_open_any_more():
    day = snapshot(regression(1, [A]))
    assert not narrate.is_settled(day, "2026-08-20")
    day["nights"] = [night("judging")]
    assert not narrate.is_settled(day, "2026-08-20")
    day["nights"] = [night("done")]
    assert narrate.is_settled(day, "2026-08-20")
    assert not narrate.is_settled(day, "2026-08-21")
    for change in ({"regressions": [regression(1, [A], "blamed")]},
                   {"bisections": [{"state": "open"}]}, {"reports": [{"state": "pending"}]}):
        assert not narrate.is_settled(day | change, "2026-08-20")


def test_sentences_tell_what_changed_and_nothing_twice():
    before = snapshot(regression(1, None, "suspected"))
    before["builds"], before["jobs"] = [], []
    after = copy.deepcopy(before)
    after["nights"] = [night("measuring")]
    after["regressions"] = [regression(1, [A], "blamed")]
    after["bisections"] = [{
        "id": 4, "runs": 20, "posterior": [{"commits": [A], "probability": .6}],
        "metric": "latency", "workload": LEAD["workload"], "untestable_commits": 1,
        "tested_commits": 3, "commit_count": 51}]
    assert list(narrate.sentences(before, after)) == [
        "night 1 of 2026-08-20 is being measured",
        f"regression 1 (python/x/act, latency) is due to {A[:12]} with probability 0.995",
        f"  search 4 (python/x/act, latency): 20 runs on 3 of 51 commits, 1 not testable; "
        f"{A[:12]} with probability 0.60"
    ]
    assert list(narrate.sentences(after, after)) == []


def test_what_is_dismissed_says_why():
    before = snapshot(regression(1, None, "suspected"), regression(2, None, "suspected"))
    before["builds"], before["jobs"] = [], []
    after = copy.deepcopy(before)
    for item, evidence in zip(after["regressions"],
                              ({"rule": "same: 1.00 [0.99, 1.01]"}, {"reason": "no runs"})):
        item["state"] = "dismissed"
        item["changes"] = [{"state": "suspected", "evidence": {"rule": "1.2"}},
                           {"state": "dismissed", "evidence": evidence}]
    assert [line.split(", ", 2)[2] for line in narrate.sentences(before, after)] == [
        "nobody is blamed: same: 1.00 [0.99, 1.01]", "nobody is blamed: no runs"]


def test_sentences_say_where_a_commits_build_comes_from():
    nightly = {"id": 1, "kind": "nightly", "version": "2.15", "state": "proved", "reason": "",
               "commit": A, "base": None}
    wheel = dict(nightly, id=2, kind="ci", commit=B)
    after = dict(EMPTY, builds=[nightly, wheel, dict(nightly, id=3, kind="overlay", commit=C,
                                                     base=2)])
    assert list(narrate.sentences(dict(EMPTY, builds=[nightly]), after)) == [
        f"  {C[:12]} is built: its files laid over CI's wheel of {B[:12]}",
        f"  CI has wheels of {B[:12]}; they are fetched and proved"]


def test_sentences_say_what_has_no_build_and_why():
    def lookup(number, commit, state, group):
        return {"id": number, "commit": commit, "state": state, "reason": "none was made",
                "native_state": group}
    search = {"id": 4, "runs": 0, "posterior": [], "metric": "latency",
              "workload": LEAD["workload"], "untestable_commits": 1, "tested_commits": 0,
              "commit_count": 51, "untestable": [
                  {"sha": B, "untestable_cause": "no_build_here", "untestable": "nobody has one"}]}
    looked = dict(EMPTY, lookups=[lookup(1, A, "absent", "x"), lookup(2, B, "absent", "y"),
                                  lookup(3, C, "fetched", "y")])
    assert list(narrate.sentences(EMPTY, looked)) == []
    after = dict(looked, nights=[night("done")], bisections=[search])
    assert list(narrate.sentences(looked, after)) == [
        f"  CI has wheels of 1 native groups and none of 1: {A[:12]} cannot be built",
        "night 1 of 2026-08-20 is done: every verdict is in",
        f"    {B[:12]} cannot be measured (no build here): nobody has one"]
    assert list(narrate.sentences(after, after)) == []


def test_sentences_say_why_a_wheel_of_ci_cannot_be_used():
    failed = {"id": 1, "commit": A, "state": "failed", "reason": "wrong checksum",
              "native_state": "x"}
    after = dict(EMPTY, lookups=[failed])
    assert list(narrate.sentences(EMPTY, after)) == [
        f"  CI's wheel of {A[:12]} is not to be had: wrong checksum"]
    assert list(narrate.sentences(after, after)) == []


def test_a_failure_has_no_size():
    item = regression(1, [A], metric="failures")
    suspected = dict(EMPTY, regressions=[dict(item, state="suspected", culprit=None)])
    assert list(narrate.sentences(EMPTY, suspected)) == [
        "regression 1 (python/x/act, failures) is suspected: fails"]
    assert "fails" in summary.table(TRUTH, summary.summarise(TRUTH, snapshot(item), TIMES))
