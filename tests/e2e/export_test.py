"""Verdicts in a strict bucket of S3, as records of PyTorch's benchmark database: each once,
whatever the bucket answers and whoever is killed."""

import gzip
import hashlib
import hmac
import http.server
import json
import re
import threading

import pytest
from loop_test import ALPHA, BETA, finish, first_night, shas

from world import step

KEY, SECRET, SESSION = "the-writer", "a/secret+of the bucket's user", "passing"
METADATA = {"timestamp", "schema_version", "name", "repo", "head_branch", "head_sha", "workflow_id",
            "run_attempt", "job_id"}
AUTHORIZATION = re.compile(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, "
                           r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})")


def sealed(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256)


def signature(request, body, day, region, names):
    """As AWS's documentation of Signature Version 4 computes it."""
    headers = "".join(f"{name}:{' '.join(request.headers[name].split())}\n"
                      for name in names.split(";"))
    digest = hashlib.sha256(body).hexdigest()
    asked = "\n".join([request.command, request.path, "", headers, names, digest])
    scope = f"{day}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", request.headers["X-Amz-Date"], scope,
                      hashlib.sha256(asked.encode()).hexdigest()])
    key = ("AWS4" + SECRET).encode()
    for part in (day, region, "s3", "aws4_request"):
        key = sealed(key, part).digest()
    return sealed(key, text).hexdigest()


class Bucket(http.server.ThreadingHTTPServer):
    """Is too busy for the first object, takes all others, and keeps what is wrong with any."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Writer)
        self.refused, self.objects, self.writes, self.wrong = [], {}, 0, []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Writer(http.server.BaseHTTPRequestHandler):
    def do_PUT(self):
        bucket = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        bucket.wrong += self.faults(body)
        if not bucket.refused:
            bucket.refused.append(self.path)
            return self.answer(503)
        bucket.writes += 1
        bucket.objects[self.path] = [
            json.loads(line) for line in gzip.decompress(body).decode().splitlines()]
        return self.answer(200)

    def faults(self, body):
        found = AUTHORIZATION.fullmatch(self.headers["Authorization"] or "")
        if not found:
            return [f"signed as {self.headers['Authorization']}"]
        key, day, region, names, given = found.groups()
        faults = []
        if not {"host", "x-amz-content-sha256", "x-amz-date",
                "x-amz-security-token"} <= set(names.split(";")):
            faults.append(f"only {names} are signed")
        elif given != signature(self, body, day, region, names):
            faults.append("the signature is not that of the request")
        if (key, region) != (KEY, "eu-west-1") or self.headers["X-Amz-Security-Token"] != SESSION:
            faults.append(f"signed by {key} in {region}")
        if self.headers["X-Amz-Content-Sha256"] != hashlib.sha256(body).hexdigest():
            faults.append("the body has another hash")
        if (self.headers["Content-Type"], self.headers["Content-Encoding"]) != ("application/json",
                                                                               "gzip"):
            faults.append(f"of type {self.headers['Content-Type']}")
        return faults

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def bucket():
    made = Bucket()
    yield made
    made.shutdown()
    assert made.wrong == []


def test_each_verdict_is_an_object_of_the_bucket_that_hud_can_read(world, bucket, tmp_path):
    login = tmp_path / "bucket.login"
    login.write_text(f"{KEY}:{SECRET}:{SESSION}\n")
    login.chmod(0o600)
    w = world(export={"bucket": f"http://127.0.0.1:{bucket.server_port}/benchmarks",
                      "login_file": str(login), "region": "eu-west-1",
                      "repository": "pytorch/pytorch"},
              service={"public_url": "https://nightjar.example.org"})
    first_night(w, step(ALPHA, 6, latency=1.2), step(BETA, 13, peak_cpu_memory=1.3))
    w.repo.grow(20)
    w.publish_nightly("2026-08-20")

    def one_was_refused():
        waiting = [r for r in w.items("reports") if r["state"] == "pending"]
        return len(w.items("reports")) == 4 and len(waiting) == 1 and waiting[0]["attempts"] == 1

    w.wait("the 503 to be noted", one_was_refused, 120)
    w.kill("nightjard")
    w.start_daemon_again()
    finish(w)

    found = [r for r in w.items("regressions") if r["state"] == "reported"]
    assert len(found) == len(bucket.objects) == bucket.writes == 2
    for one in found:
        [(path, records)] = [(path, records) for path, records in bucket.objects.items()
                             if records[0]["job_id"] == one["id"]]
        name = path.removeprefix("/benchmarks/v3/pytorch/pytorch/main/nightjar/")
        assert re.fullmatch(r"[0-9a-f]{32}\.json", name), path
        assert all(METADATA <= set(record) for record in records)
        assert {record["head_sha"] for record in records} == {shas(one["culprit"]["commits"])[-1]}
        told = {(record["benchmark"]["extra_info"]["nightjar_workload"], record["metric"]["name"]):
                record["metric"] for record in records}
        for series in one["series"]:
            metric = told[series["workload"], series["metric"]]
            assert metric["benchmark_values"] == [series["after"]]
            assert metric["target_value"] == series["before"]
            assert float(metric["extra_info"]["ratio"]) == pytest.approx(series["ratio"], rel=1e-4)
            assert metric["extra_info"]["found"] == "culprit"
            assert metric["extra_info"]["url"].endswith(f"/#/regressions/{one['id']}")
    one = found[0]
    [path] = [path for path, records in bucket.objects.items() if records[0]["job_id"] == one["id"]]
    status, _ = w.request("POST", f"/api/v1/regressions/{one['id']}/dismiss",
                          {"reason": "other inputs"})
    assert status == 200
    w.wait("the verdict to be taken back", lambda: bucket.writes == 3, 60)
    assert len(bucket.objects) == 2
    assert {record["metric"]["extra_info"]["verdict"] for record in bucket.objects[path]} == {
        "taken back"}
    log = w.tail("nightjard") + json.dumps(w.items("reports"))
    assert SECRET not in log and f":{SESSION}" not in log
