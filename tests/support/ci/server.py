"""A strict double of what CI's wheels come from: deploy/demo.d/loopback/place.py with each request
and answer of the API checked against GitHub's description, and with faults on demand. What is wrong
is kept as a violation, and a test that finds any fails.

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
import json
import pathlib
import re
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "github"), str(HERE.parents[2] / "deploy" / "demo.d")]

import archives
from description import Description
from loopback import place
from serving import serve_until_closed
from spliced import whole_file


class Double(place.Place):
    def __init__(self, options, port):
        self.options = options
        super().__init__(options.repository, port, options.page_size)

    def reset(self):
        super().reset()
        self.faults = []

    def add_archive(self, item):
        path = self.options.folder / hashlib.sha256(item["key"].encode()).hexdigest()
        archives.write(path, item["members"], item.get("flaw"))
        digest = hashlib.md5(path.read_bytes()).hexdigest()
        self.add_object(item["key"], whole_file(path), f"{digest}-3")

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

    def find_runs(self, method, path, query):
        operation, arguments = self.options.description.find(method, path)
        if operation is None:
            return None, []
        self.operation = operation
        return arguments, operation.request_problems(arguments, list(query.items()), b"")

    def answer_problems(self, answer):
        return self.operation.answer_problems(200, answer)

    def state(self):
        return {
            "violations": self.violations,
            "requests": self.requests,
            "sent": self.sent,
            "faults_left": sum(max(0, f.get("times", 1)) for f in self.faults),
        }


class Handler(place.Handler):
    def handle_any(self):
        path = urllib.parse.urlsplit(self.path).path
        if not path.startswith("/_double/"):
            return super().handle_any()
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        return self.control(path.removeprefix("/_double/"), json.loads(body) if body else {})

    do_GET = do_HEAD = do_POST = handle_any

    def control(self, what, value):
        double = self.place
        with double.lock:
            if what == "reset":
                double.reset()
            elif what == "runs":
                for run in value["items"]:
                    double.add_run(run)
            elif what == "archives":
                for item in value["items"]:
                    double.add_archive(item)
            elif what == "delete":
                for key in value["keys"]:
                    double.objects.pop(key, None)
            elif what == "faults":
                double.faults += value["items"]
            text = json.dumps(double.state())
        self.reply(200, text.encode())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--description", required=True)
    parser.add_argument("--repository", required=True)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    parser.add_argument("--page-size", type=int, default=100)
    options = parser.parse_args()
    options.description = Description(options.description, ["/repos/{owner}/{repo}/actions/runs"])
    server = place.Server(("127.0.0.1", 0), Handler)
    Handler.place = Double(options, server.server_port)
    serve_until_closed(server)


if __name__ == "__main__":
    main()
