"""What an agent sends for a session, with made-up samples. Used by tests and benches that speak the
agents' protocol themselves."""

import datetime
import random


def session_result(order, iterations):
    """A result with every run of a job's `order`: 10 ms and 300 MB, in `iterations` samples."""
    draw, runs = random.Random(7), []
    now = datetime.datetime.now(datetime.timezone.utc).isoformat().replace("+00:00", "Z")
    for number, planned in enumerate(order):
        level = .010 * (1 + .002 * draw.gauss(0, 1))
        latency = [round(level * (1 + .001 * draw.gauss(0, 1)), 8) for _ in range(iterations)]
        zeros, ones = [0] * iterations, [1] * iterations
        samples = {"latency": latency}
        if planned["workload"] >= 0:
            samples["peak_cpu_memory"] = [3e8]
        runs.append({"order": number, "status": "measured", "reason": "", "samples": samples,
                     "cpu_seconds": latency, "wait_seconds": zeros, "slowdown": ones,
                     "checksum": 1.0, "warmup_iterations": 3, "started_at": now, "seconds": .5})
    state = {"load1": 0, "steal_share": 0, "frequency_mhz": 0, "extra": {}, "gpus": []}
    return {"runs": runs, "before": state, "after": state, "packages": {}, "setup_seconds": [],
            "settings": {}}
