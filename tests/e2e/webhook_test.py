"""Deliveries as GitHub sends them: the example payloads of npm's @octokit/webhooks-examples, all
event kinds, against the real daemon."""

import copy
import hashlib
import hmac
import itertools
import json
import pathlib
import socket

import pytest

EXAMPLES = pathlib.Path(
    __file__).resolve().parents[2] / ".cache/testdata/webhooks-examples/api.github.com/index.json"
SECRET = b"a webhook secret"
DELIVERY = (f"delivery-{number}" for number in itertools.count())


def signed(body, secret=SECRET):
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


def deliver(world, event, body, delivery=None, **headers):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {
        "X-GitHub-Event": event, "X-GitHub-Delivery": delivery or next(DELIVERY),
        "Content-Type": "application/json", "X-Hub-Signature-256": signed(body), **headers}
    fields = {name: value for name, value in fields.items() if value is not None}
    return world.request("POST", "/webhooks/github", body, token=None, headers=fields)[0]


def example(event, **wanted):
    kinds = {kind["name"]: kind["examples"] for kind in json.loads(EXAMPLES.read_text())}
    return copy.deepcopy(
        next(one for one in kinds[event] if all(one.get(k) == v for k, v in wanted.items())))


@pytest.fixture
def daemon(world):
    made = world()
    made.repo.grow(1)
    made.start_daemon()
    return made


@pytest.mark.first
def test_every_kind_of_event_is_accepted_and_none_of_another_repository_acts(daemon):
    kinds = json.loads(EXAMPLES.read_text())
    assert len(kinds) > 50
    for kind in kinds:
        for payload in kind["examples"]:
            status = deliver(daemon, kind["name"], payload)
            assert 200 <= status < 300, (kind["name"], payload.get("action"), status)
    assert daemon.items("nights") == []


def test_push_to_nightly_and_completed_workflow_run_act_and_their_likes_do_not(daemon):
    push = example("push")
    push["repository"]["full_name"] = "pytorch/pytorch"
    assert deliver(daemon, "push", push) == 202  # a tag
    for ref in ("refs/heads/main", "refs/tags/nightly", "refs/heads/nightly-2"):
        assert deliver(daemon, "push", push | {"ref": ref}) == 202
    assert daemon.items("nights") == []
    assert deliver(daemon, "push", push | {"ref": "refs/heads/nightly"}) == 202
    assert len(daemon.items("nights")) == 1
    run = example("workflow_run", action="completed")
    run["repository"]["full_name"] = "pytorch/pytorch"
    run["workflow_run"]["head_branch"] = "nightly"
    for action in ("requested", "in_progress"):
        assert deliver(daemon, "workflow_run", run | {"action": action}) == 202
    assert len(daemon.items("nights")) == 1
    assert deliver(daemon, "workflow_run", run) == 202
    assert {night["trigger"] for night in daemon.items("nights")} == {"webhook"}


def test_a_delivery_without_the_right_signature_or_twice_starts_nothing(daemon):
    push = example("push") | {"ref": "refs/heads/nightly"}
    push["repository"]["full_name"] = "pytorch/pytorch"
    body = json.dumps(push).encode()
    for signature in (None, "", "sha256=", signed(body,
                                                  b"guess"), signed(body + b" "), signed(body)[:-1],
                      signed(body)[7:]):
        assert deliver(daemon, "push", body, **{"X-Hub-Signature-256": signature}) == 401, signature
    assert daemon.items("nights") == []
    for _ in range(3):
        assert 200 <= deliver(daemon, "push", body, delivery="the same") < 300
    assert len(daemon.items("nights")) == 1


def test_a_body_of_25_megabytes_is_413(daemon):
    host, port = "127.0.0.1", int(daemon.port_file.read_text())
    with socket.create_connection((host, port), timeout=30) as connection:
        connection.sendall(b"POST /webhooks/github HTTP/1.1\r\nHost: x\r\nX-GitHub-Event: push\r\n"
                           b"Content-Length: 26214401\r\n\r\n")
        assert connection.recv(64).startswith(b"HTTP/1.1 413")
    assert daemon.get("/healthz", raw=True)
