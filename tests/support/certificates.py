"""Authorities and certificates, made by openssl as docs/operating.md has them, and TLS in front of
a server that speaks plain HTTP."""

import http.client
import http.server
import re
import ssl
import subprocess
import threading
import urllib.parse

GOOD = "subjectAltName=IP:127.0.0.1"


def openssl(folder, *words):
    return subprocess.run(["openssl", *map(str, words)], cwd=folder, check=True, text=True,
                          capture_output=True, timeout=60).stdout


def authority(folder, name):
    openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", 2, "-subj",
            f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")


def certificate(folder, name, by, extension="", days=1):
    openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout",
            f"{name}.key", "-out", f"{name}.csr")
    (folder / f"{name}.ext").write_text(extension)
    sign(folder, name, by, days)


def sign(folder, name, by, days=1):
    """Also renews: whoever reads the file finds the new certificate under the old name. With days
    below zero it has expired."""
    openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{by}.pem", "-CAkey",
            f"{by}.key", "-CAcreateserial", "-days", days, "-extfile", f"{name}.ext", "-out",
            f"{name}.new")
    (folder / f"{name}.new").replace(folder / f"{name}.pem")


def valid_until(folder, name):
    """As Nightjar prints it: 2026-11-25T12:00:00Z."""
    said = openssl(folder, "x509", "-in", f"{name}.pem", "-noout", "-enddate", "-dateopt",
                   "iso_8601")
    return re.fullmatch(r"notAfter=(\S+) (\S+Z)\n", said).expand(r"\1T\2")


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def pass_on(self):
        front = self.server.front
        front.requests.append(f"{self.command} {self.path}")
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        behind = http.client.HTTPConnection(front.behind, timeout=60)
        try:
            behind.request(self.command, self.path, body, dict(self.headers))
            answer = behind.getresponse()
            content = answer.read()
        finally:
            behind.close()
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        length = answer.getheader("Content-Length") if self.command == "HEAD" else len(content)
        self.send_header("Content-Length", str(length or 0))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_HEAD = do_POST = do_PATCH = do_PUT = do_DELETE = pass_on

    def log_message(self, *_):
        pass


class _Server(http.server.ThreadingHTTPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 128

    def __init__(self, front, port, certificate_file):
        self.front, self.connections = front, []
        super().__init__(("127.0.0.1", port), _Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate_file, certificate_file.with_suffix(".key"))
        # The handshake belongs to the connection's own thread.
        self.socket = context.wrap_socket(self.socket, server_side=True,
                                          do_handshake_on_connect=False)

    def process_request(self, request, client_address):
        self.connections.append(request)
        super().process_request(request, client_address)

    def handle_error(self, *_):
        pass  # a client that refuses the certificate, or a restart


class Front:
    """https:// in front of the server at `url`, with a certificate that can be exchanged."""

    def __init__(self, url, certificate_file):
        self.behind = urllib.parse.urlsplit(url).netloc
        self.requests = []  # that were understood: "GET /path"
        self._start(0, certificate_file)
        self.port = self._server.server_port
        self.url = f"https://127.0.0.1:{self.port}"

    def _start(self, port, certificate_file):
        self._server = _Server(self, port, certificate_file)
        threading.Thread(target=self._server.serve_forever, args=(0.05, ), daemon=True).start()

    def stop(self):
        """Connections end with it."""
        self._server.shutdown()
        self._server.server_close()
        for connection in self._server.connections:
            try:
                connection.shutdown(2)
            except OSError:
                pass  # it has ended

    def restart(self, certificate_file):
        """At the same port. Returns once nothing uses the certificate before."""
        self.stop()
        self._start(self.port, certificate_file)
