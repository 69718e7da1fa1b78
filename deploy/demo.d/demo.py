"""A day of PyTorch that fits in minutes. Makes a repository with a day's commits, two nightlies and
wheels of PyTorch's CI out of the installed PyTorch. Plants two or three regressions, the kinds and
places drawn from the seed, and lets Nightjar find them: the same service, runner, wheels and
statistics as in production. Exit status: 0 if exactly the planted commits were blamed and reported,
1 if not, 2 wrong use, 3 the environment failed."""

import argparse
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

import narrate
import summary
from follow import follow
from native import CannotCompile
from pytorch_day import PyTorchDay
from replace import DoesNotApply
from service_client import Unreachable
from stage import BIN, ROOT, Broken, Stage

EMPTY = {"builds": [], "lookups": [], "nights": [], "jobs": [], "regressions": [],
         "bisections": [], "reports": []}


class Progress:
    """Sentences with the time since the start."""

    def __init__(self):
        self.start = time.monotonic()

    def say(self, text):
        seconds = int(time.monotonic() - self.start)
        print(f"{seconds // 60:3d}:{seconds % 60:02d}  {text}", file=sys.stderr, flush=True)


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


def run_day(stage, day, progress, watch):
    """Publishes the two nightlies, one after the other, and follows each to its end."""
    first, second = day.nightlies
    watch.begin("night")
    progress.say("publishing the first nightly; it becomes what is normal")
    day.publish(1)
    seen = follow(stage, progress.say, EMPTY, first)
    progress.say("the next day: its commits are on main, and the second nightly is published")
    day.publish(2)

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
    day = PyTorchDay(options)
    day.make(os.path.join(folder, "day"), progress.say)
    progress.say("starting the index, CI's bucket, nightjard and nightjar-runner")
    try:
        return watch_day(options, Stage(folder), day, progress, watch)
    finally:
        day.close()


def watch_day(options, stage, day, progress, watch):
    """Runs the day on the stage, tells what came of it, and stays up if it is to be kept. Returns
    the exit status."""
    result = None
    try:
        day.open(stage)
        stage.start_service()
        progress.say(f"watch it at {stage.service.address}/")
        stage.start_runner()
        end = run_day(stage, day, progress, watch)
        day.check()
        truth = day.truth()
        result = summary.summarise(truth, end, watch.rounded())
        tell(options, stage, truth, result, day.remarks(end))
        if options.keep:
            progress.say(
                f"still running at {stage.service.address}/ with everything in {stage.folder}; "
                "Ctrl-C ends it"
            )
            while True:
                stage.check_alive()
                time.sleep(1)
    except KeyboardInterrupt:
        if not (options.keep and result):
            raise
    finally:
        stage.stop()
    return 0 if summary.is_right(result) else 1


def tell(options, stage, truth, result, remarks):
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
          else "NOT what was planted: see the table", *remarks, sep="\n", file=out, flush=True)


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
    parser.add_argument("--plan", action="store_true",
                        help="say what the day would be, and what would be planted, and end")
    parser.add_argument("--history", action="store_true",
                        help="serve a made database of two years until Ctrl-C; nothing is measured")
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def tell_plan(options):
    try:
        print("\n".join(PyTorchDay(options).plan()))
    except (Broken, DoesNotApply, OSError, ValueError) as error:
        print(f"deploy/demo: {error}", file=sys.stderr)
        return 3
    return 0


def main():
    options = parse(sys.argv[1:])
    if options.check:
        return 0
    if options.plan:
        return tell_plan(options)
    return play(options, perform)


def play(options, perform):
    """Calls perform(options, folder, progress) in a folder of its own; returns the exit status. The
    folder stays if the environment failed, or if it is to be kept."""
    # A terminated demo cleans up as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = tempfile.mkdtemp(prefix="nightjar-demo-")
    keep = options.keep
    try:
        for name in ("nightjard", "nightjar-runner"):
            if not (BIN / name).exists():
                raise Broken(f"there is no {name} in {BIN}; run deploy/build")
        return perform(options, folder, Progress())
    except (Broken, Unreachable, CannotCompile, DoesNotApply, OSError, ValueError,
            RuntimeError) as error:
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
