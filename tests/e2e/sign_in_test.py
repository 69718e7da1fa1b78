"""People sign in through an OpenID Connect provider, a strict double, and act on a served history
under their account's name."""
import http.client
import http.cookies
import json
import socket
import threading
import time
import urllib.parse

import pytest

import make
from browser import missing
from issuer import Provider

SESSION = "__Host-nightjar-session"


class Visitor:
    """A browser as far as it matters here: it keeps cookies by host, and follows no redirect by
    itself."""

    def __init__(self, service):
        self.service, self.cookies = service, {}

    def ask(self, method, url, body=None, **headers):
        """(status, header fields, body). A path is one of the service."""
        target = urllib.parse.urlsplit(urllib.parse.urljoin(self.service, url))
        mine = self.cookies.setdefault(target.netloc, {})
        if mine:
            headers["Cookie"] = "theme=dark; " + "; ".join(f"{n}={v}" for n, v in mine.items())
        connection = http.client.HTTPConnection(target.netloc, timeout=60)
        connection.request(method, urllib.parse.urlunsplit(("", "", *target[2:])),
                           body and json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        self.set = [value for name, value in answer.getheaders() if name == "Set-Cookie"]
        for one in self.set:
            for name, morsel in http.cookies.SimpleCookie(one).items():
                if morsel["max-age"] == "0":
                    mine.pop(name, None)
                else:
                    mine[name] = morsel.value
        return answer.status, answer.headers, text

    def to_callback(self):
        """Goes to the provider, and returns the address to which that sends it back."""
        status, headers, text = self.ask("GET", "/sign-in")
        assert status == 303, text
        status, headers, text = self.ask("GET", headers["Location"])
        assert status == 302, text
        return headers["Location"]

    def session(self):
        status, _, text = self.ask("GET", "/api/v1/sign-in")
        assert status == 200
        return json.loads(text)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """(address of a service that lets nobody read without signing in, its provider, its folder)."""
    folder = tmp_path_factory.mktemp("sign-in")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    provider = Provider(folder, url + "/sign-in/callback")
    made = folder / "made"
    make.make(made, nights=8, workloads=4)
    (made / "client.secret").write_text(Provider.SECRET + "\n")
    (made / "client.secret").chmod(0o600)
    config = (made / "nightjar.toml").read_text().replace(
        "port = 0", f'port = {url.rpartition(":")[2]}\npublic_url = "{url}"\nopen_reads = false')
    (made / "nightjar.toml").write_text(config + f"""
[auth.oidc]
issuer = "{provider.url}"
client_id = "{Provider.CLIENT}"
client_secret_file = "client.secret"
admin = ["perf-*"]
read = ["staff"]
""")
    process, _ = make.serve(made)
    deadline = time.monotonic() + 30
    while Visitor(url).ask("GET", "/sign-in")[0] == 503 and time.monotonic() < deadline:
        pass  # until the provider's document is here
    yield url, provider, made
    process.terminate()
    process.wait(30)
    provider.stop()
    assert provider.complaints == []
    said = (made / "nightjard.log").read_text()
    assert "eyJ" not in said and Provider.SECRET not in said


@pytest.fixture
def visitor(site):
    yield Visitor(site[0])
    site[1].claims, site[1].stalls = {}, None


@pytest.mark.first
def test_a_person_signs_in_decides_under_their_name_and_signs_out(site, visitor):
    url, provider, folder = site
    assert visitor.ask("GET", "/api/v1/about")[0] == 401
    assert visitor.session() == {"sign_in": True, "account": None, "role": "none"}
    back = visitor.to_callback()
    status, headers, text = visitor.ask("GET", back)
    assert status == 303 and headers["Location"] == url + "/", text
    for one in visitor.set:
        assert "Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=" in one and "Domain" not in one
    assert visitor.session() == {"sign_in": True, "account": "user:ada@example.org",
                                 "role": "admin"}
    open_ones = json.loads(visitor.ask("GET", "/api/v1/regressions?progress=told")[2])["items"]
    dismiss = f"/api/v1/regressions/{open_ones[0]['id']}/dismiss"
    reason = {"reason": "other inputs"}
    for foreign in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"},
                    {"Origin": url, "Sec-Fetch-Site": "same-site"}):
        assert visitor.ask("POST", dismiss, reason, **foreign)[0] == 403
    own = {"Origin": url, "Sec-Fetch-Site": "same-origin"}
    status, _, text = visitor.ask("POST", dismiss, reason, **own)
    assert status == 200, text
    assert json.loads(text)["changes"][-1]["evidence"]["reason"] == (
        "dismissed by user:ada@example.org: other inputs")
    audit = json.loads(visitor.ask("GET", "/api/v1/audit")[2])["items"]
    assert ("user:ada@example.org", "dismiss-regression") in {
        (one["actor"], one["action"]) for one in audit}
    kept = visitor.cookies[urllib.parse.urlsplit(url).netloc][SESSION]
    assert visitor.ask("DELETE", "/api/v1/sign-in")[0] == 403
    assert visitor.ask("DELETE", "/api/v1/sign-in", **own)[0] == 200
    assert visitor.session()["role"] == "none"
    stolen = Visitor(url)
    assert stolen.ask("GET", "/api/v1/about", Cookie=f"{SESSION}={kept}")[0] == 401


def test_a_code_and_its_answer_are_of_use_once(site, visitor):
    back = visitor.to_callback()
    begun = dict(visitor.cookies[urllib.parse.urlsplit(site[0]).netloc])
    assert visitor.ask("GET", back)[0] == 303
    again = Visitor(site[0])
    again.cookies = {urllib.parse.urlsplit(site[0]).netloc: begun}
    status, _, text = again.ask("GET", back)
    assert status == 403 and "'invalid_grant'" in text, text
    assert again.session()["account"] is None


def test_a_reader_reads_and_decides_nothing(site, visitor):
    site[1].claims = {"groups": "staff"}
    assert visitor.ask("GET", visitor.to_callback())[0] == 303
    assert visitor.ask("GET", "/api/v1/about")[0] == 200
    assert visitor.ask("POST", "/api/v1/nights", {"reason": "x"}, Origin=site[0])[0] == 403


@pytest.mark.parametrize("claims, says", [
    ({"nonce": "of another sign-in"}, "belongs to another sign-in"),
    ({"aud": "another-client"}, "for another audience than nightjar"),
    ({"aud": ["nightjar", "b"], "azp": "b"}, "was made for 'b'"),
    ({"iss": "https://evil.example"}, "of another issuer"),
    ({"exp": 1000}, "ended at"),
    ({"groups": ["guests"]}, "no value of the claim 'groups'"),
    ({"groups": None}, "no value of the claim 'groups'"),
    ({"email_verified": False}, "has not verified the address"),
])
def test_a_token_that_does_not_fit_signs_nobody_in(site, visitor, claims, says):
    site[1].claims = claims
    status, _, text = visitor.ask("GET", visitor.to_callback())
    assert status == 403 and says in text, text
    assert visitor.session()["account"] is None


def test_an_answer_to_another_sign_in_is_refused(site, visitor):
    back = visitor.to_callback()
    assert Visitor(site[0]).ask("GET", back)[0] == 400  # another browser: no cookie
    other = Visitor(site[0])
    other.to_callback()
    assert other.ask("GET", back)[0] == 400  # another sign-in's cookie
    assert visitor.ask("GET", back.replace("iss=http", "iss=https"))[0] == 400
    visitor.to_callback()
    denied = "/sign-in/callback?error=access_denied&state="
    assert visitor.ask("GET", denied + "0" * 64)[0] == 400


def test_sign_in_leads_to_no_other_place(site, visitor):
    for where in ("?next=http://evil.example", "?redirect_uri=//evil.example"):
        assert visitor.ask("GET", "/sign-in" + where)[0] == 400
    back = visitor.to_callback() + "&next=//evil.example"
    assert visitor.ask("GET", back)[1]["Location"] == site[0] + "/"


def test_a_provider_that_stalls_keeps_nobody_else_waiting(site, visitor):
    back = visitor.to_callback()
    site[1].stalls = threading.Event()
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(visitor.ask("GET", back)))
    waiting.start()
    other = Visitor(site[0])
    begun = time.monotonic()
    assert other.session()["sign_in"] and other.ask("GET", "/readyz")[0] == 200
    assert time.monotonic() - begun < 5 and not answers
    waiting.join(60)
    site[1].stalls.set()
    (status, _, text), = answers
    assert status == 502 and "try again" in text, text


@pytest.mark.browser
@pytest.mark.skipif(bool(missing()), reason=missing())
def test_the_page_leads_to_the_provider_and_back_to_its_place(site, visitor, browser):
    url, _, _ = site
    visitor.ask("GET", visitor.to_callback())
    chosen = json.loads(visitor.ask("GET", "/api/v1/regressions?progress=told")[2])["items"][-1]
    place = f"#/regressions/{chosen['id']}"
    browser.open(f"{url}/{place}")
    browser.wait(lambda: browser.run(
        "return document.querySelector('#sign-in-account')?.click()"
        " ?? document.querySelector('form.triage')"), what="the account")
    assert browser.run("return location.hash") == place
    assert browser.run("return document.querySelector('#sign-in').textContent") == (
        "Sign out (admin)")
    assert not browser.run("return document.querySelector('#admin-token')")
    browser.run("document.querySelector('#reason').value = 'seen';"
                "document.querySelector('form.triage').requestSubmit()")
    browser.wait(lambda: browser.run(
        "return document.querySelector('#decided').textContent.startsWith('Done')"), what="it")
    browser.run("document.querySelector('#sign-in').click()")
    browser.wait(lambda: browser.run("return document.querySelector('#sign-in-account')"),
                 what="the page of who is signed out")
