"""Doubles of OpenID Connect issuers: they sign claims by RS256 and show their public key. One signs
for jobs as GitHub does, one for people who sign in."""
import base64
import hashlib
import json
import secrets
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
                target = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(target.query, keep_blank_values=True))
                self.say(*issuer.get(target.path, query, self.headers))

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                form = dict(urllib.parse.parse_qsl(body, strict_parsing=True))
                self.say(*issuer.post(self.path, form, self.headers))

            def say(self, status, body, headers=()):
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.end_headers()
                try:
                    self.wfile.write(json.dumps(body).encode())
                except BrokenPipeError:
                    pass  # whoever asked did not wait for it

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()

    def document(self):
        return {"issuer": self.url, "jwks_uri": self.url + "/jwks"}

    def get(self, path, query, headers):
        """(status, JSON[, headers]) of a GET."""
        if path == "/.well-known/openid-configuration":
            return 200, self.document()
        if path == "/jwks":
            modulus = openssl("rsa", "-in", self.key, "-noout", "-modulus").split(b"=")[1]
            return 200, {"keys": [{"kty": "RSA", "kid": "1", "e": part(b"\1\0\1"),
                                   "n": part(bytes.fromhex(modulus.decode().strip()))}]}
        return 404, {"error": f"nothing at {path}"}

    def post(self, path, form, headers):
        return 404, {"error": f"nothing at {path}"}

    def signed(self, **claims):
        text = ".".join(part(json.dumps(one).encode()) for one in (
            {"alg": "RS256", "kid": "1"}, {"iss": self.url, "exp": time.time() + 300} | claims))
        signature = openssl("dgst", "-sha256", "-sign", self.key, data=text.encode())
        return text + "." + part(signature)


class JobIssuer(Issuer):
    """GitHub's: signs for a job that knows its secret."""
    SECRET = "job-secret"

    def get(self, path, query, headers):
        if path != "/token":
            return super().get(path, query, headers)
        if headers.get("Authorization") != f"Bearer {self.SECRET}":
            return 403, {"message": "forbidden"}
        return 200, {"value": self.signed(
            aud=query["audience"], sub="repo:octo/pytorch:ref:refs/heads/main",
            repository="octo/pytorch", jti=str(time.time_ns()))}

    def trusted(self, audience):
        """What a service's configuration says that takes the jobs of one repository."""
        return f"""
[[oidc]]
issuer = "{self.url}"
audience = "{audience}"
claims = {{ repository = "octo/pytorch" }}
"""

    def environment(self):
        """What GitHub gives to a job with the permission id-token: write."""
        return {"ACTIONS_ID_TOKEN_REQUEST_URL": self.url + "/token?api-version=2.0",
                "ACTIONS_ID_TOKEN_REQUEST_TOKEN": self.SECRET}


class Provider(Issuer):
    """Where people sign in. Its user has a session already, so it sends the browser back at once.
    Strict: whatever RFC 6749, 7636 and OpenID Connect Core ask of a client is asked here."""
    CLIENT, SECRET = "nightjar", "client-secret: with+signs"

    def __init__(self, folder, redirect_uri):
        super().__init__(folder)
        self.redirect_uri = redirect_uri
        self.codes = {}  # to what each was asked for with; None once it was redeemed
        self.claims = {}  # in place of the usual ones
        self.stalls = None  # an event for which the token endpoint waits
        self.complaints = []

    def document(self):
        return super().document() | {"authorization_endpoint": self.url + "/authorize?prompt=none",
                                     "token_endpoint": self.url + "/token"}

    def get(self, path, query, headers):
        if path != "/authorize":
            return super().get(path, query, headers)
        asked = {"prompt": "none", "response_type": "code", "client_id": self.CLIENT,
                 "redirect_uri": self.redirect_uri, "code_challenge_method": "S256"}
        wrong = {name for name, value in asked.items() if query.get(name) != value}
        wrong |= {name for name in ("state", "nonce") if len(query.get(name, "")) < 32}
        if len(query.get("code_challenge", "")) != 43:
            wrong.add("code_challenge")
        if "openid" not in query.get("scope", "").split():
            wrong.add("scope")
        if wrong:
            self.complaints.append(f"authorize: {sorted(wrong)}")
            return 400, {"error": "invalid_request"}
        code = secrets.token_urlsafe()
        self.codes[code] = query
        back = urllib.parse.urlencode({"code": code, "state": query["state"], "iss": self.url})
        return 302, {}, [("Location", f"{self.redirect_uri}?{back}")]

    def post(self, path, form, headers):
        if path != "/token":
            return super().post(path, form, headers)
        if self.stalls:
            self.stalls.wait(60)
        login = ":".join(map(urllib.parse.quote_plus, (self.CLIENT, self.SECRET)))
        known = base64.b64decode(headers.get("Authorization", "").removeprefix("Basic ")).decode()
        if urllib.parse.unquote(known) != urllib.parse.unquote_plus(login):
            self.complaints.append("token: not this client")
            return 401, {"error": "invalid_client"}
        asked = self.codes.get(form.get("code"))
        self.codes[form.get("code")] = None
        verifier = part(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if (asked is None or form.get("grant_type") != "authorization_code"
                or form.get("redirect_uri") != asked["redirect_uri"]
                or verifier != asked["code_challenge"]):
            return 400, {"error": "invalid_grant"}
        claims = {"aud": self.CLIENT, "sub": "248289", "nonce": asked["nonce"],
                  "email": "ada@example.org", "email_verified": True,
                  "groups": ["staff", "perf-admins"], "iat": time.time()} | self.claims
        return 200, {"access_token": "unused", "token_type": "Bearer",
                     "id_token": self.signed(**claims)}
