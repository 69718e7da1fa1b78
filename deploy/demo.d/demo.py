"""A day of PyTorch that fits in minutes. Makes a repository with a day's commits and two nightlies
out of the installed PyTorch, plants two regressions at places drawn from the seed, and lets
Nightjar find them: the same service, runner, wheels and statistics as in production. Exit status: 0
if exactly the planted commits were blamed and reported, 1 if not, 2 wrong use, 3 the environment
failed."""

import argparse
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

import index_server
import make_day
import narrate
import summary
import wheel
from follow import follow
from service_client import Unreachable
from stage import BIN, ROOT, Broken, Stage

EMPTY = {"builds": [], "nights": [], "jobs": [], "regressions": [], "bisections": [], "reports": []}


class Progress:
    """Sentences with the time since the start."""

    def __init__(self):
        self.start = time.monotonic()

    def say(self, text):
        seconds = int(time.monotonic() - self.start)
        print(f"{seconds // 60:3d}:{seconds % 60:02d}  {text}", file=sys.stderr, flush=True)


def find_wheel():
    """The wheel for the Python in .cache/python."""
    for library in (ROOT / ".cache" / "python" / "lib").glob("python3.*"):
        tag = "cp" + library.name.removeprefix("python").replace(".", "")
        for path in sorted((ROOT / ".cache" / "wheels").glob(f"torch-*-{tag}-*.whl"), reverse=True):
            return str(path)
    raise Broken(
        "there is no wheel of PyTorch for .cache/python in .cache/wheels; run deploy/build with a "
        "network"
    )


class Stopwatch:
    """Seconds of the day's parts. A part ends when the next begins."""

    def __init__(self):
        self.seconds = dict.fromkeys(("setup", "night", "confirm", "bisect"), 0.0)
        self.part, self.since = "setup", time.monotonic()

    def begin(self, part):
        if part != self.part:
            now = time.monotonic()
            self.seconds[self.part] += now - self.since
            self.part, self.since = part, now

    def rounded(self):
        self.begin("")
        return {part: round(value, 1) for part, value in self.seconds.items()}


def run_day(stage, day, folder, progress, watch):
    """Publishes the two nightlies, one after the other, and follows each to its end."""
    first, second = day["nightlies"]
    watch.begin("night")
    progress.say("publishing the first nightly; it becomes what is normal")
    make_day.publish(folder, day, 1)
    seen = follow(stage, progress.say, EMPTY, first)
    progress.say(f"publishing the second nightly, {day['commits']} commits later")
    make_day.publish(folder, day, 2)

    def notice(now):
        night = narrate.night_of(now, second["date"])
        if night and night["state"] == "judging":
            watch.begin("confirm")
        if night and night["state"] == "done":
            watch.begin("bisect")
    return follow(stage, progress.say, seen, second, notice)


def keep_reports(stage, seed):
    """Copies the issues out of the temporary folder. Returns their paths."""
    kept = ROOT / "demo-reports" / f"seed-{seed}"
    shutil.rmtree(kept, ignore_errors=True)
    written = stage.folder / "reports"
    if not written.is_dir() or not any(written.iterdir()):
        return []
    shutil.copytree(written, kept)
    return sorted(kept.rglob("*.md"))


def perform(options, folder, progress):
    watch = Stopwatch()
    base = find_wheel()
    progress.say(f"making a day of PyTorch out of {os.path.basename(base)} (seed {options.seed})")
    day_folder = os.path.join(folder, "day")
    os.mkdir(day_folder)
    today = make_day.datetime.datetime.now(make_day.datetime.timezone.utc).date()
    day = make_day.make_day(base, day_folder, options.seed, options.quiet_day, today)
    progress.say(
        f"{day['commits']} commits, two nightlies; starting the index, nightjard and "
        "nightjar-runner"
    )
    index, stop_index = index_server.start(day_folder)
    stage = Stage(folder)
    try:
        stage.write_configuration(index, day["repository"], day["variant"],
                                  wheel.parts(base)[1].split("-")[0])
        stage.start_service()
        progress.say(f"watch it at {stage.service.address}/")
        stage.start_runner()
        end = run_day(stage, day, day_folder, progress, watch)
        truth = json.loads(pathlib.Path(day_folder, "truth.json").read_text())
        result = summary.summarise(truth, end, watch.rounded())
        tell(options, stage, truth, result)
        if options.keep:
            progress.say(
                f"still running at {stage.service.address}/ with everything in {folder}; Ctrl-C "
                "ends it"
            )
            while True:
                stage.check_alive()
                time.sleep(1)
        return 0 if summary.is_right(result) else 1
    except KeyboardInterrupt:
        if options.keep and "result" in locals():
            return 0 if summary.is_right(result) else 1
        raise
    finally:
        stage.stop()
        stop_index()


def tell(options, stage, truth, result):
    if options.json == "-":
        print(json.dumps(result, indent=2), flush=True)
    elif options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=2) + "\n")
    out = sys.stderr if options.json == "-" else sys.stdout
    print("\n" + summary.table(truth, result) + "\n", file=out)
    for path in keep_reports(stage, options.seed):
        print(f"issue: {path.relative_to(ROOT)}", file=out)
    took = ", ".join(f"{part} {value:.0f} s" for part, value in result["seconds"].items())
    print(f"{result['commits']} commits, {result['builds']} built, {result['runs']} runs; {took}",
          file=out)
    if options.keep:
        print(f"look at {stage.service.address}/ and {stage.folder} (logs, database, reports)",
              file=out)
    right = summary.is_right(result)
    print("exactly the planted commits were blamed and reported" if right
          else "NOT what was planted: see the table", file=out, flush=True)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="deploy/demo", description=__doc__)
    parser.add_argument("--seed", type=int, default=1,
                        help="draws the day and where the culprits are (1)")
    parser.add_argument("--quiet-day", action="store_true",
                        help="plant nothing: then nothing may be reported")
    parser.add_argument("--keep", action="store_true",
                        help="stay up in the foreground until Ctrl-C, keep the folder")
    parser.add_argument("--json", metavar="FILE",
                        help="write the summary to FILE; - is standard output")
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main():
    options = parse(sys.argv[1:])
    if options.check:
        return 0
    # A terminated demo cleans up as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = tempfile.mkdtemp(prefix="nightjar-demo-")
    keep = options.keep
    try:
        for name in ("nightjard", "nightjar-runner"):
            if not (BIN / name).exists():
                raise Broken(f"there is no {name} in {BIN}; run deploy/build")
        return perform(options, folder, Progress())
    except (Broken, Unreachable, OSError, ValueError, RuntimeError) as error:
        print(f"deploy/demo: {error}", file=sys.stderr)
        print(f"deploy/demo: logs and database are kept in {folder}", file=sys.stderr)
        keep = True
        return 3
    except KeyboardInterrupt:
        return 130
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
