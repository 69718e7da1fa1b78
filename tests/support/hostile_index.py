"""A wheel index that does what an index may not: every page, file and redirect is as the test says,
and who is led elsewhere is seen. Used by tests/e2e/hostile_index_test.py."""
import base64
import http.server
import pathlib
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.server.asked.append((self.path, self.headers.get("Authorization")))
        login = self.server.login
        if login and self.headers.get("Authorization") != login:
            return self.answer(401, b"", {"WWW-Authenticate": 'Basic realm="index"'})
        found = self.server.answers.get(self.path)
        if found == "nothing":
            self.server.ended.wait(300)
            return
        if found is None:
            return self.answer(404, b"", {})
        return self.answer(*found)

    def answer(self, status, body, headers):
        self.send_response(status)
        headers = {"Content-Type": "text/html", "Content-Length": str(len(body)), **headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_):
        pass


class HostileIndex:
    """`login`: (user, password) that it asks for. `asked`: paths, with the header Authorization."""

    def __init__(self, login=None):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.answers, self.server.asked = {}, []
        self.server.login = login and "Basic " + base64.b64encode(":".join(login).encode()).decode()
        self.asked = self.server.asked
        self.server.ended = threading.Event()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def serve(self, path, body, status=200, **headers):
        body = body if isinstance(body, bytes) else body.encode()
        self.server.answers[path] = (status, body, headers)

    def stand_still(self, path):
        self.server.answers[path] = "nothing"

    def redirect(self, path, to):
        self.serve(path, b"", 302, Location=to)

    def list(self, name, *hrefs):
        self.serve(f"/{name}/", "".join(f'<a href="{href}">{href}</a>\n' for href in hrefs))

    def stop(self):
        self.server.ended.set()
        self.server.shutdown()


class SecretsOfProcesses(threading.Thread):
    """Looks for texts in the command lines of all processes, until it is stopped."""

    def __init__(self, *secrets):
        super().__init__(daemon=True)
        self.secrets, self.found, self.looks = [s.encode() for s in secrets], set(), 0
        self.done = threading.Event()
        self.start()

    def run(self):
        while not self.done.wait(.01):
            self.looks += 1
            for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    line = file.read_bytes()
                except OSError:
                    continue
                self.found |= {line for secret in self.secrets if secret in line}

    def stop(self):
        self.done.set()
        self.join()
        return self.found
