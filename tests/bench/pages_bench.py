"""How long pages and queries take on a large database: 50,000 series and 10 M runs. A made history
is copied until it is that large. Each page is opened in a real browser, which gives its first paint
and the queries that it asks. These are then timed over one connection, in turns with /healthz.

    python tests/bench/pages_bench.py [--series N] [--runs N] [--folder FOLDER]

Without a browser the queries of the lists alone are timed. A folder that exists is used again."""

import argparse
import http.client
import json
import pathlib
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
import urllib.parse

TESTS = pathlib.Path(__file__).resolve().parents[1]
for folder in ("support/history", "support", "e2e"):
    sys.path.insert(0, str(TESTS / folder))

import browser as browsers  # noqa: E402
from make import make, serve  # noqa: E402

WORKLOADS = 100    # of the history that is copied
APART = 100_000_000  # between the ids of a row and its copy
TURNS = 20
MOST_SECONDS = .1  # 95th percentile of lists, series and their points
BOUND = ("series", "regressions", "builds", "nights", "runs", "jobs", "workloads", "bisections",
         "improvements", "runners", "marks", "reports")
MODEL_ENDS = "instr(name, '/') + instr(substr(name, instr(name, '/') + 1), '/')"  # suite/model/...
MOVED = "{} + :d"
COPIES = {  # what differs in a table's copies; :n is the number of the copy, :d its distance
    "workload": {"name": f"substr(name, 1, {MODEL_ENDS} - 1) || '-' || :n || "
                         f"substr(name, {MODEL_ENDS})"},
    "job": {"key": "key || '-' || :n"}, "session": {}, "session_check": {}, "series": {},
    "run": {}, "series_value": {}, "level": {}}
# Columns that name a row of a copied table.
OWN = {"workload": ("id",), "job": ("id", "repeats"), "session": ("job",),
       "session_check": ("id", "job"), "series": ("id", "workload"),
       "run": ("id", "job", "workload"), "series_value": ("series", "run"), "level": ("series",)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=50_000)
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.folder or pathlib.Path(tempfile.mkdtemp(prefix="nightjar-pages-"))
    try:
        if not (folder / "large").exists():
            fill(folder, options.series, options.runs)
        return measure(folder)
    finally:
        if not options.folder:
            shutil.rmtree(folder, ignore_errors=True)


def fill(folder, series, runs):
    """Makes a history with so many nights that its copies have the runs, and the copies."""
    shutil.rmtree(folder, ignore_errors=True)
    trial = folder.with_name(folder.name + "-trial")
    shutil.rmtree(trial, ignore_errors=True)
    make(trial, 12, WORKLOADS)
    copies = -(-series // rows(trial, "series"))
    nights = max(12, round(12 * runs / (copies * rows(trial, "run"))))
    shutil.rmtree(trial)
    begin = time.monotonic()
    make(folder, nights, WORKLOADS)
    db = sqlite3.connect(folder / "data/nightjar.sqlite", isolation_level=None)
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -1000000",
                   "foreign_keys = OFF"):
        db.execute(f"PRAGMA {pragma}")
    db.execute("BEGIN")
    for table in COPIES:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        moved = {column: MOVED.format(column) for column in OWN[table]} | COPIES[table]
        text = (f"INSERT INTO {table} ({', '.join(columns)}) "
                f"SELECT {', '.join(moved.get(column, column) for column in columns)} "
                f"FROM {table} WHERE {OWN[table][0]} < {APART}")
        for number in range(1, copies):
            db.execute(text, {"n": number, "d": number * APART})
    db.execute("COMMIT")
    db.execute("ANALYZE")
    db.execute("PRAGMA journal_mode = WAL")
    db.close()
    (folder / "large").touch()
    print(f"made in {time.monotonic() - begin:.0f} s: {nights} nights", flush=True)


def rows(folder, table):
    db = sqlite3.connect(f"file:{folder}/data/nightjar.sqlite?mode=ro", uri=True)
    return db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def measure(folder):
    size = (folder / "data/nightjar.sqlite").stat().st_size / 2**30
    print(f"{rows(folder, 'series')} series, {rows(folder, 'run')} runs, "
          f"{rows(folder, 'series_value')} values, {size:.1f} GiB", flush=True)
    process, url = serve(folder)
    try:
        asked = {f"/api/v1/{name}" for name in BOUND}
        if browsers.missing():
            print(f"no page is opened: {browsers.missing()}")
        else:
            asked |= paint(url, addresses(Service(url)))
        return time_queries(folder, Service(url), sorted(asked))
    finally:
        process.terminate()
        process.wait(60)


class Service:
    """One connection that stays open."""

    def __init__(self, url):
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=120)

    def get(self, path):
        """(seconds, the answer's bytes)."""
        begin = time.perf_counter()
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"GET {path}: {answer.status} {body[:300]}")
        return time.perf_counter() - begin, body

    def items(self, path):
        return json.loads(self.get(f"/api/v1/{path}")[1])["items"]


def addresses(service):
    """What stands after # for each page."""
    found = service.items("regressions?limit=100")
    culprit = next(one for one in found if one["culprit"])
    series = service.items("series?limit=2&metric=latency")
    commit = culprit["culprit"]["commits"][0]
    author = urllib.parse.quote(culprit["culprit"]["commit_details"][0]["author"])
    first, second = (one["id"] for one in series)
    return ["", "changes?days=365&all=yes", "series?words=eager", "compare", "compilers",
            "vision?precision=fp16", "domains", "roofline", "nights", "machines", "builds",
            f"regressions/{culprit['id']}", f"bisections/{service.items('bisections')[0]['id']}",
            f"series/{first}", f"series/{first}?with={second}&by=build",
            f"commits/{commit}", f"authors?name={author}"]


def paint(url, pages):
    """Prints when each page is first painted and when it is complete. Returns what they ask."""
    asked = set()
    browser = browsers.Browser()
    try:
        browser.show()
        print(f"{'page':44} {'first paint':>11} {'complete':>9}  (ms, median of 3)")
        for page in pages:
            times = [opened(browser, f"{url}/#/{page}", asked) for _ in range(3)]
            first, complete = (statistics.median(column) for column in zip(*times))
            print(f"{page[:44] or 'morning':44} {first:11.0f} {complete:9.0f}", flush=True)
    finally:
        browser.close()
    return asked


def opened(browser, address, asked):
    """Milliseconds until the first paint, and until nothing is left to fill."""
    browser.open(address)
    browser.wait(lambda: browser.run("""
        const main = document.getElementById("main");
        return main?.getAttribute("aria-busy") === "false"
          && ![...main.querySelectorAll(".later")].some((cell) => !cell.hasChildNodes());"""), 120)
    first, ends = browser.run("""
        return [performance.getEntriesByName("first-contentful-paint")[0].startTime,
          performance.getEntriesByType("resource").map((one) => [one.name, one.responseEnd])];""")
    asked.update("/" + name.split("/", 3)[3] for name, _ in ends
                 if "/api/v1/" in name and "/events" not in name)
    return first, max(end for _, end in ends)


def time_queries(folder, service, paths):
    """Prints each query's times. 1 if a list, a series or its points are over the bound. The
    database changes before each turn, so that no answer is one that the service has kept."""
    times, sizes = {path: [] for path in (*paths, "/healthz")}, {}
    db = sqlite3.connect(folder / "data/nightjar.sqlite", isolation_level=None)
    for _ in range(TURNS):
        db.execute("UPDATE runner SET seen_at_us = seen_at_us + 1")
        for path in times:
            seconds, body = service.get(path)
            times[path].append(seconds)
            sizes[path] = len(body)
    print(f"{'query':72} {'median':>8} {'p95':>8} {'KiB':>7}  (ms)")
    over = []
    for path, found in sorted(times.items(), key=lambda one: -percentile(one[1])):
        last = percentile(found)
        print(f"{path[:72]:72} {1e3 * statistics.median(found):8.1f} {1e3 * last:8.1f} "
              f"{sizes[path] / 1024:7.1f}", flush=True)
        if last > MOST_SECONDS and path.split("?")[0].split("/")[3:4] in [[name] for name in BOUND]:
            over.append(path)
    print(f"{len(over)} of {len(times)} queries are over {1e3 * MOST_SECONDS:.0f} ms at p95"
          + "".join(f"\n  {path}" for path in over))
    return 1 if over else 0


def percentile(values, share=.95):
    return sorted(values)[round(share * (len(values) - 1))]


if __name__ == "__main__":
    sys.exit(main())
