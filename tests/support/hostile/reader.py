"""A hostile reader: connections that cost the service a place or memory, and send or read as little
as they can. Whatever the service closes is opened again.

`reader.py PORT COUNT SECONDS KIND SOURCE...` holds COUNT connections from the addresses in turn. It
says "ready" once each was opened, and ends after SECONDS or with its standard input.
"""
import json
import select
import socket
import sys
import time

MEBIBYTE = 1 << 20
SIGNATURE = "X-Hub-Signature-256: sha256=" + "0" * 64
IP_FREEBIND = 15


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


def half_heads(_):
    """Half a head, and nothing more is to come."""
    yield b"GET / HTTP/1.1\r\nHost: night"
    yield None


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
    """Sends bodies to a route that needs a token."""
    yield post("/api/v1/agent/register", MEBIBYTE)
    for _ in range(16):
        yield b"x" * 65536


def event_streams(_):
    yield head("GET /api/v1/events HTTP/1.1")


def answers_that_nobody_reads(_):
    while True:
        yield head("GET /openapi.json HTTP/1.1")


def many_fields(_):
    """Small on its way, large in memory."""
    fields = [f"{number:x}:" for number in range(2300)]
    while True:
        yield head("GET / HTTP/1.1", *fields)


def long_queries(number):
    """Heads as long as they may be, each another one."""
    for question in range(10**9):
        text = f"{number}-{question}-" + "x" * 15_000
        yield head(f"GET /api/v1/regressions?workload={text} HTTP/1.1")


def logs_that_nobody_reads(_):
    yield head("GET /api/v1/jobs/1/log HTTP/1.1")


def streams_of_a_token(_):
    yield head("GET /api/v1/events HTTP/1.1", "Authorization: Bearer read-token-for-tests")


def silent_half_open_and_dripping(number):
    kinds = [nothing, half_heads, slow_heads]
    return kinds[number % len(kinds)](number)


def a_bit_of_each(number):
    kinds = [nothing, slow_heads, half_heads, signed_bodies, chunked_bodies, event_streams,
             answers_that_nobody_reads, many_fields, long_queries, logs_that_nobody_reads]
    return kinds[number % len(kinds)](number)


KINDS = {kind.__name__: kind for kind in list(globals().values())
         if callable(kind) and kind not in (head, post)}


class Sender:
    """One connection, which sends what it can and reads nothing."""

    def __init__(self, port, source, pieces):
        family = socket.AF_INET6 if ":" in source else socket.AF_INET
        self._pieces, self._left = pieces, b""
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)
        # A port is chosen only for the pair of addresses, so they do not run out.
        self._socket.setsockopt(socket.IPPROTO_IP, getattr(socket, "IP_BIND_ADDRESS_NO_PORT", 24),
                                1)
        self._socket.bind((source, 0))
        self._socket.setblocking(False)
        self._socket.connect_ex(("::1" if family == socket.AF_INET6 else "127.0.0.1", port))

    def fileno(self):
        return self._socket.fileno()

    def go_on(self):
        """False: there is nothing more to do with it."""
        try:
            if not self._left:
                self._left = next(self._pieces, b"")
            if self._left is None:
                self._socket.shutdown(socket.SHUT_WR)
                self._left = b""
            if self._left:
                self._left = self._left[self._socket.send(self._left):]
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True

    def close(self):
        self._socket.close()


class Crowd:
    """A number of connections, opened again whenever the service closes one."""

    def __init__(self, port, count, kind, sources):
        self._port, self._kind, self._sources = port, kind, sources
        self._poll = select.epoll()
        self._senders = {}  # by file descriptor
        self.opened = self._made = 0
        for _ in range(count):
            self._open()

    def _open(self):
        number, self._made = self._made, self._made + 1
        sender = Sender(self._port, self._sources[number % len(self._sources)], self._kind(number))
        self._senders[sender.fileno()] = sender
        self._poll.register(sender.fileno(), select.EPOLLRDHUP)
        self.opened += 1

    def _replace(self, number):
        self._poll.unregister(number)
        self._senders.pop(number).close()
        self._open()

    def go_on(self):
        for number, sender in list(self._senders.items()):
            if not sender.go_on():
                self._replace(number)
        for number, _ in self._poll.poll(0):
            if number in self._senders:
                self._replace(number)

    def close(self):
        for sender in self._senders.values():
            sender.close()
        self._poll.close()


def main(port, count, seconds, kind, *sources):
    crowd = Crowd(int(port), int(count), KINDS[kind], sources)
    crowd.go_on()
    print("ready", flush=True)
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end and not select.select([sys.stdin], [], [], 0.01)[0]:
        crowd.go_on()
    print(json.dumps({"opened": crowd.opened}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
