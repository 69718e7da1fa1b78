"""A strict double of GitHub's REST API for issues: stateful, on loopback, and checking each request
and its own every answer against GitHub's description. What is wrong is kept as a violation, and a
test that finds any fails.

    server.py --description FILE --token TOKEN --repository OWNER/NAME

prints {"port": n} once it listens, and ends when its standard input is closed. For tests only:
    GET  /_double/state      {"issues", "violations", "requests"}
    POST /_double/reset      forgets everything; {"drops_labels": true, "search_lags": true,
                               "renamed_from": "owner/before"}
    POST /_double/issues     {"items": [{"title", "body", "labels", "state", "pull_request",
                             "comments"}]}
    POST /_double/faults     {"items": [{"on": regex over "METHOD /path", "kind", "retry_after",
                             "times"}]}
Kinds of fault: 403_retry_after, 403_limit, 429, 401, 404, 410, 422, 502, 502_after, 503, not_json,
cut_before, cut_after, cut_within (the answer breaks off), hang_after (acts and never answers).
"""

import argparse
import http.server
import json
import re
import threading
import time
import urllib.parse

from description import Description
from serving import serve_until_closed
from state import Refusal, Repository

ACTS_FIRST = {"502_after", "cut_after", "cut_within", "hang_after", "not_json"}
LIMITED = ("You have exceeded a secondary rate limit. "
           "Please wait a few minutes before you try again.")


class Double:
    def __init__(self, options, port):
        self.options = options
        self.base = f"http://127.0.0.1:{port}"
        self.description = options.description
        self.lock = threading.Lock()
        self.reset({})

    def reset(self, settings):
        self.repository = Repository(self.base, self.options.repository)
        self.repository.drops_labels = settings.get("drops_labels", False)
        self.repository.search_lags = settings.get("search_lags", False)
        self.renamed_from = settings.get("renamed_from", "")
        self.violations, self.requests, self.faults = [], [], []

    def fault_for(self, line):
        for fault in self.faults:
            if fault.get("times", 1) > 0 and re.search(fault["on"], line):
                fault["times"] = fault.get("times", 1) - 1
                return fault
        return None

    def check_headers(self, headers):
        wanted = {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}
        for name, value in wanted.items():
            if headers.get(name) != value:
                self.violations.append(f"header {name} is {headers.get(name)!r}, not {value!r}")
        if not headers.get("user-agent"):
            raise Refusal(403, "Request forbidden by administrative rules: no User-Agent")
        if headers.get("authorization") != f"Bearer {self.options.token}":
            raise Refusal(401, "Bad credentials")

    def page(self, path, query, items):
        """One page of `items` and the Link header that leads on."""
        size, number = int(query.get("per_page", 30)), int(query.get("page", 1))
        last = max(1, -(-len(items) // size))
        links = []
        for name, target in (("prev", number - 1), ("next", number + 1), ("last", last), ("first",
                                                                                          1)):
            forward = name in ("next", "last")
            if (forward and number >= last) or (not forward and number <= 1):
                continue
            text = urllib.parse.urlencode({**query, "page": target})
            links.append(f'<{self.base}{path}?{text}>; rel="{name}"')
        return items[(number - 1) * size:number * size], ", ".join(links)

    def act(self, operation, arguments, path, query, body):
        """Status, body and Link header of a request that is in order."""
        repository = self.repository
        if "owner" in arguments and f"{arguments['owner']}/{arguments['repo']}" != repository.name:
            raise Refusal(404, "Not Found")
        number = int(arguments.get("issue_number", 0))
        if operation == "issues/create":
            issue = repository.add(body["title"], body.get("body"), body.get("labels", []))
            return 201, repository.issue_json(issue), ""
        if operation == "issues/get":
            return 200, repository.issue_json(repository.require(number)), ""
        if operation == "issues/update":
            return 200, repository.issue_json(repository.update(number, body)), ""
        if operation == "issues/create-comment":
            comment = repository.comment(number, body["body"])
            return 201, repository.comment_json(repository.require(number), comment), ""
        if operation == "issues/list-comments":
            issue = repository.require(number)
            items, link = self.page(path, query, issue["comments"])
            return 200, [repository.comment_json(issue, item) for item in items], link
        if operation == "issues/update-comment":
            issue, comment = repository.edit_comment(int(arguments["comment_id"]), body["body"])
            return 200, repository.comment_json(issue, comment), ""
        if operation == "issues/list-for-repo":
            items, link = self.page(path, query, repository.listed(query))
            return 200, [repository.issue_json(item) for item in items], link
        found = repository.searched(query["q"])
        items, link = self.page(path, query, found)
        items = [{**repository.issue_json(item), "score": 1.0} for item in items]
        return 200, {"total_count": len(found), "incomplete_results": False, "items": items,
                     "search_type": "lexical"}, link


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are kept, as GitHub keeps them
    wbufsize = 1 << 16  # one packet an answer: no pause for a delayed acknowledgement
    double = None

    def log_message(self, *_):
        pass

    def handle_any(self):
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        url = urllib.parse.urlsplit(self.path)
        if url.path.startswith("/_double/"):
            return self.control(url.path.removeprefix("/_double/"), body)
        query = urllib.parse.parse_qsl(url.query, keep_blank_values=True)
        with self.double.lock:
            line = f"{self.command} {url.path}"
            fault = self.double.fault_for(line)
            self.double.requests.append({"request": line, "query": dict(query),
                                         "fault": fault and fault["kind"]})
            kind = fault["kind"] if fault else ""
            if fault and kind not in ACTS_FIRST:
                return self.fail(kind, fault.get("retry_after", 1))
            before = self.double.renamed_from
            if before and url.path.startswith(f"/repos/{before}/"):
                return self.redirect(before)
            status, answer, link = self.answer(url.path, query, body)
        if kind in ("cut_after", "hang_after", "502_after"):
            return self.fail(kind, 1)
        text = b"<html>not JSON</html>" if kind == "not_json" else json.dumps(answer).encode()
        self.reply(status, text, {"Link": link} if link else {}, cut=kind == "cut_within")

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_any

    def answer(self, path, query, body):
        operation, arguments = self.double.description.find(self.command, path)
        if operation is None:
            self.double.violations.append(f"{self.command} {path} is nothing that the double knows")
            return 404, Refusal(404, "Not Found").body, ""
        problems = operation.request_problems(arguments, query, body)
        self.double.violations += problems
        try:
            self.double.check_headers({k.lower(): v for k, v in self.headers.items()})
            if problems:
                raise Refusal(422, "Validation Failed",
                              [{"code": "invalid", "message": problems[0]}])
            value = json.loads(body) if body else {}
            status, answer, link = self.double.act(operation.name, arguments, path, dict(query),
                                                   value)
        except Refusal as refusal:
            status, answer, link = refusal.status, refusal.body, ""
        self.double.violations += operation.answer_problems(status, answer)
        return status, answer, link

    def redirect(self, before):
        """As GitHub answers for a renamed repository: a POST stays one."""
        there = self.path.replace(before, self.double.repository.name, 1)
        status = 301 if self.command == "GET" else 307
        self.reply(status, json.dumps({"message": "Moved Permanently"}).encode(),
                   {"Location": self.double.base + there})

    def fail(self, kind, retry_after):
        if kind.startswith("cut"):
            self.close_connection = True
            self.connection.shutdown(2)
            return
        if kind == "hang_after":
            time.sleep(30)
            self.close_connection = True
            return
        status = int(kind[:3])
        headers = {}
        message = {
            401: "Bad credentials", 404: "Not Found", 410: "Issues are disabled for this repo",
            422: "Validation Failed"}.get(status, LIMITED)
        if kind == "403_retry_after":
            headers["Retry-After"] = str(retry_after)
        if kind == "403_limit":
            headers = {"X-RateLimit-Remaining": "0",
                       "X-RateLimit-Reset": str(int(time.time()) + retry_after)}
            message = "API rate limit exceeded"
        body = b"<html>502</html>" if status >= 500 else json.dumps(Refusal(status,
                                                                            message).body).encode()
        self.reply(status, body, headers)

    def control(self, what, body):
        value = json.loads(body) if body else {}
        double = self.double
        with double.lock:
            if what == "reset":
                double.reset(value)
            elif what == "faults":
                double.faults += value["items"]
            elif what == "issues":
                for item in value["items"]:
                    comments = item.pop("comments", [])
                    issue = double.repository.add(**{"labels": [], "body": "", **item})
                    for text in comments:
                        double.repository.comment(issue["number"], text)
            text = json.dumps({"issues": list(double.repository.issues.values()),
                               "violations": double.violations, "requests": double.requests})
        self.reply(200, text.encode(), {})

    def reply(self, status, body, headers, cut=False):
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[:len(body) // 2] if cut else body)
        self.wfile.flush()
        if cut:
            self.close_connection = True
            self.connection.shutdown(2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--description", required=True, type=Description)
    parser.add_argument("--token", required=True)
    parser.add_argument("--repository", required=True)
    options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Handler.double = Double(options, server.server_port)
    serve_until_closed(server)


if __name__ == "__main__":
    main()
