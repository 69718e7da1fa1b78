"""Reports of a service: what some days came to, and how a build differs from a reference."""

import html.parser
import json
import re
import subprocess
import urllib.request

import pytest

from world import BIN


def get(history, path):
    with urllib.request.urlopen(f"{history.url}{path}", timeout=60) as answer:
        return answer.read().decode()


def items(history, path):
    return json.loads(get(history, f"/api/v1/{path}"))["items"]


def report(history, *words):
    done = subprocess.run([BIN / "nightjar", "report", *map(str, words), "--from", history.url],
                          text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def section(text, title):
    """What stands below a heading, up to the next one."""
    return re.split(r"^## ", text.split(f"\n## {title}\n", 1)[1], flags=re.MULTILINE)[0]


@pytest.fixture(scope="module")
def month(history):
    return report(history, "digest", "--days", 60)


@pytest.mark.first
def test_a_digest_names_every_finding_and_counts_the_nights(history, month):
    quiet = {"suspected", "unconfirmed", "dismissed", "merged", "historical"}
    found = [r for r in items(history, "regressions?limit=500") if r["state"] not in quiet]
    assert found == items(history, "regressions?counted=true&limit=500")
    assert found and month.startswith("# Nightjar from 20")
    assert f"**{len(found)} new finding" in month
    worse = section(month, "Got worse")
    assert [int(n) for n in re.findall(r"^\| regression (\d+) \|", worse, re.MULTILINE)] == [
        r["id"] for r in found]
    assert f"\n- {len(items(history, 'nights?limit=500'))} nights," in section(month, "Nights")


def test_a_fix_is_told_with_what_it_repaired(history, month):
    repairs = items(history, "repairs")
    better = section(month, "Got better").split("\n### ")
    assert repairs
    for repair in repairs:
        headline, *told = next(part for part in better if re.search(
            rf"It repaired .*\bregression {repair['regression']}\b", part)).splitlines()
        commits = repair["commits"]
        if len(commits) > 1:
            assert headline.startswith(f"One of {len(commits)} commits made ")
        assert re.search(r", by \d", headline)
        assert all(any(c["sha"][:12] in line for line in told) for c in commits[:10])


def test_days_without_a_night_are_quiet(history):
    text = report(history, "digest", "--until", "2001-01-02T00:00:00Z")
    assert text.startswith("# Nightjar from 2000-12-26 to 2001-01-02")
    assert "Nothing was found." in text and "Nothing did." in text


def test_a_difference_lists_what_the_comparison_finds(history):
    newest = [b["id"] for b in items(history, "builds?kind=nightly&limit=40")]
    build, reference = newest[1], newest[25]
    text = report(history, "difference", "--reference", reference, "--build", build)
    compared = get(history, f"/api/v1/compare?good={reference}&bad={build}&limit=500")
    rows = json.loads(compared)["items"]
    clear = [r for r in rows if r["ratio"] is not None and abs(r["ratio"] - 1) >= .03
             and not r["low"] <= 1 <= r["high"]]
    told = re.search(r"\*\*(\d+) series (?:is|are) worse and (\d+) better\*\*", text)
    assert int(told[1]) + int(told[2]) == len(clear) > 0
    for row in clear:
        assert f"`{row['workload']}` |" in text


class Balance(html.parser.HTMLParser):
    """Notes tags that are not closed in their order."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.links = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)
        self.links += [value for name, value in attrs if name == "href"]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def test_a_digest_is_a_web_page_too(history, month):
    page = report(history, "digest", "--days", 60, "--as", "html")
    read = Balance()
    read.feed(page)
    assert (read.open, read.wrong) == ([], [])
    assert page.count("<tr>") == len(re.findall(r"^\|", month, re.MULTILINE)) - len(
        re.findall(r"^\|-", month, re.MULTILINE))
    assert all(link.startswith("http") for link in read.links)


def test_a_wrong_word_is_told(history):
    done = subprocess.run([BIN / "nightjar", "report", "digest", "--from", history.url, "--days",
                           "0"], text=True, capture_output=True, timeout=60)
    assert done.returncode == 2 and "days" in done.stderr
