"""How long a job waits between its row and its first run, beside a bare round trip to the same
daemon; and what daemon and agent hold in memory afterwards. Real processes, scripted levels."""

import datetime
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import world as worlds  # noqa: E402

NIGHTS = 15
MOST_START_SECONDS = 0.1
MOST_DAEMON_MIB, MOST_AGENT_MIB = 60, 25


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def resident_mib(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(next(
        line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def round_trips(world, count=50):
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        world.get("/healthz", raw=True)
        times.append(time.perf_counter() - begin)
    return times


def starts(world):
    """Seconds from a job's row to the begin of its first run, but for the very first job, which
    also downloads and unpacks."""
    waits = []
    for job in sorted(world.items("jobs"), key=lambda job: job["id"])[1:]:
        runs = world.get(f"/api/v1/runs?job={job['id']}&limit=200")["items"]
        first = min(instant(run["started_at"]) for run in runs)
        waits.append(first - instant(job["created_at"]))
    return waits


def main():
    with tempfile.TemporaryDirectory(prefix="nightjar-bench-") as folder:
        world = worlds.World(pathlib.Path(folder))
        try:
            world.publish_nightly("2026-08-19")
            world.start_daemon()
            world.start_runner(worlds.script())
            world.wait("the first night", lambda: world.night_done(1))
            for night in range(2, NIGHTS + 2):
                world.request("POST", "/api/v1/nights", {})
                world.wait(f"night {night}", lambda n=night: world.night_done(n))
            waits = starts(world)
            trips = round_trips(world)
            daemon, agent = (resident_mib(world.processes[name])
                             for name in ("nightjard", "nightjar-runner"))
        finally:
            world.stop()
    start, trip = statistics.median(waits), statistics.median(trips)
    print(
        f"claim to start: median {1e3 * start:.1f} ms, worst {1e3 * max(waits):.1f} ms of "
        f"{len(waits)} "
        f"(at most {1e3 * MOST_START_SECONDS:.0f} ms); a bare round trip takes {1e3 * trip:.2f} ms")
    print(
        f"resident: daemon {daemon:.1f} MiB (at most {MOST_DAEMON_MIB}), agent {agent:.1f} MiB "
        f"(at most {MOST_AGENT_MIB})"
    )
    held = start <= MOST_START_SECONDS and daemon <= MOST_DAEMON_MIB and agent <= MOST_AGENT_MIB
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
