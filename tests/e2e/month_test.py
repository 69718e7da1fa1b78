"""Thirty nights of production: what is planted is told once, by the right name, and nothing else is
said. NIGHTJAR_MONTH_SEED draws another month."""

import collections
import os
import re

import pytest

from month import DAYS, GPU, HOSTS, METRICS, VARIANTS, VERSIONS, Month, date_of, of_variant
from month_ear import Ear
from month_plan import Plan

pytestmark = pytest.mark.long
SEED = int(os.environ.get("NIGHTJAR_MONTH_SEED", "1"))


def play_day(month, plan, ear, day):
    month.repo.day = date_of(day)
    plan.begin_day()
    month.quiet_commits()
    getattr(plan, f"day_{day}", lambda _: None)(month)
    month.quiet_commits()
    plan.publish(day)
    if plan.is_measured:
        month.settle(day)
    else:
        month.wait_for_a_survey()
    ear.listen(date_of(day))


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    month = Month(tmp_path_factory.mktemp("month"), SEED)
    plan, ear = Plan(month), Ear(month)
    try:
        month.start_daemon()
        for host in HOSTS:
            month.start_host(host)
        for day in range(1, DAYS + 1):
            play_day(month, plan, ear, day)
        yield month, plan, ear
    finally:
        month.stop()


def is_as_expected(said, expected):
    """An operator's finding is a sentence, of which some words are expected."""
    if expected.kind == "operator" == said.kind:
        return said.date == expected.date and expected.what[0] in said.what[0]
    return said == expected


def belongs_to_an_issue(said, all_said):
    """A machine class whose search ends later in the same night is told in a comment. What is back
    at its level is better than the night before, too."""
    def of(kind, issue):
        return any(one.kind == kind and (one.issue, one.date) == (issue, said.date)
                   for one in all_said)
    issues = [one for one in all_said if one.opens()]
    if said.kind == "joined":
        return any(of(one.kind, said.issue) for one in issues)
    return said.kind == "improvement" and any(
        of("back", one.issue) and said.series <= one.series for one in issues)


def test_each_planted_thing_is_told_once_and_nothing_else_is_said(played, capsys):
    month, plan, ear = played
    said, missing = [one for one in ear.said if not belongs_to_an_issue(one, ear.said)], []
    for expected in plan.all_expected():
        found = next((one for one in said if is_as_expected(one, expected)), None)
        if found:
            said.remove(found)
        else:
            missing.append(expected)
    with capsys.disabled():
        print("\n" + table(plan, ear))
    assert missing == [] and said == []


def table(plan, ear):
    """A row for each thing said: the day, what was planted on it, what was said."""
    lines = []
    for day in range(1, DAYS + 1):
        planted = getattr(plan, f"day_{day}", None)
        planted = planted.__doc__ if planted else ""
        texts = collections.Counter(text_of(one) for one in ear.said if one.date == date_of(day))
        for text, count in texts.items() or [("", 1)]:
            times = f" × {count}" if count > 1 else ""
            lines.append(f"| {date_of(day)} | {planted} | {text}{times} |")
            planted = ""
    return "\n".join(["| night | planted | said |", "|---|---|---|", *lines])


def text_of(said):
    issue = f"#{said.issue} " if said.issue else ""
    what = ", ".join(said.what[:1]) + (f" and {len(said.what) - 1} more" if said.what[1:] else "")
    classes = ", ".join(sorted({one[0] for one in said.series}))
    series = f" ({len(said.series)} series on {classes})" if said.series else ""
    return f"{issue}{said.kind}: {what}{series}"


def test_what_joins_an_issue_is_one_comment_a_night(played):
    """However many series and machine classes; each variant has a night of its own."""
    joined = collections.Counter((one.issue, one.date) for one in played[2].said
                                 if one.kind == "joined")
    assert joined and max(joined.values()) <= len(set(VARIANTS.values()))


def test_each_issue_says_where_the_same_was_looked_for_and_not_seen(played):
    ear = played[2]
    everywhere = next(one.issue for one in ear.said
                      if one.opens() and one.what == ("Import a name that is gone",))
    for issue in ear.issues():
        found = re.search(r"^- Not seen \((\d+)\): `python/", issue["body"], re.MULTILINE)
        assert bool(found) == (issue["number"] != everywhere), issue["body"]


def test_the_machine_classes_of_each_finding_are_rows(played):
    """Those of its series show it; one that was away shows it since it is back."""
    month, _, ear = played
    late = next(one.issue for one in ear.said if one.opens() and one.what == ("Generate more",))
    findings = [one for one in month.items("regressions") if one["issue_number"]]
    for finding in findings:
        seen = {one["machine"] for one in finding["classes"] if one["state"] == "seen"}
        assert seen == {series["machine"] for series in finding["series"]}
    [classes] = [one["classes"] for one in findings if one["issue_number"] == late]
    seen = [one["first_seen"] for one in classes if one["state"] == "seen"]
    assert len(seen) == 2 and len(set(seen)) == 2


def test_no_machine_class_loses_its_levels(played):
    """Whatever happened, the last night's build has a level wherever its runs have a value."""
    month, _, ear = played
    builds = {build["id"]: build["version"] for build in month.items("builds")}
    hangs = ("h100", GPU[0])
    for series in ear.rows("series"):
        machine, workload, metric = ear.named(series)
        if metric in ("latency", *METRICS[machine]) and (machine, workload) != hangs:
            version = of_variant(VERSIONS[-1], VARIANTS[machine])
            assert builds[series["level"]["build"]] == version, series


def test_it_was_a_month_of_nights(played):
    nights = played[0].items("nights")
    for variant in set(VARIANTS.values()):
        own = [night for night in nights if night["build"]["version"].endswith("+" + variant)]
        assert len(own) >= 30 and all(night["state"] == "done" for night in own)


def test_the_tracker_was_asked_as_it_is_described(played):
    assert played[0].tracker.tell("state")["violations"] == []
