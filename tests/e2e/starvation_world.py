"""A service in a network of its own, crowds that want to keep others from it, and an agent, an
admin and a reader who want something of it meanwhile. Prints what each had to wait, and the
service's memory, as JSON. starvation_test.py runs it by `unshare --net`.

All of the agent's and the admin's requests come from an address that the crowd has, too.
"""
import contextlib
import fcntl
import http.client
import json
import pathlib
import resource
import socket
import struct
import subprocess
import sys
import time

import limits_test
import world as worlds

HOSTILE = worlds.ROOT / "tests" / "support" / "hostile"
CONNECTIONS = 1000
SHARED = "127.0.0.2"  # of the crowd, the agent and the admin
MANY = [f"127.0.{block}.{last}" for block in (0, 1) for last in range(2, 127)]
NETWORK = [f"fd00:6e6a:1:2::{number:x}" for number in range(1, 101)]  # one /64
SIOCSIFFLAGS, SIOCSIFADDR, IFF_UP = 0x8914, 0x8916, 1
CLAIMS, ADMISSIONS = 300, 30


def bring_loopback_up():
    with socket.socket() as any_socket, socket.socket(socket.AF_INET6) as six:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
        for address in NETWORK:
            wanted = struct.pack("16sIi", socket.inet_pton(socket.AF_INET6, address), 128,
                                 socket.if_nametoindex("lo"))
            fcntl.ioctl(six, SIOCSIFADDR, wanted)


class Site:
    def __init__(self, world):
        self.world = world
        self.again = 0  # requests that were tried twice
        self.world.repo.grow(3)
        self.world.publish_nightly("2026-08-20")
        self.world.start_daemon()
        self.world.wait("the build to be there", lambda: self.world.items("builds"))
        log = world.folder / "data/logs/1.log"
        log.parent.mkdir()
        log.write_bytes(b"x" * (64 << 20))
        for path in ("/", "/openapi.json", "/metrics", "/api/v1/regressions", "/api/v1/series"):
            self.world.request("GET", path)
        self.port = int(self.world.port_file.read_text())
        self.daemon = self.world.processes["nightjard"]
        status, body = self.world.request("POST", "/api/v1/agent/register", {
            "name": "honest", "labels": {"pool": "none"}, "version": "1", "instance": "one",
            "workloads": ["python/none/eval/cpu/fp32/b1/eager@1"],
            "facts": {"cpu_model": "honest"}}, token="runner")
        assert status == 200, body
        self.runner = json.loads(body)["runner"]
        self.idle = limits_test.memory_bytes(self.daemon, "VmRSS")

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=20,
                                          source_address=(SHARED, 0))

    def try_once(self, connection, method, path, token, body):
        """The status; 0 where the connection was ended."""
        headers = {"Authorization": f"Bearer {self.world.tokens[token]}"} if token else {}
        try:
            connection.request(method, path, body and json.dumps(body), headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status
        except (OSError, http.client.HTTPException):
            connection.close()
            return 0

    def ask(self, connection, method, path, token="", body=None):
        """(status, seconds), both tries together where there were two.

        A connection has a place before it says who it is, until 128 newer ones want it: for about
        10 ms under these crowds. On a busy machine this process may stand still for longer between
        its connection and its head. And a crowd with the reader's own token may fill what that
        token has for a moment. So what meets a new connection is tried a second time, as agents do
        after an ended connection or a 503. What a kept connection asks has one try."""
        begin, is_new = time.monotonic(), connection.sock is None
        status = self.try_once(connection, method, path, token, body)
        if status in (0, 503) and is_new:
            self.again += 1
            status = self.try_once(connection, method, path, token, body)
        return status, time.monotonic() - begin

    def ask_anew(self, *what):
        with contextlib.closing(self.connect()) as connection:
            return self.ask(connection, *what)

    def claim(self, connection=None):
        what = ("POST", "/api/v1/agent/claim", "runner",
                {"runner": self.runner, "instance": "one", "wait_seconds": 0})
        return self.ask(connection, *what) if connection else self.ask_anew(*what)

    @contextlib.contextmanager
    def crowd(self, kind, count, *sources):
        command = [sys.executable, HOSTILE / "reader.py", str(self.port), str(count), "300", kind,
                   *sources]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            yield
            process.stdin.close()
            self.opened = json.loads(process.stdout.readline())["opened"]

    def watch_memory(self):
        pathlib.Path(f"/proc/{self.daemon.pid}/clear_refs").write_text("5")

    def peak(self):
        return limits_test.memory_bytes(self.daemon, "VmHWM")

    # ---- trials
    def under(self, kind, count, *sources):
        """What claims, admins and a token's reader meet while the crowd does as `kind` says. The
        reader's token may be the crowd's own."""
        self.watch_memory()
        self.again = 0
        with self.crowd(kind, count, *sources), contextlib.closing(self.connect()) as kept:
            claims = [self.claim(kept if number % 3 == 0 else None) for number in range(CLAIMS)]
            admins = [self.ask_anew("GET", "/api/v1/audit", "admin") for _ in range(ADMISSIONS)]
            readers = [self.ask_anew("GET", "/api/v1/nights", "read") for _ in range(ADMISSIONS)]
        return {
            "crowd": f"{count} x {kind} of {len(sources)} addresses", "opened": self.opened,
            "claims": claims, "admins": admins, "readers": readers, "again": self.again,
            "idle": self.idle, "peak": self.peak()}

    def long_queries(self, count):
        """Distinct ones on one connection."""
        self.watch_memory()
        with contextlib.closing(self.connect()) as connection:
            answers = [self.ask(connection, "GET", "/api/v1/regressions?workload="
                                + f"{number}-".ljust(15_000, "x"))[0] for number in range(count)]
        return {"crowd": f"{count} long queries", "answers": sorted(set(answers)),
                "idle": self.idle, "peak": self.peak()}


def main(folder):
    bring_loopback_up()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))  # as most systems start a service
    world = worlds.World(pathlib.Path(folder), service={"address": "::"})
    try:
        site = Site(world)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
        bad = "silent_half_open_and_dripping"
        print(json.dumps({
            "silent behind one address": site.under("nothing", 64, SHARED),
            "one address": site.under(bad, CONNECTIONS, SHARED),
            "one network of IPv6": site.under(bad, CONNECTIONS, *NETWORK),
            "many addresses": site.under(bad, CONNECTIONS, SHARED, *MANY),
            "many addresses and ways": site.under("a_bit_of_each", CONNECTIONS, SHARED, *MANY,
                                                  *NETWORK),
            "streams without a token": site.under("event_streams", CONNECTIONS, SHARED),
            "streams of one token": site.under("streams_of_a_token", 600, SHARED),
            "logs that nobody reads": site.under("logs_that_nobody_reads", 500, *MANY),
            "long queries": site.long_queries(6000)}))
    finally:
        world.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
