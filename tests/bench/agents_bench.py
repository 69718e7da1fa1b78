"""Two hundred agents and one real service on loopback: how long a claim takes, what the service
holds in memory, and how many runs a second it takes in. The agents are simulated: they speak the
agents' protocol over connections that stay open, and answer with made-up samples. Each is a machine
class of its own, so that a night has a session for each of them and all answer in one moment."""

import argparse
import asyncio
import datetime
import functools
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import world as worlds  # noqa: E402
from session_result import session_result  # noqa: E402

AGENTS, NIGHTS, WORKLOADS, ITERATIONS = 200, 5, 10, 30
WAIT_SECONDS = 4  # as the real agent waits for a job
MOST_CPU_SECONDS, MOST_DAEMON_MIB = 15, 160  # of the service, in a night and at most


class Connection:
    """HTTP/1.1 over one connection."""

    def __init__(self, url, token):
        self.host, self.port = url.removeprefix("http://").split(":")
        self.token = token

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection(self.host, int(self.port),
                                                                 limit=1 << 24)

    async def send(self, method, path, body=None):
        """(status, answer's text)."""
        data = b"" if body is None else body
        if not isinstance(data, bytes):
            data = json.dumps(data).encode()
        self.writer.write((f"{method} {path} HTTP/1.1\r\nHost: {self.host}\r\n"
                           f"Authorization: Bearer {self.token}\r\n"
                           "Content-Type: application/json\r\n"
                           f"Content-Length: {len(data)}\r\n\r\n").encode() + data)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        length = next((int(line.split(":")[1]) for line in head.split("\r\n")
                       if line.lower().startswith("content-length:")), 0)
        return int(head.split()[1]), (await self.reader.readexactly(length)).decode()


class Tally:
    def __init__(self):
        self.dispatch, self.claims, self.results = [], [], []  # seconds each
        self.claimed_at = {}  # by job
        self.runs = self.bytes = self.late = 0
        self.begin = self.end = None  # of a night's results


@functools.cache
def result_of(order):
    """The number of a session's runs, and its result as text. Made once for all agents, which would
    otherwise wait for one another here and not at the service."""
    result = session_result(json.loads(order), ITERATIONS)
    return len(result["runs"]), json.dumps(result)


async def agent(number, url, token, tally, names):
    connection = Connection(url, token)
    await connection.open()
    instance = f"instance {number}"
    status, text = await connection.send("POST", "/api/v1/agent/register", {
        "name": f"simulated-{number}", "labels": {"pool": "simulated"}, "version": "bench",
        "workloads": [f"{name}@1" for name in names], "instance": instance,
        "facts": {"cpu_model": f"simulated {number}"}})
    assert status == 200, text
    runner = json.loads(text)["runner"]
    while True:
        begin = time.time()
        status, text = await connection.send("POST", "/api/v1/agent/claim", {
            "runner": runner, "instance": instance, "wait_seconds": WAIT_SECONDS})
        if status >= 500:  # it took too long; a real agent pauses, too
            tally.late += 1
            await asyncio.sleep(.5)
            continue
        if status == 204:
            continue
        assert status == 200, text
        job = json.loads(text)
        tally.claimed_at[job["id"]] = (begin, time.time())
        runs, result = result_of(json.dumps(job["spec"]["order"]))
        body = (f'{{"attempt": {job["attempt"]}, "nonce": "{job["nonce"]}", "result": '
                f'{result}}}').encode()
        path = f"/api/v1/agent/jobs/{job['id']}/"
        tally.begin = tally.begin or time.time()
        begin = time.time()
        status, text = await connection.send("POST", path + "result", body)
        assert status == 200 and json.loads(text)["accepted"] == "stored", text
        tally.end = time.time()
        tally.results.append(tally.end - begin)
        tally.runs += runs
        tally.bytes += len(body)


async def night_done(asking, count):
    while True:
        _, text = await asking.send("GET", "/api/v1/nights?limit=50")
        nights = json.loads(text)["items"]
        if sum(night["state"] == "done" for night in nights) >= count:
            return
        await asyncio.sleep(.2)


async def round_trips(url, token, agents):
    """Seconds of a bare request, from as many connections at once."""
    async def ask():
        connection = Connection(url, token)
        await connection.open()
        begin = time.time()
        await connection.send("GET", "/healthz")
        return time.time() - begin
    return await asyncio.gather(*(ask() for _ in range(agents)))


def memory_mib(process, name):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(next(line for line in status.splitlines()
                    if line.startswith(name)).split()[1]) / 1024


def cpu_seconds(process):
    """That it used so far; unlike all other times they hardly depend on what else runs here."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def spread(seconds):
    ranked = sorted(seconds)
    return (f"median {1e3 * statistics.median(ranked):.0f} ms, "
            f"p95 {1e3 * ranked[int(.95 * (len(ranked) - 1))]:.0f} ms of {len(ranked)}")


async def measure(world, options):
    daemon, token = world.processes["nightjard"], world.tokens["admin"]
    asking = Connection(world.url, token)
    await asking.open()
    idle = memory_mib(daemon, "VmRSS")
    trips = await round_trips(world.url, token, options.agents)
    names = [f"python/model{n}/eval/cpu/fp32/b1/eager" for n in range(WORKLOADS)]
    tally, rates = Tally(), []
    working = [asyncio.create_task(agent(number, world.url, token, tally, names))
               for number in range(options.agents)]
    waiting = asyncio.create_task(measure_nights(world, asking, tally, rates, options))
    done, _ = await asyncio.wait([waiting, *working], return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()  # an agent never ends but by an error
    for task in working:
        task.cancel()
    return {"idle": idle, "resident": memory_mib(daemon, "VmRSS"),
            "peak": memory_mib(daemon, "VmHWM"), "cpu": cpu_seconds(daemon),
            "trips": trips, "tally": tally, "rates": rates}


async def measure_nights(world, asking, tally, rates, options):
    for night in range(1, options.nights + 1):
        if night > 1:
            status, text = await asking.send("POST", "/api/v1/nights", {})
            assert status == 202, text
        before_runs, tally.begin = tally.runs, None
        await night_done(asking, night)
        rates.append((tally.runs - before_runs) / (tally.end - tally.begin))
    cursor, created = "", {}
    while cursor is not None:
        _, text = await asking.send("GET", "/api/v1/jobs?limit=200" + cursor)
        page = json.loads(text)
        for job in page["items"]:
            created[job["id"]] = datetime.datetime.fromisoformat(
                job["created_at"].replace("Z", "+00:00")).timestamp()
        cursor = f"&cursor={page['next_cursor']}" if page["next_cursor"] else None
    for job, (begin, end) in tally.claimed_at.items():
        tally.dispatch.append(end - max(begin, created[job]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=AGENTS)
    parser.add_argument("--nights", type=int, default=NIGHTS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nightjar-bench-") as folder:
        world = worlds.World(pathlib.Path(folder), queue={"lease": 60, "tick": 1})
        try:
            world.publish_nightly("2026-08-19")
            world.start_daemon()
            found = asyncio.run(measure(world, options))
        finally:
            world.stop()
    tally, cpu = found["tally"], found["cpu"] / options.nights
    print(f"{options.agents} agents, {options.nights} nights, {tally.runs} runs, "
          f"{tally.bytes / 2**20:.0f} MiB of results")
    print(f"a job's row to its claim's answer, all at once: {spread(tally.dispatch)}")
    print(f"claims that the service answered too late: {tally.late}")
    print(f"a bare request, as many at once: {spread(found['trips'])}")
    print(f"a result to its answer, all at once: {spread(tally.results)}")
    print(f"ingest: median {statistics.median(found['rates']):.0f} runs a second, from the first "
          "result of a night to the last answer")
    print(f"the service's CPU time: {cpu:.1f} s a night (at most {MOST_CPU_SECONDS})")
    print(f"resident: {found['idle']:.0f} MiB before, {found['resident']:.0f} after, "
          f"{found['peak']:.0f} at most (at most {MOST_DAEMON_MIB})")
    return 0 if cpu <= MOST_CPU_SECONDS and found["peak"] <= MOST_DAEMON_MIB else 1


if __name__ == "__main__":
    sys.exit(main())
