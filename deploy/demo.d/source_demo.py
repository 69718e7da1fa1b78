"""A day of a small C++ extension of PyTorch that fits in minutes: a builder compiles what the
search asks for, and there are no other builds between the nightlies. One commit of the day is a
slow-down in C++. Exit status: 0 if exactly that commit was blamed and reported, 1 if not, 2 wrong
use, 3 the environment failed."""

import argparse
import os
import sys

import demo
from source_day import SourceDay, SourceStage


def perform(options, folder, progress):
    watch = demo.Stopwatch()
    day = SourceDay(options)
    day.make(os.path.join(folder, "day"), progress.say)
    progress.say("starting nightjard, and nightjar-runner as a builder")
    return demo.watch_day(options, SourceStage(folder, day), day, progress, watch)


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
    return demo.play(options, perform)


if __name__ == "__main__":
    sys.exit(main())
