"""Answers requests to the Python suite in children of one process that has imported torch: for what
depends neither on how a process starts nor on its memory. A line in is a JSON list of requests, a
line out one of their answers."""

import io
import json
import os
import sys

import programs

programs.put_suite_on_path()
import run  # noqa: E402
import torch._dynamo  # noqa: E402, F401  (what an optimizer imports in its first step)


def start(request):
    """Where the answers of a new child can be read."""
    read, write = os.pipe()
    if os.fork() != 0:
        os.close(write)
        return read
    os.dup2(write, 3)
    sys.stdin = io.TextIOWrapper(io.BytesIO(request.encode()))
    status = 1
    try:
        status = run.main()
    finally:
        os._exit(status)


def answers(pipe):
    with os.fdopen(pipe, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


for line in sys.stdin:
    pipes = [start(json.dumps(request)) for request in json.loads(line)]
    print(json.dumps([answers(pipe) for pipe in pipes]), flush=True)
    for _ in pipes:
        os.wait()
