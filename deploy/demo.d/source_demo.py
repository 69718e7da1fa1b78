"""A day of a small C++ extension of PyTorch that fits in minutes: a builder compiles what the
search asks for, and there are no other builds between the nightlies. One commit of the day is a
slow-down in C++. Exit status: 0 if exactly that commit was blamed and reported, 1 if not, 2 wrong
use, 3 the environment failed."""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time

import demo
import narrate
import summary
from follow import follow
from service_client import Unreachable
from source_day import SourceDay, SourceStage
from stage import BIN, Broken


def run_day(stage, day, say, watch):
    """Publishes the two nightlies, one after the other, and follows each to its end."""
    first, second = day.nightlies
    watch.begin("night")
    say("publishing the first nightly; it becomes what is normal")
    day.publish(1)
    seen = follow(stage, say, demo.EMPTY, first)
    say("the next day: its commits are on main, and the second nightly is published")
    day.publish(2)

    def notice(now):
        night = narrate.night_of(now, second["date"])
        if night and night["state"] == "judging":
            watch.begin("confirm")
        if night and night["state"] == "done":
            watch.begin("bisect")
    return follow(stage, say, seen, second, notice)


def perform(options, folder, say):
    watch = demo.Stopwatch()
    day = SourceDay(options)
    day.make(os.path.join(folder, "day"), say)
    stage = SourceStage(folder, day)
    try:
        day.open(stage)
        say("starting nightjard, and nightjar-runner as a builder")
        stage.start_service()
        say(f"watch it at {stage.service.address}/")
        stage.start_runner()
        end = run_day(stage, day, say, watch)
        result = summary.summarise(day.truth(), end, watch.rounded())
        demo.tell(options, stage, day.truth(), result)
        out = sys.stderr if options.json == "-" else sys.stdout
        print(f"{len(day.made_from_source(end))} builds compiled by the builder", file=out,
              flush=True)
        while options.keep:
            stage.check_alive()
            time.sleep(1)
        return 0 if summary.is_right(result) else 1
    except KeyboardInterrupt:
        if options.keep and "result" in locals():
            return 0 if summary.is_right(result) else 1
        raise
    finally:
        stage.stop()


def parse(arguments):
    parser = argparse.ArgumentParser(prog="deploy/demo --source", description=__doc__)
    parser.add_argument("--source", action="store_true", required=True,
                        help="this day; without it a day of PyTorch")
    parser.add_argument("--seed", type=int, default=1,
                        help="draws the day and where the culprit is (1)")
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
        if not (BIN / "nightjar-runner").exists():
            raise Broken(f"there is no nightjar-runner in {BIN}; run deploy/build")
        return perform(options, folder, demo.Progress().say)
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
