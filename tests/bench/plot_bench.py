"""How quickly a series with 100,000 nightlies is served, drawn and moved, in a real browser.

    python tests/bench/plot_bench.py [--points N] [--folder FOLDER]

CPU is what the page's thread used a frame: script, style, layout and recording what to paint. Work
is how long the page's own code and layout took, on the clock: the median and the 95th percentile of
a gesture's frames, in which other programs of the machine have a part. The time from one frame to
the next has rasterising in it, too; without a GPU the browser does that on the CPU."""

import argparse
import gzip
import json
import pathlib
import random
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
import urllib.request

TESTS = pathlib.Path(__file__).resolve().parents[1]
for folder in ("support/history", "support", "e2e"):
    sys.path.insert(0, str(TESTS / folder))

import browser as browsers  # noqa: E402
from make import make, serve  # noqa: E402

RUNS = 5            # a nightly
FRAMES = 120        # of each gesture
MOST_MILLISECONDS = 1000 / 60
BASE = 1_000_000_000  # ids of what is added

# Gestures as a reader makes them: one event a frame. Each frame's own work is timed, with the
# layout that it makes necessary.
GESTURE = """
    const [name, frames] = arguments;
    const frame = document.querySelector(".chart.pan"), box = frame.getBoundingClientRect();
    const middle = box.left + box.width / 2, across = box.width / 3;
    const send = (kind, x, more = {}) => frame.dispatchEvent(new (kind === "wheel" ? WheelEvent
      : PointerEvent)(kind, { clientX: x, clientY: box.top + 100, bubbles: true, cancelable: true,
        ...more }));
    const real = window.requestAnimationFrame.bind(window);
    let spent = 0;
    window.requestAnimationFrame = (call) => real((at) => {
      const begin = performance.now();
      call(at);
      frame.getBoundingClientRect();
      spent += performance.now() - begin;
    });
    const times = [], gaps = [];
    let last = 0;
    if (name === "pan") send("pointerdown", middle, { buttons: 1 });
    for (let i = 0; i < frames; ++i) {
      const at = await new Promise(real);
      if (i > 1) { times.push(spent); gaps.push(at - last); }
      last = at;
      spent = 0;
      if (name === "pan") send("pointermove", middle + across * Math.sin(i / 9), { buttons: 1 });
      else send("wheel", middle, { ctrlKey: true, deltaY: i % 60 < 30 ? -1 : 1 });
    }
    window.requestAnimationFrame = real;
    return [times, gaps];"""
SETTLED = """
    const main = document.getElementById("main");
    return main?.getAttribute("aria-busy") === "false"
      && document.querySelector(".chart.pan svg") !== null;"""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.folder or pathlib.Path(tempfile.mkdtemp(prefix="nightjar-plot-")) / "made"
    try:
        if not folder.exists():
            make(folder, 12, 4)
            lengthen(folder / "data/nightjar.sqlite", options.points)
        return measure(folder)
    finally:
        if not options.folder:
            shutil.rmtree(folder.parent, ignore_errors=True)


def lengthen(path, points):
    """Gives the first series of latency this many nightlies: one a day, as far back as needed. One
    night in a hundred has no value."""
    db = sqlite3.connect(path, isolation_level=None)
    series, workload, machine, variant = db.execute(
        "SELECT id, workload, machine, variant FROM series WHERE metric = 'latency' "
        "ORDER BY id LIMIT 1").fetchone()
    job, = db.execute("SELECT min(job) FROM run JOIN job ON job.id = run.job "
                      "WHERE workload = ? AND machine = ?", (workload, machine)).fetchone()
    first, = db.execute("SELECT julianday(min(date)) FROM build WHERE date <> ''").fetchone()
    columns = [row[1] for row in db.execute("PRAGMA table_info(run)")]
    copied = ", ".join({"id": "?", "position": "?", "build": "?", "job": "job"}.get(c, c)
                       for c in columns)
    model, = db.execute("SELECT min(id) FROM run WHERE job = ? AND workload = ?",
                        (job, workload)).fetchone()
    noise, level = random.Random(3), 1.0
    db.execute("BEGIN")
    for i in range(points):
        build = BASE + i
        date, = db.execute("SELECT date(?)", (first - points + i,)).fetchone()
        version = f"2.15.0.dev{date.replace('-', '')}+{variant}"
        db.execute("INSERT INTO build (id, kind, version, variant, date, url, commit_sha, state, "
                   "reason, found_at_us) VALUES (?, 'nightly', ?, ?, ?, ?, NULL, 'found', '', 0)",
                   (build, version, variant, date, f"file:///{version}"))
        db.execute("INSERT INTO night (id, trigger, state, build, reason, started_at_us, "
                   "finished_at_us, summed_up) VALUES (?, 'schedule', 'done', ?, '', 0, 0, 1)",
                   (BASE + i, build))
        if i % 100 == 50:
            continue
        if i % 5000 == 0:
            level *= noise.choice((.93, 1.09))
        for run in range(RUNS):
            number = BASE + RUNS * i + run
            db.execute(f"INSERT INTO run ({', '.join(columns)}) SELECT {copied} FROM run "
                       "WHERE id = ?", (number, number, build, model))
            db.execute("INSERT INTO series_value (series, build, run, screened, value, wait_share) "
                       "VALUES (?, ?, ?, 1, ?, 0)",
                       (series, build, number, .01 * level * noise.lognormvariate(0, .01)))
        db.execute("INSERT INTO level (series, build, night, value, runs) VALUES (?, ?, ?, ?, ?)",
                   (series, build, BASE + i, .01 * level, RUNS))
    db.execute("COMMIT")
    db.execute("ANALYZE")
    db.close()


def measure(folder):
    db = sqlite3.connect(f"file:{folder}/data/nightjar.sqlite?mode=ro", uri=True)
    series, = db.execute("SELECT series FROM series_value GROUP BY series "
                         "ORDER BY count(*) DESC LIMIT 1").fetchone()
    db.close()
    process, url = serve(folder)
    try:
        served(f"{url}/api/v1/series/{series}/history")
        if browsers.missing():
            print(f"no page is opened: {browsers.missing()}")
            return 0
        return frames(f"{url}/#/series/{series}")
    finally:
        process.terminate()
        process.wait(60)


def served(address):
    """Prints how long the whole history takes, and how large it is."""
    seconds, body = asked(address)
    points = len(json.loads(gzip.decompress(body))["points"]["build"])
    again, _ = asked(address)
    print(f"{points} points: {1e3 * seconds:.0f} ms at first, {1e3 * again:.0f} ms from the cache, "
          f"{len(gzip.decompress(body)) / 2**20:.1f} MiB, {len(body) / 2**20:.1f} MiB compressed",
          flush=True)


def asked(address):
    request = urllib.request.Request(address, headers={"Accept-Encoding": "gzip"})
    begin = time.perf_counter()
    with urllib.request.urlopen(request, timeout=120) as answer:
        body = answer.read()
    return time.perf_counter() - begin, body


def frames(page):
    """Prints the times of frames. 1 if one gesture needs more CPU than a frame has time."""
    browser, over = browsers.Browser(), False
    try:
        browser.show()
        browser.devtools("Performance.enable", timeDomain="threadTicks")
        for look in ("time", "build"):
            begin = time.monotonic()
            browser.open(f"{page}?by={look}")
            browser.wait(lambda: browser.run(SETTLED), 120)
            print(f"by {look}: shown after {time.monotonic() - begin:.1f} s")
            for gesture in ("zoom", "pan"):
                before = thread_seconds(browser)
                times, gaps = browser.run(GESTURE, gesture, FRAMES)
                used = 1e3 * (thread_seconds(browser) - before) / FRAMES
                over |= used > MOST_MILLISECONDS
                print(f"  {gesture:5} CPU {used:.1f} ms a frame; work: median "
                      f"{statistics.median(times):.1f}, p95 {percentile(times):.1f} ms; from frame "
                      f"to frame: median {statistics.median(gaps):.1f}, p95 {percentile(gaps):.1f} "
                      "ms", flush=True)
    finally:
        browser.close()
    return 1 if over else 0


def thread_seconds(browser):
    """CPU time that the page's thread has used so far."""
    found = browser.devtools("Performance.getMetrics")["metrics"]
    return next(one["value"] for one in found if one["name"] == "TaskDuration")


def percentile(values, share=.95):
    return sorted(values)[round(share * (len(values) - 1))]


if __name__ == "__main__":
    sys.exit(main())
