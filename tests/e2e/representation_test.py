"""How lists are sent: as CSV, with some fields only, compressed, and not again while nothing
changed. And what operators read: Prometheus' metrics and Grafana's dashboard."""

import csv
import gzip
import io
import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request

import jsonschema
import pytest

from world import ROOT

LISTS = ["builds", "workloads", "series", "runs", "regressions", "reports", "bisections", "jobs",
         "nights", "marks", "improvements", "runners", "suites", "members", "profiles", "repairs",
         "lookups", "calibration", "series/1/points"]


def ask(history, path, **headers):
    """(status, headers, body) of GET /api/v1/<path>."""
    request = urllib.request.Request(f"{history.url}/api/v1/{path}", headers={
        name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def items(history, path):
    return json.loads(ask(history, path)[2])["items"]


def value_at(item, column):
    """What stands in a column of an item's line: `level.value` is in an object."""
    for name in column.split("."):
        item = item and item.get(name)  # one that may be missing is an empty cell
    return item


def text_of(value):
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def while_it_stands(history, path):
    """Items and CSV of a list. The time that an open search has to go changes between two answers,
    so they are asked for again until nothing did."""
    for _ in range(20):
        wanted = items(history, path)
        status, headers, body = ask(history, path, Accept="text/csv")
        assert status == 200 and headers["Content-Type"].startswith("text/csv")
        by_address = ask(history, f"{path}?format=csv")[2]
        if items(history, path) == wanted:
            assert by_address == body
            return wanted, body
    raise AssertionError(f"{path} changes all the time")


@pytest.mark.first
@pytest.mark.parametrize("path", LISTS)
def test_a_list_has_the_same_rows_as_csv(history, path):
    wanted, body = while_it_stands(history, path)
    lines = list(csv.DictReader(io.StringIO(body.decode(), newline="")))
    assert len(lines) == len(wanted)
    for line, item in zip(lines, wanted):
        # Every field is there, as itself or by its parts.
        assert set(item) == {name.split(".")[0] for name in line}
        for column, text in line.items():
            value = value_at(item, column)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                assert float(text) == value, column
            elif isinstance(value, (dict, list)):
                assert json.loads(text) == value, column
            else:
                assert text == text_of(value), column


def test_accept_decides_unless_the_address_does(history):
    kind = lambda path, accept: ask(history, path, Accept=accept)[1].get_content_type()
    assert kind("builds", "*/*") == "application/json"
    assert kind("builds", "text/csv, */*;q=0.5") == "text/csv"
    assert kind("builds", "text/csv;q=0.5, application/json") == "application/json"
    assert kind("builds?format=json", "text/csv") == "application/json"


def test_pages_of_csv_are_linked(history):
    _, headers, body = ask(history, "series?limit=2&format=csv&metric=latency")
    following = re.fullmatch(r'<(/api/v1/series\?.+)>; rel="next"', headers["Link"])[1]
    with urllib.request.urlopen(history.url + following, timeout=30) as answer:
        after = answer.read().decode()
    first = [line.split(",")[0] for line in body.decode().splitlines()[1:]]
    second = [line.split(",")[0] for line in after.splitlines()[1:]]
    assert [str(s["id"]) for s in items(history, "series?limit=4&metric=latency")] == first + second


def test_fields_choose_what_of_each_item_is_sent(history):
    assert [list(item) for item in items(history, "builds?fields=id,version&limit=3")] == [
        ["id", "version"]] * 3
    body = ask(history, "builds?fields=version,id&limit=1&format=csv")[2].decode()
    assert body.splitlines()[0] == "version,id"
    status, _, body = ask(history, "builds?fields=id,nothing")
    assert status == 400
    assert [error["parameter"] for error in json.loads(body)["errors"]] == ["fields"]


@pytest.mark.parametrize("path,parameter", [
    ("series?limit=0", "limit"), ("series?machine=x", "machine"), ("builds?date=today", "date"),
    ("nights?stat=done", "stat"), ("compare?good=1", "bad"), ("series?format=xml", "format")])
def test_a_refused_parameter_is_named(history, path, parameter):
    status, headers, body = ask(history, path)
    assert status == 400 and headers["Content-Type"] == "application/problem+json"
    (error,) = json.loads(body)["errors"]
    assert error["parameter"] == parameter and error["detail"]


def test_answers_are_compressed_where_that_is_wanted(history):
    _, plain_headers, plain = ask(history, "builds?limit=100")
    _, headers, packed = ask(history, "builds?limit=100", Accept_Encoding="gzip")
    assert headers["Content-Encoding"] == "gzip" and "Content-Encoding" not in plain_headers
    assert len(packed) < len(plain) / 3
    assert gzip.decompress(packed) == plain
    assert headers["ETag"] != plain_headers["ETag"]
    assert "Accept-Encoding" in headers["Vary"]
    assert "Content-Encoding" not in ask(history, "builds?limit=100",
                                         Accept_Encoding="gzip;q=0")[1]


@pytest.mark.parametrize("headers", [{}, {"Accept": "text/csv"}, {"Accept_Encoding": "gzip"}])
def test_what_has_not_changed_is_not_sent_again(history, headers):
    _, sent, body = ask(history, "series?limit=50", **headers)
    status, again, empty = ask(history, "series?limit=50", If_None_Match=sent["ETag"], **headers)
    assert (status, empty, again["ETag"]) == (304, b"", sent["ETag"])
    assert ask(history, "series?limit=50", If_None_Match='"other"', **headers)[2] == body


@pytest.mark.parametrize("path,name,value", [
    ("builds?kind=nightly", "kind", "nightly"), ("builds?state=proved", "state", "proved"),
    ("nights?state=done", "state", "done"), ("bisections?state=culprit", "state", "culprit")])
def test_lists_are_filtered_by_what_pages_filter(history, path, name, value):
    found = items(history, path)
    assert found and all(item[name] == value for item in found)
    assert len(found) <= len(items(history, path.split("?")[0] + "?limit=500"))


def test_builds_of_a_day_and_improvements_since_then(history):
    date = items(history, "builds?kind=nightly")[3]["date"]
    assert {b["date"] for b in items(history, f"builds?date={date}")} == {date}
    improvements = items(history, "improvements?limit=500")
    since = sorted(one["at"] for one in improvements)[len(improvements) // 2]
    assert {one["id"] for one in items(history, f"improvements?limit=500&since={since}")} == {
        one["id"] for one in improvements if one["at"] >= since}


def test_a_history_says_of_each_point_what_its_runs_say(history):
    series = items(history, "series?metric=latency&limit=1")[0]
    found = json.loads(ask(history, f"series/{series['id']}/history")[2])
    points = items(history, f"series/{series['id']}/points?limit=500")
    columns = found["points"]
    assert columns["build"] == [p["build"] for p in points]
    assert columns["runs"] == [len(p["values"]) for p in points]
    for name in ("location", "low", "high"):
        assert columns[name] == pytest.approx([p[name] for p in points], rel=1e-6)
    assert all(runner in [r["id"] for r in found["runners"]] for runner in columns["runner"])
    assert found["noise"] > 0 and columns["level"][-1] > 0
    part = items(history, f"series/{series['id']}/points?first={points[2]['build']}"
                          f"&last={points[4]['build']}")
    assert [p["build"] for p in part] == [p["build"] for p in points[2:5]]


def metrics_of(history):
    with urllib.request.urlopen(f"{history.url}/metrics", timeout=30) as answer:
        return answer.read().decode()


@pytest.mark.skipif(not shutil.which("promtool"),
                    reason="promtool is not installed; deploy/build --tests installs it")
def test_promtool_accepts_the_metrics(history):
    done = subprocess.run(["promtool", "check", "metrics"], input=metrics_of(history), text=True,
                          capture_output=True, timeout=60)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_dashboard_is_one_and_shows_metrics_that_exist(history):
    dashboard = json.loads((ROOT / "deploy/grafana/nightjar.json").read_text())
    schema = json.loads((ROOT / "tests/support/grafana_dashboard.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(dashboard, schema)
    known = set(re.findall(r"^# TYPE (\S+)", metrics_of(history), re.MULTILINE))
    shown = {name for panel in dashboard["panels"] for target in panel["targets"]
             for name in re.findall(r"nightjar_\w+", target["expr"])}
    assert shown and shown <= known
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))
