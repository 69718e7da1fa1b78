"""A real nginx in front of the service, configured by deploy/nginx/nightjar.conf: TLS for
everybody, and a certificate for agents. The certificates are made as docs/operating.md has them."""
import json
import re
import shutil
import signal
import socket
import ssl
import subprocess
import urllib.error
import urllib.request

import pytest

from world import BIN, ROOT, script

from certificates import authority, certificate, sign

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
pytestmark = pytest.mark.skipif(not NGINX, reason="there is no nginx")


class Proxy:
    def __init__(self, world):
        self.folder = world.folder / "proxy"
        self.folder.mkdir()
        for name in ("runners-ca", "web-ca", "others-ca"):
            authority(self.folder, name)
        certificate(self.folder, "server", "web-ca", "subjectAltName=IP:127.0.0.1")
        certificate(self.folder, "lab", "runners-ca")
        certificate(self.folder, "stranger", "others-ca")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"https://127.0.0.1:{self.port}"
        site = (ROOT / "deploy/nginx/nightjar.conf").read_text()
        for pattern, here in ((r"listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl"),
                              (r"/etc/nightjar/tls", str(self.folder)),
                              (r"http://127\.0\.0\.1:8187", world.url)):
            site, count = re.subn(pattern, here, site)
            assert count, pattern
        folders = "".join(f"{kind}_temp_path {self.folder}/{kind};\n" for kind in (
            "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (self.folder / "nginx.conf").write_text(
            f"pid {self.folder}/pid;\nerror_log stderr;\nevents {{}}\n"
            f"http {{\naccess_log {self.folder}/access.log;\n{folders}{site}}}\n")
        world.start("nginx", NGINX, "-p", self.folder, "-c", self.folder / "nginx.conf", "-g",
                    "daemon off;")
        self.context = ssl.create_default_context(cafile=self.folder / "web-ca.pem")
        self._process = world.processes["nginx"]

    def reload(self):
        """Ends open connections, and reads the certificates again for new ones."""
        self._process.send_signal(signal.SIGHUP)

    def status(self, path, headers=None, data=None):
        return self.ask(path, headers, data)[0]

    def ask(self, path, headers=None, data=None, shown=None):
        """Status and body of the answer. `shown`: the name of a client's certificate."""
        context = self.context
        if shown:
            context = ssl.create_default_context(cafile=self.folder / "web-ca.pem")
            context.load_cert_chain(self.folder / f"{shown}.pem", self.folder / f"{shown}.key")
        request = urllib.request.Request(self.url + path, data, headers or {})
        try:
            with urllib.request.urlopen(request, timeout=30, context=context) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except urllib.error.URLError:
            return None, b""


@pytest.fixture
def served(world):
    world = world(service={"trusted_proxies": ["127.0.0.1"]}, queue={"lease": 300})
    world.publish_nightly("2026-08-19")
    world.start_daemon()
    proxy = Proxy(world)
    world.wait("nginx", lambda: proxy.status("/healthz") == 200)
    return world, proxy


def start_runner(world, proxy, name, *options, run_seconds=0.0):
    path = world.folder / "script.json"
    path.write_text(json.dumps(script(run_seconds=run_seconds)))
    world.start(name, BIN / "nightjar-runner", "--service", proxy.url, "--name", name, "--cache",
                world.folder / name, "--token-file", world.folder / "runner.token", "--scripted",
                path, *options)


@pytest.mark.first
def test_an_agent_works_through_a_proxy_that_asks_for_its_certificate(served):
    world, proxy = served
    known = ["--authorities", proxy.folder / "web-ca.pem"]
    shown = ["--certificate", proxy.folder / "lab.pem", "--key", proxy.folder / "lab.key"]
    start_runner(world, proxy, "lab", *known, *shown)
    world.wait("the night", lambda: world.night_done(1))
    assert [one["name"] for one in world.items("runners")] == ["lab"]
    assert proxy.status("/api/v1/regressions") == 200  # a reader needs no certificate
    assert "/api/v1/agent/claim" in (proxy.folder / "access.log").read_text()


@pytest.mark.parametrize("shown, cause", [(None, "403"), ("stranger", "400")])
def test_a_token_without_its_machines_certificate_lets_nobody_in(served, shown, cause):
    world, proxy = served
    options = ["--authorities", proxy.folder / "web-ca.pem"]
    if shown:
        options += ["--certificate", proxy.folder / f"{shown}.pem", "--key",
                    proxy.folder / f"{shown}.key"]
    start_runner(world, proxy, "thief", *options)
    assert world.processes.pop("thief").wait(30) == 3
    assert "nightjar-runner: cannot register" in world.tail("thief")
    assert cause in world.tail("thief")
    assert world.items("runners") == []


def test_a_copied_token_imports_nothing_and_fetches_no_wheel(served):
    world, proxy = served
    world.wait("the build to be there", lambda: world.items("builds"))
    copied = {"Authorization": "Bearer " + world.tokens["runner"]}
    wheel = "/api/v1/artifacts/" + world.items("builds")[0]["sha256"]
    assert proxy.ask(wheel, copied)[0] == 403
    assert proxy.ask(wheel, copied, shown="lab")[0] == 200
    history = json.dumps({"machine_class": "x", "nights": []}).encode()
    copied = {"Authorization": "Bearer " + world.tokens["builder"]}
    status, answer = proxy.ask("/api/v1/imports", copied, history)
    assert status == 403 and "role import" in json.loads(answer)["detail"]


def test_what_the_proxy_takes_is_what_the_service_takes(served):
    world, proxy = served
    limit = re.search(r"result_bytes = (\d+)u << 20;",
                      (ROOT / "service/api/result_reader.hpp").read_text())[1]
    assert f"client_max_body_size {limit}m;" in (ROOT / "deploy/nginx/nightjar.conf").read_text()
    token = {"Authorization": "Bearer " + world.tokens["runner"]}
    path = "/api/v1/agent/jobs/77/result"
    status, answer = proxy.ask(path, token, b" " * (80 << 20), shown="lab")
    assert status == 404 and json.loads(answer)["detail"] == "There is no job 77."


def test_a_result_outlives_a_proxy_that_takes_smaller_ones(served):
    world, proxy = served
    site = proxy.folder / "nginx.conf"
    right = site.read_text()
    # Less than a result has, and more than a registration.
    token = {"Authorization": "Bearer " + world.tokens["runner"]}

    def take(setup, status):
        """Waits until nginx's old workers are gone, which go on for a moment."""
        site.write_text(setup)
        proxy.reload()
        world.wait("the proxy's new limit", lambda: all(proxy.ask(
            "/api/v1/agent/jobs/77/result", token, b" " * 9000, shown="lab")[0] == status
            for _ in range(20)))
    take(right.replace("client_max_body_size 128m", "client_max_body_size 4k"), 413)
    known = ["--authorities", proxy.folder / "web-ca.pem"]
    shown = ["--certificate", proxy.folder / "lab.pem", "--key", proxy.folder / "lab.key"]
    start_runner(world, proxy, "lab", *known, *shown)
    world.wait("the proxy's refusal", lambda: "a proxy refuses its size" in world.tail("lab"))
    kept = list((world.folder / "lab/spool").glob("*.json"))
    assert kept and not list((world.folder / "lab/spool/rejected").iterdir())
    world.kill("lab", signal.SIGTERM)
    take(right, 404)
    start_runner(world, proxy, "lab", *known, *shown)
    world.wait("the night", lambda: world.night_done(1), 150)  # the agent asks once a minute
    assert not list((world.folder / "lab/spool").glob("*.json"))


def test_an_agent_believes_no_server_whose_authority_it_does_not_know(served):
    world, proxy = served
    start_runner(world, proxy, "lab")
    world.wait("a refusal", lambda: "certificate" in world.tail("lab"), 30)
    assert world.items("runners") == []
    assert "Authorization" not in (proxy.folder / "access.log").read_text()
    assert "/api/v1/agent" not in (proxy.folder / "access.log").read_text()


def test_an_expired_certificate_of_the_proxy_holds_a_night_up_and_loses_nothing(served):
    world, proxy = served
    shown = ["--certificate", proxy.folder / "lab.pem", "--key", proxy.folder / "lab.key"]
    start_runner(world, proxy, "lab", "--authorities", proxy.folder / "web-ca.pem", *shown)
    world.wait("the night", lambda: world.night_done(1))
    sign(proxy.folder, "server", "web-ca", days=-1)
    proxy.reload()
    world.wait("the agent's complaint", lambda: "certificate has expired" in world.tail("lab"))
    world.publish_nightly("2026-08-20")
    world.wait("the second night", lambda: len(world.items("nights")) == 2)
    sign(proxy.folder, "server", "web-ca")
    proxy.reload()
    nights = world.wait("the second night's end", lambda: world.night_done(2))
    assert {night["state"] for night in nights} == {"done"}


def test_a_result_outlives_the_certificate_of_its_runner(served):
    world, proxy = served
    shown = ["--certificate", proxy.folder / "lab.pem", "--key", proxy.folder / "lab.key"]
    start_runner(world, proxy, "lab", "--authorities", proxy.folder / "web-ca.pem", *shown,
                 run_seconds=0.5)
    world.wait("a job", lambda: "job begins" in world.tail("lab"))
    sign(proxy.folder, "lab", "runners-ca", days=-1)
    proxy.reload()
    world.wait("the proxy's refusal", lambda: "answered with 400" in world.tail("lab"))
    assert not world.night_done(1)
    sign(proxy.folder, "lab", "runners-ca")
    world.wait("the night", lambda: world.night_done(1))
    assert {job["attempt"] for job in world.items("jobs")} == {1}
    assert "result refused" not in world.tail("lab")


@pytest.mark.parametrize("options, message", [
    (["--key", "runner.token"], "--key belongs to a --certificate, and there is none"),
    (["--certificate", "no.pem"], "--certificate no.pem: there is no file that can be read"),
    (["--service", "http://127.0.0.1:1", "--authorities", "runner.token"],
     "--certificate and --authorities need a service at https://, and not http://127.0.0.1:1"), ])
def test_certificates_that_cannot_be_used_are_wrong_use(tmp_path, options, message):
    (tmp_path / "runner.token").write_text("t")
    service = [] if "--service" in options else ["--service", "https://127.0.0.1:1"]
    program = BIN.resolve() / "nightjar-runner"
    command = [program, "--token-file", "runner.token", *service, *options]
    done = subprocess.run(list(map(str, command)), cwd=tmp_path, capture_output=True, text=True,
                          timeout=30)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"nightjar-runner: {message}"
