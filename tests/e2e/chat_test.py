"""A strict chat beside the dry run's issues: each finding is accepted once, whatever it answers and
whoever is killed."""

import hashlib
import hmac
import http.server
import json
import threading

import pytest
from loop_test import ALPHA, BETA, finish, first_night, shas

from world import step

SECRET = "a secret of the chat"


class Chat(http.server.ThreadingHTTPServer):
    """Answers 500 to the first message, takes all others, and keeps what is wrong with any."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Receiver)
        self.refused, self.accepted, self.wrong = [], [], []
        self.path = "/hooks/only-the-service-knows-this"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        chat = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signature = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        if self.path != chat.path:
            chat.wrong.append(f"posted to {self.path}")
        if self.headers["X-Hub-Signature-256"] != signature:
            chat.wrong.append(f"signed {self.headers['X-Hub-Signature-256']}, not {signature}")
        if self.headers["Content-Type"] != "application/json":
            chat.wrong.append(f"of type {self.headers['Content-Type']}")
        said = chat.accepted if chat.refused else chat.refused
        said.append((self.headers["X-Nightjar-Delivery"], json.loads(body)))
        self.send_response(200 if said is chat.accepted else 500)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def chat():
    made = Chat()
    yield made
    made.shutdown()
    assert made.wrong == []


@pytest.mark.first
def test_each_finding_is_told_to_the_chat_once(world, chat, tmp_path):
    (tmp_path / "chat.url").write_text(f"http://127.0.0.1:{chat.server_port}{chat.path}\n")
    (tmp_path / "chat.secret").write_text(SECRET + "\n")
    w = world(chat={"url_file": str(tmp_path / "chat.url"), "format": "slack",
                    "secret_file": str(tmp_path / "chat.secret")},
              service={"public_url": "https://nightjar.example.org"})
    first_night(w, step(ALPHA, 6, latency=1.2), step(BETA, 13, peak_cpu_memory=1.3))
    w.repo.grow(20)
    w.publish_nightly("2026-08-20")

    def only_the_refused_one_waits():
        reports = w.items("reports")
        waiting = [r for r in reports if r["state"] == "pending"]
        return len(reports) == 4 and len(waiting) == 1 and waiting[0]["attempts"] == 1

    w.wait("the 500 to be noted", only_the_refused_one_waits, 120)
    w.kill("nightjard")
    w.start_daemon_again()
    finish(w)
    w.kill("nightjard")
    w.start_daemon_again()
    w.publish_nightly("2026-08-21")
    finish(w, nights=3)

    found = [r for r in w.items("regressions") if r["state"] == "reported"]
    assert len(found) == len(w.issues()) == 2
    told = {key: body["text"] for key, body in chat.accepted}
    assert len(chat.accepted) == len(told) == 2 and len(chat.refused) == 1
    assert chat.refused[0] in chat.accepted
    for one in found:
        [text] = [text for text in told.values()
                  if text.endswith(f"<https://nightjar.example.org/#/regressions/{one['id']}>")]
        assert shas(one["culprit"]["commits"])[0][:7] in text
    log = w.tail("nightjard") + json.dumps(w.items("reports"))
    assert chat.path not in log and SECRET not in log
