"""What CI's wheels come from, on loopback: GitHub's list of workflow runs below /api, and an S3
bucket below /bucket. Used by the demo, and by the double of the tests, which adds faults on demand
and GitHub's own description. A request that the real ones would refuse is kept as a violation."""

import hashlib
import http.server
import json
import re
import sys
import threading
import time
import urllib.parse

from loopback import listing, runs

BUCKET = "gha-artifacts"
GITHUB_HEADERS = {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}
RUNS = re.compile(r"/repos/(?P<owner>[^/]+)/(?P<repo>[^/]+)/actions/runs")


class Place:
    """What there is: runs by id, and objects by key as (Spliced, bytes, ETag)."""

    def __init__(self, repository, port, page_size=100):
        self.repository, self.page_size = repository, page_size
        self.base = f"http://127.0.0.1:{port}/api"
        self.lock = threading.Lock()
        self.reset()

    def reset(self):
        self.violations, self.requests, self.sent = [], [], 0
        self.runs, self.objects = {}, {}

    def add_run(self, run):
        """Adds {"id", "head_sha", "event"?, "status"?, "head_repository"?}, or replaces it."""
        self.runs[run["id"]] = run

    def add_object(self, key, content, etag):
        """`content` is a Spliced."""
        self.objects[key] = (content, content.size, f'"{etag}"')

    def fault_for(self, line):
        """What goes wrong with this request: {"kind", "retry_after"?}. Nothing, if not told."""
        return {"kind": ""}

    def find_runs(self, method, path, query):
        """Arguments of a request for the runs of a repository, and what is wrong with it. The
        arguments are None if it is another request."""
        match = RUNS.fullmatch(path)
        if method != "GET" or not match:
            return None, []
        known = ("head_sha", "per_page", "page")
        return match.groupdict(), [f"there is no query parameter {name!r}"
                                   for name in query if name not in known]

    def answer_problems(self, answer):
        """What is wrong with an answer of the list of runs."""
        return []


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    place = None

    def log_message(self, *_):
        pass

    def handle_any(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        with self.place.lock:
            fault = self.place.fault_for(f"{self.command} {self.path}")
            self.place.requests.append(
                {
                    "request": f"{self.command} {url.path}",
                    "query": query,
                    "fault": fault["kind"],
                    "range": self.headers.get("range"),
                    "if_none_match": self.headers.get("if-none-match"),
                }
            )
        if self.refused(fault):
            return None
        if url.path.startswith("/api/"):
            return self.github(url.path.removeprefix("/api"), url.path, query)
        if url.path.startswith("/bucket/"):
            return self.bucket(url.path.removeprefix("/bucket"), query, fault["kind"])
        self.violation(f"{self.command} {self.path} is nothing that is known here")
        return self.reply(404, b"")

    do_GET = do_HEAD = do_POST = handle_any

    def violation(self, what):
        self.place.violations.append(what)

    def refused(self, fault):
        kind, headers = fault["kind"], {}
        if kind == "cut_before":
            self.close_connection = True
            self.connection.shutdown(2)
            return True
        if kind not in ("403", "403_retry_after", "403_limit", "404", "503"):
            return False
        status = int(kind[:3])
        wait = fault.get("retry_after", 1)
        if kind == "403_retry_after":
            headers["Retry-After"] = str(wait)
        if kind == "403_limit":
            headers = {
                "X-RateLimit-Remaining": "0",
                "X-RateLimit-Reset": str(int(time.time()) + wait),
            }
        if self.path.startswith("/api/"):
            text = json.dumps(
                {
                    "message": "API rate limit exceeded" if status == 403 else "Not Found",
                    "documentation_url": "https://docs.github.com/rest",
                    "status": str(status),
                }
            )
        else:
            code = {403: "AccessDenied", 404: "NoSuchKey", 503: "SlowDown"}[status]
            text = listing.error(
                code, "Please reduce your request rate." if status == 503 else code, self.path
            )
        self.reply(status, text.encode(), headers)
        return True

    def github(self, path, whole, query):
        place = self.place
        arguments, problems = place.find_runs(self.command, path, query)
        if arguments is None:
            self.violation(f"{self.command} {path} is nothing that is known here")
            return self.reply(404, b"{}")
        problems += [
            f"header {name} is {self.headers.get(name)!r}"
            for name, value in GITHUB_HEADERS.items()
            if self.headers.get(name) != value
        ]
        place.violations += problems
        if problems or not self.headers.get("user-agent"):
            return self.reply(422, b"{}")
        if f"{arguments['owner']}/{arguments['repo']}" != place.repository:
            return self.reply(404, b'{"message": "Not Found"}')
        found = [
            run
            for _, run in sorted(place.runs.items(), reverse=True)
            if run["head_sha"] == query.get("head_sha")
        ]
        size = min(int(query.get("per_page", 30)), place.page_size)
        number = int(query.get("page", 1))
        answer = {
            "total_count": len(found),
            "workflow_runs": [
                runs.run_json(place.base, place.repository, run)
                for run in found[(number - 1) * size : number * size]
            ],
        }
        place.violations += place.answer_problems(answer)
        text = json.dumps(answer).encode()
        headers = {
            "ETag": f'W/"{hashlib.sha256(text).hexdigest()}"',
            "X-RateLimit-Limit": "60",
            "X-RateLimit-Remaining": "59",
        }
        if number * size < len(found):
            following = urllib.parse.urlencode({**query, "page": number + 1})
            url = f"{place.base}{path}?{following}"
            headers["Link"] = f'<{url}>; rel="next", <{url}>; rel="last"'
        if self.headers.get("if-none-match") == headers["ETag"]:
            return self.reply(304, b"", headers)
        return self.reply(200, text, headers)

    def bucket(self, path, query, kind):
        if self.headers.get("authorization"):
            self.violation("the bucket is read with credentials")
        if path == "/":
            return self.listed(query, kind)
        key = listing.key_of(path)
        with self.place.lock:
            found = self.place.objects.get(key)
            if kind == "expire":
                self.place.objects.pop(key, None)
            if kind == "replace":
                self.place.objects[key] = (*found[:2], '"' + "0" * 32 + '"')
        if found is None:
            return self.reply(
                404, listing.error("NoSuchKey", "The specified key does not exist.", path).encode()
            )
        return self.object(*found, kind)

    def listed(self, query, kind):
        problems = listing.request_problems(query)
        self.place.violations += problems
        if problems:
            return self.reply(
                400, listing.error("InvalidArgument", "Invalid Argument", "/").encode()
            )
        objects = {key: (size, etag) for key, (_, size, etag) in self.place.objects.items()}
        text = listing.page(
            BUCKET,
            objects,
            query.get("prefix", ""),
            query.get("continuation-token"),
            self.place.page_size,
        )
        self.place.violations += listing.answer_problems(text, query)
        if kind == "not_xml":
            text = "<html><body>Sign in to the network</body></html>"
        if kind == "half_xml":
            text = text[: len(text) // 2]
        return self.reply(
            200, text.encode(), {"Content-Type": "application/xml"}, cut=kind == "cut_within"
        )

    def object(self, content, size, etag, kind):
        headers = {"ETag": etag, "Accept-Ranges": "bytes", "Content-Type": "application/zip"}
        if self.headers.get("if-match") not in (None, etag):
            return self.reply(412, listing.error("PreconditionFailed", "no", self.path).encode())
        if self.command == "HEAD":
            return self.reply(200, b"", headers, length=size)
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("range", ""))
        if not match:
            self.violation(f"GET {self.path} without a range: {size} bytes")
        first, last = (int(match[1]), min(int(match[2]), size - 1)) if match else (0, size - 1)
        if first >= size:
            return self.reply(
                416, listing.error("InvalidRange", "not satisfiable", self.path).encode()
            )
        if kind == "other_range":
            first, last = first + 1, min(last + 1, size - 1)
        if kind == "ignore_range":
            first, last, status = 0, size - 1, 200
        else:
            status = 206
            headers["Content-Range"] = f"bytes {first}-{last}/{size}"
        return self.send_part(status, headers, content, first, last - first + 1, kind)

    def send_part(self, status, headers, content, first, count, kind):
        self.head(status, headers, count)
        left = count // 2 if kind in ("cut_within", "hold") else count
        for block in content.blocks(first, left):
            try:
                self.wfile.write(block)
            except OSError:
                self.close_connection = True
                return
            with self.place.lock:
                self.place.sent += len(block)
        if kind == "hold":
            self.connection.settimeout(120)
            try:
                self.connection.recv(1)  # returns when the client goes away
            except OSError:
                pass
        if kind in ("cut_within", "hold"):
            self.close_connection = True
            self.connection.shutdown(2)

    def head(self, status, headers, length):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def reply(self, status, body, headers=None, length=None, cut=False):
        self.head(status, headers or {}, len(body) if length is None else length)
        if self.command != "HEAD" and status != 304:
            self.wfile.write(body[: len(body) // 2] if cut else body)
        if cut:
            self.close_connection = True
            self.connection.shutdown(2)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(
            sys.exc_info()[1], ConnectionError
        ):  # clients may go away, that is tested
            super().handle_error(request, client_address)


def start(repository):
    """Serves a new Place in a thread. Returns (the place, its URL, a function that stops it)."""

    class OfPlace(Handler):
        pass

    server = Server(("127.0.0.1", 0), OfPlace)
    OfPlace.place = Place(repository, server.server_port)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def stop():
        server.shutdown()
        server.server_close()

    return OfPlace.place, f"http://127.0.0.1:{server.server_port}", stop
