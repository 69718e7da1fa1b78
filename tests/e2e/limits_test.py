"""What nobody with a token asks for costs the daemon little: its resident memory under any load is
at most twice what it is at rest. Each load comes from many addresses of the loopback network."""

import contextlib
import re
import resource
import socket
import time

import pytest

CONNECTIONS = 1000
ADDRESSES = [f"127.0.0.{last}" for last in range(2, 52)]
SECONDS = 4  # that a load lasts, after all of it has begun
MEBIBYTE = 1 << 20
SIGNATURE = "X-Hub-Signature-256: sha256=" + "0" * 64


def head(line, *headers):
    return ("\r\n".join([line, "Host: nightjar", *headers]) + "\r\n\r\n").encode()


def post(path, size, *headers):
    return head(f"POST {path} HTTP/1.1", f"Content-Length: {size}", *headers)


def nothing(_):
    yield b""


def slow_heads(_):
    """A head that is never complete, almost as long as is allowed."""
    yield b"GET / HTTP/1.1\r\nHost: nightjar\r\nX-Long: " + b"x" * 15_000
    while True:
        yield b"x"


def signed_bodies(_):
    """What might come from GitHub, and is found not to when all of it is here."""
    size = 7 * MEBIBYTE // 2
    yield post("/webhooks/github", size, SIGNATURE, "X-GitHub-Event: push")
    for _ in range(size // 65536 - 1):
        yield b"x" * 65536


def whole_bodies(_):
    size = 3 * MEBIBYTE
    while True:
        yield post("/webhooks/github", size, SIGNATURE, "X-GitHub-Event: push")
        for _ in range(size // 65536):
            yield b"x" * 65536


def chunked_bodies(_):
    yield head("POST /webhooks/github HTTP/1.1", "Transfer-Encoding: chunked", SIGNATURE)
    while True:
        yield b"10000\r\n" + b"x" * 65536 + b"\r\n"


def refused_bodies(_):
    """Of a route that needs a token."""
    yield post("/api/v1/agent/register", MEBIBYTE)
    for _ in range(16):
        yield b"x" * 65536


def event_streams(_):
    yield head("GET /api/v1/events HTTP/1.1")


def answers_that_nobody_reads(_):
    while True:
        yield head("GET /openapi.json HTTP/1.1")


def a_bit_of_each(number):
    kinds = [nothing, slow_heads, signed_bodies, chunked_bodies, event_streams,
             answers_that_nobody_reads]
    return kinds[number % len(kinds)](number)


def memory_bytes(process, field):
    with open(f"/proc/{process.pid}/status") as status:
        return int(re.search(rf"^{field}:\s+(\d+) kB", status.read(), re.MULTILINE)[1]) * 1024


def connect(port, number):
    connection = socket.socket()
    connection.bind((ADDRESSES[number % len(ADDRESSES)], 0))
    connection.settimeout(5)
    connection.connect(("127.0.0.1", port))
    connection.setblocking(False)
    return connection


class Sender:
    """One connection, which sends what it can and reads nothing."""

    def __init__(self, connection, pieces):
        self.connection, self._pieces, self._left = connection, pieces, b""
        self.open = True

    def go_on(self):
        try:
            self._left = self._left or next(self._pieces, b"")
            if self._left:
                self._left = self._left[self.connection.send(self._left):]
        except BlockingIOError:
            pass
        except OSError:
            self.open = False


def load(port, kind):
    """Lasts for some seconds. Returns how many connections came about."""
    with contextlib.ExitStack() as stack:
        senders = []
        for number in range(CONNECTIONS):
            with contextlib.suppress(OSError):  # so many at once may be refused
                connection = stack.enter_context(connect(port, number))
                senders.append(Sender(connection, kind(number)))
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            for sender in senders:
                if sender.open:
                    sender.go_on()
        return len(senders)


@pytest.fixture
def daemon(world):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    made = world()
    made.repo.grow(3)
    made.publish_nightly("2026-08-20")
    made.start_daemon()
    made.wait("the build to be there", lambda: made.items("builds"))
    # A service at rest has answered everything once.
    for path in ("/", "/openapi.json", "/metrics", "/api/v1/regressions", "/api/v1/series"):
        made.request("GET", path)
    yield made
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.release
@pytest.mark.parametrize(
    "kind", [nothing, slow_heads, signed_bodies, whole_bodies, chunked_bodies, refused_bodies,
             event_streams, answers_that_nobody_reads, a_bit_of_each])
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
        assert connected >= CONNECTIONS / 2  # else this was no load
    assert min(peaks) <= 2 * idle
    # Who has a token is served as soon as the others have gone.
    daemon.wait("the daemon to answer", lambda: daemon.get("/readyz", raw=True), 30)
