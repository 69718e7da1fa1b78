"""How much of the host's memory a workload needs compiled, beside eager: `compression_ratio`.

The peak of a compiled run is mostly its compiler's. So one more process loads what the run has
compiled from its cache, and measures both sides alike, without PyTorch and the compiler: the peak
of warm iterations, less what the process held when a first copy of the workload was gone. Each
large block is mapped by itself there, so that what was freed is gone. """

import ctypes
import dataclasses
import gc
import json
import os
import subprocess
import sys

from harness.failure import Unavailable
from harness.process import OWN_THRESHOLD, Counters, forget_peak, peak_bytes

BLOCKS = 65536  # bytes from which on a block is mapped by itself, as for peak_memory
WARM, MEASURED = 3, 5  # iterations
LEAST = 1 << 20  # bytes; a ratio of less is one of noise
LONGEST = 240  # seconds of the process


def measured(request):
    """({"compression_ratio": [eager's bytes / the compiled workload's]}, None), or ({}, why there
    is none). The program that runs here gets the request once more."""
    text = json.dumps({**dataclasses.asdict(request), "compare_memory": True})
    give_back()  # both processes count towards one limit
    environment = {**os.environ, OWN_THRESHOLD: str(BLOCKS)}
    try:
        done = subprocess.run([sys.executable, *sys.argv], input=text, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
                              timeout=LONGEST, check=False)
        answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        last = answers[-1] if answers else {"reason": f"its process ended with {done.returncode}"}
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        last = {"reason": f"{type(error).__name__}: {error}"[:300]}
    if last.get("event") != "memory":
        return {}, last.get("reason", "its process said nothing of memory")
    if min(last["eager"], last["compiled"]) < LEAST:
        return {}, "the workload takes less than 1 MiB beside PyTorch"
    return {"compression_ratio": [last["eager"] / last["compiled"]]}, None


def give_back():
    """Returns what was freed to the system."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def own_bytes(torch, build, found):
    """The host's memory at the peak of warm iterations that is the workload's own."""
    def warm():
        case, step = build(found)
        for _ in range(WARM):
            step()
        return case, step
    warm()  # makes whatever is made once a process
    torch._dynamo.reset()
    give_back()
    before = Counters().resident_bytes()
    _case, step = warm()
    if not forget_peak():
        raise Unavailable("the process's peak of memory cannot be reset here")
    for _ in range(MEASURED):
        step()
    return peak_bytes() - before
