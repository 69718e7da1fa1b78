"""A strict double, on loopback, of what CI's wheels come from: GitHub's list of workflow runs below
/api, each request and answer checked against GitHub's description; and an S3 bucket below /bucket,
whose listings are checked against S3's description. What is wrong is kept as a violation, and a
test that finds any fails.

    server.py --description FILE --repository OWNER/NAME --folder FOLDER [--page-size N]

prints {"port": n} once it listens, and ends when its standard input is closed. For tests only:
    GET  /_double/state      {"violations", "requests", "sent", "faults_left"}; `sent`: bytes of
                             objects
    POST /_double/reset      forgets everything
    POST /_double/runs       {"items": [{"id", "head_sha", "event"?, "status"?,
                             "head_repository"?}]}; one replaces the run of its id
    POST /_double/archives   {"items": [{"key", "members", "flaw"?}]}, see archives.py
    POST /_double/delete     {"keys": [...]}
    POST /_double/faults     {"items": [{"on": regex over "METHOD /path?query", "kind",
                             "retry_after"?, "times"?, "skip"?}]}
Kinds of fault: 403, 403_retry_after, 403_limit, 404, 503, cut_before, cut_within (half of the body,
then the connection breaks off), ignore_range (200 and the whole file), other_range (206, and
another one), expire (the answer is right, and then the object is gone), replace (then it has
another content), not_xml, half_xml (a page that ends early although its length is right), hold
(half of the body, and no more until the client goes away).
"""

import argparse
import hashlib
import http.server
import json
import os
import pathlib
import re
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "github"))

import archives
import listing
import runs
from description import Description

BUCKET = "gha-artifacts"
GITHUB_HEADERS = {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}
BLOCK = 1 << 18


class Double:
    def __init__(self, options, port):
        self.options = options
        self.base = f"http://127.0.0.1:{port}/api"
        self.lock = threading.Lock()
        self.reset()

    def reset(self):
        self.violations, self.requests, self.faults = [], [], []
        self.sent, self.runs, self.objects = 0, {}, {}

    def add_archive(self, item):
        path = self.options.folder / hashlib.sha256(item["key"].encode()).hexdigest()
        archives.write(path, item["members"], item.get("flaw"))
        digest = hashlib.md5(path.read_bytes()).hexdigest()
        self.objects[item["key"]] = (path, path.stat().st_size, f'"{digest}-3"')

    def fault_for(self, line):
        for fault in self.faults:
            if fault.get("times", 1) <= 0 or not re.search(fault["on"], line):
                continue
            if fault.get("skip", 0) > 0:
                fault["skip"] -= 1
            else:
                fault["times"] = fault.get("times", 1) - 1
                return fault
        return {"kind": ""}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    double = None

    def log_message(self, *_):
        pass

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        url = urllib.parse.urlsplit(self.path)
        if url.path.startswith("/_double/"):
            return self.control(
                url.path.removeprefix("/_double/"), json.loads(body) if body else {}
            )
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        with self.double.lock:
            fault = self.double.fault_for(f"{self.command} {self.path}")
            self.double.requests.append(
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
        self.violation(f"{self.command} {self.path} is nothing that the double knows")
        return self.reply(404, b"")

    do_GET = do_HEAD = do_POST = handle_any

    def violation(self, what):
        self.double.violations.append(what)

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
        double = self.double
        operation, arguments = double.options.description.find(self.command, path)
        if operation is None:
            self.violation(f"{self.command} {path} is nothing that the double knows")
            return self.reply(404, b"{}")
        problems = operation.request_problems(arguments, list(query.items()), b"")
        problems += [
            f"header {name} is {self.headers.get(name)!r}"
            for name, value in GITHUB_HEADERS.items()
            if self.headers.get(name) != value
        ]
        double.violations += problems
        if problems or not self.headers.get("user-agent"):
            return self.reply(422, b"{}")
        if f"{arguments['owner']}/{arguments['repo']}" != double.options.repository:
            return self.reply(404, b'{"message": "Not Found"}')
        found = [
            run
            for _, run in sorted(double.runs.items(), reverse=True)
            if run["head_sha"] == query.get("head_sha")
        ]
        size = min(int(query.get("per_page", 30)), double.options.page_size)
        number = int(query.get("page", 1))
        answer = {
            "total_count": len(found),
            "workflow_runs": [
                runs.run_json(double.base, double.options.repository, run)
                for run in found[(number - 1) * size : number * size]
            ],
        }
        double.violations += operation.answer_problems(200, answer)
        text = json.dumps(answer).encode()
        headers = {
            "ETag": f'W/"{hashlib.sha256(text).hexdigest()}"',
            "X-RateLimit-Limit": "60",
            "X-RateLimit-Remaining": "59",
        }
        if number * size < len(found):
            following = urllib.parse.urlencode({**query, "page": number + 1})
            url = f"{double.base}{path}?{following}"
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
        with self.double.lock:
            found = self.double.objects.get(key)
            if kind == "expire":
                self.double.objects.pop(key, None)
            if kind == "replace":
                self.double.objects[key] = (*found[:2], '"' + "0" * 32 + '"')
        if found is None:
            return self.reply(
                404, listing.error("NoSuchKey", "The specified key does not exist.", path).encode()
            )
        return self.object(*found, kind)

    def listed(self, query, kind):
        problems = listing.request_problems(query)
        self.double.violations += problems
        if problems:
            return self.reply(
                400, listing.error("InvalidArgument", "Invalid Argument", "/").encode()
            )
        objects = {key: (size, etag) for key, (_, size, etag) in self.double.objects.items()}
        text = listing.page(
            BUCKET,
            objects,
            query.get("prefix", ""),
            query.get("continuation-token"),
            self.double.options.page_size,
        )
        self.double.violations += listing.answer_problems(text, query)
        if kind == "not_xml":
            text = "<html><body>Sign in to the network</body></html>"
        if kind == "half_xml":
            text = text[: len(text) // 2]
        return self.reply(
            200, text.encode(), {"Content-Type": "application/xml"}, cut=kind == "cut_within"
        )

    def object(self, path, size, etag, kind):
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
        return self.send_part(status, headers, path, first, last - first + 1, kind)

    def send_part(self, status, headers, path, first, count, kind):
        self.head(status, headers, count)
        left = count // 2 if kind in ("cut_within", "hold") else count
        with open(path, "rb") as file:
            file.seek(first)
            while left > 0:
                block = file.read(min(BLOCK, left))
                try:
                    self.wfile.write(block)
                except OSError:
                    self.close_connection = True
                    return
                left -= len(block)
                with self.double.lock:
                    self.double.sent += len(block)
        if kind == "hold":
            self.connection.settimeout(120)
            try:
                self.connection.recv(1)  # returns when the client goes away
            except OSError:
                pass
        if kind in ("cut_within", "hold"):
            self.close_connection = True
            self.connection.shutdown(2)

    def control(self, what, value):
        double = self.double
        with double.lock:
            if what == "reset":
                double.reset()
            elif what == "runs":
                double.runs |= {run["id"]: run for run in value["items"]}
            elif what == "archives":
                for item in value["items"]:
                    double.add_archive(item)
            elif what == "delete":
                for key in value["keys"]:
                    double.objects.pop(key, None)
            elif what == "faults":
                double.faults += value["items"]
            text = json.dumps(
                {
                    "violations": double.violations,
                    "requests": double.requests,
                    "sent": double.sent,
                    "faults_left": sum(max(0, f.get("times", 1)) for f in double.faults),
                }
            )
        self.reply(200, text.encode())

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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--description", required=True)
    parser.add_argument("--repository", required=True)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    parser.add_argument("--page-size", type=int, default=100)
    options = parser.parse_args()
    options.description = Description(options.description, ["/repos/{owner}/{repo}/actions/runs"])
    server = Server(("127.0.0.1", 0), Handler)
    Handler.double = Double(options, server.server_port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_port}), flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
