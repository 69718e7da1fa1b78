"""A runner of a CI job enrols by a token that the job's issuer signed: no secret is stored."""
import base64
import json
import subprocess
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from world import BIN, script

AUDIENCE = "https://nightjar.test"


def part(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """GitHub's issuer: signs for who knows the job's secret, and shows its public key."""

    def __init__(self, folder):
        self.key = folder / "issuer.pem"
        openssl("genrsa", "-out", self.key, "2048")
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                status, body = issuer.answer(self.path, self.headers.get("Authorization"))
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, path, authorization):
        target = urllib.parse.urlsplit(path)
        if target.path == "/.well-known/openid-configuration":
            return 200, {"issuer": self.url, "jwks_uri": self.url + "/jwks"}
        if target.path == "/jwks":
            modulus = openssl("rsa", "-in", self.key, "-noout", "-modulus").split(b"=")[1]
            return 200, {"keys": [{"kty": "RSA", "kid": "1", "e": part(b"\1\0\1"),
                                   "n": part(bytes.fromhex(modulus.decode().strip()))}]}
        if target.path == "/token" and authorization == "Bearer job-secret":
            audience, = urllib.parse.parse_qs(target.query)["audience"]
            return 200, {"value": self.signed(audience)}
        return 403, {"message": "forbidden"}

    def signed(self, audience):
        text = ".".join(part(json.dumps(one).encode()) for one in (
            {"alg": "RS256", "kid": "1"},
            {"iss": self.url, "aud": audience, "sub": "repo:octo/pytorch:ref:refs/heads/main",
             "repository": "octo/pytorch", "exp": time.time() + 300, "jti": str(time.time_ns())}))
        signature = openssl("dgst", "-sha256", "-sign", self.key, data=text.encode())
        return text + "." + part(signature)


def openssl(*arguments, data=None):
    return subprocess.run(["openssl", *arguments], input=data, check=True,
                          capture_output=True).stdout


@pytest.fixture
def issuer(tmp_path):
    one = Issuer(tmp_path)
    yield one
    one.server.shutdown()


def test_a_jobs_runner_enrols_without_a_secret_and_works(world, issuer):
    w = world()
    w.config.write_text(w.config.read_text() + f"""
[[oidc]]
issuer = "{issuer.url}"
audience = "{AUDIENCE}"
claims = {{ repository = "octo/pytorch" }}
""")
    w.publish_nightly("2026-08-19")
    w.start_daemon()
    path = w.folder / "script.json"
    path.write_text(json.dumps(script()))
    w.environment = {"ACTIONS_ID_TOKEN_REQUEST_URL": issuer.url + "/token?api-version=2.0",
                     "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "job-secret"}
    w.start("pod", BIN / "nightjar-runner", "--service", w.url, "--name", "pod", "--cache",
            w.folder / "cache", "--scripted", path, "--oidc", "github", "--audience", AUDIENCE)
    w.wait("the night", lambda: w.night_done(1))
    token, = w.items("tokens")
    assert token["runner"] == "pod" and token["ends_at"]
    assert w.items("enrolments")[0]["actor"].startswith(f"oidc:{issuer.url} repo:octo/pytorch")
    said = (w.folder / "pod.log").read_text() + (w.folder / "nightjard.log").read_text()
    assert "job-secret" not in said and "eyJ" not in said
