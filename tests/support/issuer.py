"""A double of an OpenID Connect issuer: it signs claims by RS256 and shows its public key."""
import base64
import json
import subprocess
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def part(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*arguments, data=None):
    return subprocess.run(["openssl", *arguments], input=data, check=True,
                          capture_output=True).stdout


class Issuer:
    """Answers at its own port until stop()."""

    def __init__(self, folder):
        self.key = folder / "issuer.pem"
        openssl("genrsa", "-out", self.key, "2048")
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                status, body = issuer.answer(self.path, self.headers)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()

    def answer(self, path, headers):
        """(status, JSON) of a GET."""
        if path == "/.well-known/openid-configuration":
            return 200, {"issuer": self.url, "jwks_uri": self.url + "/jwks"}
        if path == "/jwks":
            modulus = openssl("rsa", "-in", self.key, "-noout", "-modulus").split(b"=")[1]
            return 200, {"keys": [{"kty": "RSA", "kid": "1", "e": part(b"\1\0\1"),
                                   "n": part(bytes.fromhex(modulus.decode().strip()))}]}
        return 404, {"message": f"nothing at {path}"}

    def signed(self, **claims):
        text = ".".join(part(json.dumps(one).encode()) for one in (
            {"alg": "RS256", "kid": "1"}, {"iss": self.url, "exp": time.time() + 300} | claims))
        signature = openssl("dgst", "-sha256", "-sign", self.key, data=text.encode())
        return text + "." + part(signature)


class JobIssuer(Issuer):
    """GitHub's: signs for a job that knows its secret."""
    SECRET = "job-secret"

    def answer(self, path, headers):
        target = urllib.parse.urlsplit(path)
        if target.path != "/token":
            return super().answer(path, headers)
        if headers.get("Authorization") != f"Bearer {self.SECRET}":
            return 403, {"message": "forbidden"}
        audience, = urllib.parse.parse_qs(target.query)["audience"]
        return 200, {"value": self.signed(
            aud=audience, sub="repo:octo/pytorch:ref:refs/heads/main", repository="octo/pytorch",
            jti=str(time.time_ns()))}

    def environment(self):
        """What GitHub gives to a job with the permission id-token: write."""
        return {"ACTIONS_ID_TOKEN_REQUEST_URL": self.url + "/token?api-version=2.0",
                "ACTIONS_ID_TOKEN_REQUEST_TOKEN": self.SECRET}
