"""What nobody with a token asks for costs the daemon little: its resident memory under any load is
at most twice what it is at rest. Each load comes from many addresses of the loopback network."""

import re
import resource
import sys
import time

import pytest

from world import ROOT

sys.path.append(str(ROOT / "tests" / "support" / "hostile"))

import reader

CONNECTIONS = 1000
ADDRESSES = [f"127.0.0.{last}" for last in range(2, 52)]
SECONDS = 4  # that a load lasts, after all of it has begun
MEBIBYTE = 1 << 20


def memory_bytes(process, field):
    with open(f"/proc/{process.pid}/status") as status:
        return int(re.search(rf"^{field}:\s+(\d+) kB", status.read(), re.MULTILINE)[1]) * 1024


def load(port, kind):
    """Lasts for some seconds. Returns how many connections were opened."""
    crowd = reader.Crowd(port, CONNECTIONS, kind, ADDRESSES)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        crowd.go_on()
    crowd.close()
    return crowd.opened


@pytest.fixture
def daemon(world):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))  # as most systems start a service
    made = world()
    made.repo.grow(3)
    made.publish_nightly("2026-08-20")
    made.start_daemon()
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    made.wait("the build to be there", lambda: made.items("builds"))
    log = made.folder / "data/logs/1.log"
    log.parent.mkdir()
    log.write_bytes(b"x" * (64 * MEBIBYTE))
    # A service at rest has answered everything once.
    for path in ("/", "/openapi.json", "/metrics", "/api/v1/regressions", "/api/v1/series"):
        made.request("GET", path)
    yield made
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.release
@pytest.mark.parametrize(
    "kind", [reader.nothing, reader.slow_heads, reader.signed_bodies, reader.whole_bodies,
             reader.chunked_bodies, reader.refused_bodies, reader.event_streams,
             reader.answers_that_nobody_reads, reader.many_fields, reader.long_queries,
             reader.logs_that_nobody_reads, reader.a_bit_of_each])
def test_resident_memory_under_anonymous_load_is_at_most_twice_idle(daemon, kind):
    process = daemon.processes["nightjard"]
    idle = memory_bytes(process, "VmRSS")
    peaks = []
    # Other tests share the cores: one of three loads has to stay below. What a load leaves behind
    # counts for the next one.
    while len(peaks) < 3 and min(peaks, default=3 * idle) > 2 * idle:
        with open(f"/proc/{process.pid}/clear_refs", "w") as high_water_mark:
            high_water_mark.write("5")
        connected = load(int(daemon.port_file.read_text()), kind)
        peaks.append(memory_bytes(process, "VmHWM"))
        print(f"{kind.__name__}: {connected} connections, idle {idle / MEBIBYTE:.1f} MiB, "
              f"peak {peaks[-1] / MEBIBYTE:.1f} MiB")
        assert connected >= CONNECTIONS  # else this was no load
    assert min(peaks) <= 2 * idle
    # A client with a token is served as soon as the others have gone.
    daemon.wait("the daemon to answer", lambda: daemon.get("/readyz", raw=True), 30)
