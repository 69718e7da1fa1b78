"""A runner that lies: it speaks the protocol with a runner's token, byte by byte where it must."""
import contextlib
import http.client
import json
import socket
import threading
import time

from world import WORKLOADS

MEBIBYTE = 1 << 20
AGENT = "/api/v1/agent"


def machine_state():
    return {"load1": 0, "steal_share": 0, "frequency_mhz": 0, "extra": {}, "gpus": []}


def run(order, latency=0.01, samples=None, **more):
    samples = samples or [latency] * 10
    return {"order": order, "status": "measured", "reason": "", "samples": {"latency": samples},
            "cpu_seconds": [], "wait_seconds": [], "slowdown": [], "checksum": 1.0,
            "warmup_iterations": 3, "started_at": "2026-08-20T20:00:00Z", "seconds": 0.5, **more}


def session(runs):
    return {"runs": runs, "before": machine_state(), "after": machine_state(), "packages": {},
            "setup_seconds": [], "settings": {}}


class HostileRunner:
    def __init__(self, world, name, token="runner", **registration):
        self.world, self.name, self.token = world, name, token
        self.port = int(world.port_file.read_text())
        body = {"name": name, "labels": {}, "version": "1",
                "workloads": [f"{one}@1" for one in WORKLOADS], "facts": {"cpu_model": "honest"},
                **registration}
        self.runner = self.say("register", body)[1]["runner"]

    def say(self, what, body, token=None, headers=None):
        status, answer = self.world.request("POST", f"{AGENT}/{what}", body, token or self.token,
                                            headers)
        try:
            return status, json.loads(answer)
        except ValueError:
            return status, None

    def claim(self, wait=0):
        """Its next job; None if there is none."""
        status, job = self.say("claim", {"runner": self.runner, "wait_seconds": wait})
        assert status in (200, 204), job
        return job

    def claim_a_job(self):
        return self.world.wait("a job to claim", self.claim)

    @staticmethod
    def of(job):
        """What proves that a claim was made here."""
        return {"attempt": job["attempt"], "nonce": job["nonce"]}

    @staticmethod
    def headers_of(job):
        return {"Nightjar-Attempt": str(job["attempt"]), "Nightjar-Nonce": job["nonce"]}

    def send_result(self, job, result, head=True):
        """`result`: of a session, or the text of a whole body."""
        body = result if isinstance(result, bytes) else {**self.of(job), "result": result}
        return self.say(f"jobs/{job['id']}/result", body,
                        headers=self.headers_of(job) if head else None)

    def begin_body(self, path, size, headers=None, token="runner-token-for-tests"):
        """A connection that has sent a head which announces `size` bytes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest("POST", path)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(size),
                            "Authorization": f"Bearer {token}", **(headers or {})}.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection


@contextlib.contextmanager
def bodies(connections, size):
    """Sends bodies of spaces side by side, as much as the service reads of each."""
    ended = threading.Event()

    def send(connection):
        open_socket = connection.sock  # which goes when a test has read the answer
        with contextlib.suppress(OSError):
            open_socket.settimeout(1)
            for _ in range(size // 65536 - 1):
                open_socket.sendall(b" " * 65536)
                if ended.is_set():
                    return
    threads = [threading.Thread(target=send, args=(one,)) for one in connections]
    for thread in threads:
        thread.start()
    yield
    ended.set()
    for thread in threads:
        thread.join()
    for connection in connections:
        connection.close()


class Claiming:
    """An honest runner that asks for a job again and again, and keeps how long answers took."""

    def __init__(self, runner):
        self.runner, self.seconds, self._ended = runner, [], threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def _ask(self):
        while not self._ended.is_set():
            begun = time.monotonic()
            with contextlib.suppress(OSError, socket.timeout):
                self.runner.say("claim", {"runner": self.runner.runner, "wait_seconds": 0})
            self.seconds.append(time.monotonic() - begun)
            self._ended.wait(.02)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()
