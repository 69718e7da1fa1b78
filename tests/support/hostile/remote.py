"""A git remote over HTTP that lies: it promises a branch, and says what one of MOODS has instead of
sending its commits. It wants a user and a password, so that it has something to repeat."""
import base64
import http.server
import os
import struct
import threading
import zlib

HASH = "1" * 40
BAND_PACK, BAND_PROGRESS, BAND_ERROR = b"\x01", b"\x02", b"\x03"
MOST = 65_000  # bytes of one packet


def packet(data):
    return b"%04x" % (len(data) + 4) + data


def band(number, text):
    return b"".join(packet(number + text[at:at + MOST]) for at in range(0, len(text), MOST))


def long_line(_):
    """The begin of an address whose user never ends."""
    return b"https://" + b"x" * 50_000


def huge_line(_):
    """Beginnings of addresses, of which each could have a user."""
    return b"://me:'@" * 700_000


def terminal(_):
    """Clears the screen, sets its title, forges a line of a log, and is no UTF-8."""
    return b"\x1b[2J\x1b]0;owned\x07\xc2\x9b31m \xff\xfe\r\n2026-01-01 error forged=1"


def repeat(headers):
    """What it was sent, as it came and decoded."""
    sent = headers["Authorization"].split()[1]
    user, _, password = base64.b64decode(sent).decode().partition(":")
    return f"you sent {sent}, {user} and {password}".encode()


def endless(_):
    return b"Counting objects:  50% (1/2)\r" * 2_000


def endless_pack(_):
    return b"Receiving objects"


MOODS = {mood.__name__: mood
         for mood in (long_line, huge_line, terminal, repeat, endless, endless_pack)}


def pack():
    """A pack of a thousand objects, whose first one never ends."""
    blob, size = 3, 1 << 40
    header, size = [blob << 4 | size & 15], size >> 4
    while size:
        header[-1] |= 0x80
        header, size = header + [size & 0x7F], size >> 7
    stored = zlib.compressobj(0)
    yield b"PACK" + struct.pack(">II", 2, 1000) + bytes(header)
    while True:
        yield stored.compress(os.urandom(MOST))


class Handler(http.server.BaseHTTPRequestHandler):
    def is_let_in(self):
        if "Authorization" in self.headers:
            return True
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="lies"')
        self.send_header("Content-Length", "0")
        self.end_headers()
        return False

    def answer(self, kind):
        self.send_response(200)
        self.send_header("Content-Type", f"application/x-git-upload-pack-{kind}")
        self.end_headers()

    def do_GET(self):
        if not self.is_let_in():
            return
        self.answer("advertisement")
        branch = f"{HASH} refs/heads/main\0side-band-64k\n".encode()
        self.wfile.write(packet(b"# service=git-upload-pack\n") + b"0000" + packet(branch)
                         + b"0000")

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.is_let_in():
            return
        self.answer("result")
        self.wfile.write(packet(b"NAK\n"))
        try:
            said = MOODS[self.server.mood](self.headers)
            self.wfile.write(band(BAND_PROGRESS, said + b"\n"))
            while self.server.mood == "endless":
                self.wfile.write(band(BAND_PROGRESS, said))
            for part in pack() if self.server.mood == "endless_pack" else ():
                self.wfile.write(band(BAND_PACK, part))
            self.wfile.write(band(BAND_ERROR, said))
        except OSError:  # git has gone
            pass

    def log_message(self, *_):
        pass


class Remote(http.server.ThreadingHTTPServer):
    """Listens on loopback until stop()."""

    def __init__(self, mood):
        super().__init__(("127.0.0.1", 0), Handler)
        self.mood = mood
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self):
        return f"http://127.0.0.1:{self.server_port}/pytorch.git"

    def login(self, user, password):
        """A line of [service] credentials_file."""
        return f"machine 127.0.0.1:{self.server_port} login {user} password {password}"

    def stop(self):
        self.shutdown()
        self.server_close()
