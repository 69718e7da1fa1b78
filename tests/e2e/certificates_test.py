"""The drill "certificate expired", for those whom Nightjar asks: the index of wheels, the index of
packages, the repository, GitHub and CI's bucket. Each stands behind real TLS, by an authority that
SSL_CERT_FILE names, as docs/operating.md says. Nothing is lost, and nothing needs a hand but the
renewal."""
import functools
import subprocess
import threading
import types

import pytest

from ci_test import Ci, of_ci
from loop_test import finish
from world import (ROOT, UV, WORKLOADS, Double, QuietHandler, Server, git, make_package, script,
                   step)

from certificates import GOOD, Front, authority, certificate, valid_until

# What the service says of each certificate.
REFUSALS = {
    "expired": "certificate has expired (CN=expired, valid until {expired})",
    "unknown": "unable to get local issuer certificate (CN=unknown, issued by CN=others-ca)",
    "elsewhere": "no alternative certificate subject name matches target host name '127.0.0.1'"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Paths of the certificates in PEM, by their names, and the authority that may be believed."""
    folder = tmp_path_factory.mktemp("certificates")
    for name in ("web-ca", "others-ca"):
        authority(folder, name)
    certificate(folder, "good", "web-ca", GOOD)
    certificate(folder, "expired", "web-ca", GOOD, days=-1)
    certificate(folder, "unknown", "others-ca", GOOD)
    certificate(folder, "elsewhere", "web-ca", "subjectAltName=DNS:index.example.org")
    return types.SimpleNamespace(**{path.stem.replace("-", "_"): path
                                    for path in folder.glob("*.pem")},
                                 expiry=valid_until(folder, "expired"))


@pytest.fixture
def front(files):
    """Makes TLS in front of a server, with the good certificate unless another is named."""
    made = []

    def make(url, certificate_file=files.good):
        made.append(Front(url, certificate_file))
        return made[-1]

    yield make
    for one in made:
        one.stop()


@pytest.fixture
def trusting(world, files, monkeypatch):
    """Makes a world whose programs believe the authority."""
    for name in ("SSL_CERT_DIR", "GIT_SSL_CAINFO"):
        monkeypatch.delenv(name, raising=False)

    def make(**overrides):
        made = world(**overrides)
        made.environment["SSL_CERT_FILE"] = str(files.web_ca)
        return made

    return make


def configure(world, section, **keys):
    world.overrides.setdefault(section, {}).update(keys)
    world.write_config()


def obstacles(world):
    """Reasons by their kind."""
    return {one["kind"]: one["reason"] for one in (world.get("/readyz") or {"obstacles": []})[
        "obstacles"]}


def lines(world, *texts):
    """The lines of the service's log that hold every one of the texts."""
    return [line for line in (world.folder / "nightjard.log").read_text().splitlines()
            if all(text in line for text in texts)]


def documented(world, beginning, host="HOST:443"):
    """What the guide's command that begins so prints, for this service and host."""
    [command] = [line for line in (ROOT / "docs/operating.md").read_text().splitlines()
                 if line.startswith(beginning)]
    command = command.replace("localhost:8187", world.url.removeprefix("http://"))
    return subprocess.run(command.replace("HOST:443", host), shell=True, text=True, check=True,
                          capture_output=True, timeout=60).stdout


def index_behind(world, front):
    configure(world, "source", index=front.url)
    world.index.url = front.url  # of the links to wheels
    world.index.write()


@pytest.mark.parametrize("shown", REFUSALS)
def test_a_night_waits_until_the_indexs_certificate_is_good(trusting, front, files, shown):
    w = trusting(night={"on_new_build": False})
    tls = front(w.index.url, getattr(files, shown))
    index_behind(w, tls)
    w.publish_nightly("2026-08-19")
    w.start_daemon()
    w.start_runner(script())
    asked, _ = w.request("POST", "/api/v1/nights")
    assert asked == 202
    refusal = REFUSALS[shown].format(expired=files.expiry)
    said = w.wait("the obstacle", lambda: obstacles(w).get("source"))
    assert f"cannot list builds: GET {tls.url}/torch/: " in said and refusal in said
    assert len(lines(w, "no night can start", "kind=source", refusal)) == 1
    assert w.get("/healthz", raw=True)
    assert said in documented(w, "curl -s localhost:8187/readyz").splitlines()
    [night] = w.items("nights")
    assert night["state"] == "waiting" and w.items("builds") == []
    assert tls.requests == [] and w.index.server.listings == 0

    tls.restart(files.good)
    [night] = w.wait("the night", lambda: w.night_done(1))
    assert "source" not in obstacles(w)
    assert w.items("regressions") == [] and {one["state"] for one in w.items("jobs")} == {"done"}


def test_a_wheels_certificate_that_expired_is_no_fault_of_the_build(trusting, front, files):
    """The page and the wheels are on two hosts, as PyTorch's are."""
    w = trusting()
    page, wheels = front(w.index.url), front(w.index.url)
    configure(w, "source", index=page.url, internal=[wheels.url])
    w.index.url = wheels.url
    w.publish_nightly("2026-08-19")
    w.start_daemon()
    w.start_runner(script())
    w.wait("the first night", lambda: w.night_done(1))
    wheels.restart(files.expired)
    wheels.requests.clear()
    w.repo.grow(5)
    version = w.publish_nightly("2026-08-20")
    said = w.wait("the obstacle", lambda: obstacles(w).get("build"))
    assert f"{version} is not proved: cannot download {wheels.url}/" in said
    assert REFUSALS["expired"].format(expired=files.expiry) in said
    assert wheels.requests == []
    build = next(one for one in w.items("builds") if one["version"] == version)
    assert build["state"] == "found"

    wheels.restart(files.good)
    w.wait("the second night", lambda: w.night_done(2))
    assert "build" not in obstacles(w) and w.items("regressions") == []


@pytest.mark.first
def test_an_issue_waits_for_a_good_certificate_and_is_filed_once(trusting, front, files):
    github = Double("github", "--token", "token", "--repository", "owner/name")
    try:
        tls = front(github.url, files.expired)
        w = trusting(report={"tracker": "github", "api": tls.url, "repository": "owner/name"})
        w.write_secret("github.token", "token")
        configure(w, "report", token_file=str(w.folder / "github.token"))
        w.publish_nightly("2026-08-19")
        w.start_daemon()
        w.start_runner(script(step(WORKLOADS[0], 6, latency=1.2)))
        w.wait("the first night", lambda: w.night_done(1))
        w.repo.grow(20)
        w.publish_nightly("2026-08-20")
        [report] = w.wait("an attempt", lambda: [
            one for one in w.items("reports") if one["error"]], 120)
        refusal = REFUSALS["expired"].format(expired=files.expiry)
        assert report["state"] == "pending" and report["not_before"]
        assert documented(w, "curl -s localhost:8187/api/v1/reports") == report["error"] + "\n"
        asked = f"GET {tls.url}/repos/owner/name/issues: "
        assert report["error"].startswith(asked) and report["error"].endswith(refusal)
        assert lines(w, "outbox key=", "state=pending", asked, refusal)
        assert "nightjar_outbox_pending 1" in w.get("/metrics", raw=True).decode()
        assert tls.requests == [] and github.tell("state")["requests"] == []

        tls.restart(files.good)
        finish(w)
        state = github.tell("state")
        assert state["violations"] == []
        [issue] = state["issues"]
        assert w.repo.commits[6] in issue["body"]
        assert [one["state"] for one in w.items("reports")] == ["sent"]
        assert [one["state"] for one in w.items("regressions")].count("reported") == 1
    finally:
        github.stop()


@pytest.fixture
def packaged(trusting, front):
    """A world whose wheel requires a package, and TLS in front of the index of packages."""
    w = trusting()
    tls = front(w.index.url)
    configure(w, "environment", indexes=[tls.url], uv=str(UV))
    make_package(w.index.folder, "helper", "1.0", {"helper/__init__.py": "VERSION = '1.0'\n"})
    w.publish_nightly("2026-08-19", requires=["helper==1.0"])
    return w, tls


def test_a_wheel_waits_for_the_certificate_of_the_packages_index(packaged, files):
    w, tls = packaged
    tls.restart(files.expired)
    w.start_daemon()
    said = w.wait("the obstacle", lambda: obstacles(w).get("build"))
    assert "cannot resolve the packages of a wheel" in said and "certificate" in said.lower()
    assert [one["state"] for one in w.items("builds")] == ["found"] and tls.requests == []

    tls.restart(files.good)
    w.start_runner(script())
    w.wait("the night", lambda: w.night_done(1))
    [build] = w.items("builds")
    assert build["state"] == "proved" and build["lock"]


def test_a_runner_that_cannot_install_packages_blames_no_build(packaged, files):
    w, tls = packaged
    w.start_daemon()
    w.wait("the lock", lambda: [one for one in w.items("builds") if one["lock"]])
    tls.restart(files.expired)
    tls.requests.clear()
    w.environment["HOME"] = str(w.folder)  # uv keeps what the service fetched
    w.start_runner(script())
    [job] = w.wait("the job's return", lambda: [
        one for one in w.items("jobs") if "certificate" in (one["reason"] or "").lower()])
    assert "cannot install the packages of a build" in job["reason"] and tls.requests == []
    assert w.items("runs") == [] and not w.night_done(1)

    tls.restart(files.good)
    w.wait("the night", lambda: w.night_done(1), 120)
    assert {one["status"] for one in w.items("runs")} == {"measured"}
    assert w.items("regressions") == []


def test_commits_come_when_the_certificate_is_renewed(trusting, front, files):
    w = trusting()
    w.publish_nightly("2026-08-19")
    git(w.repo.path, "update-server-info")
    server = Server(("127.0.0.1", 0), functools.partial(
        QuietHandler, directory=str(w.repo.path / ".git")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    tls = front(f"http://127.0.0.1:{server.server_port}", files.expired)
    configure(w, "repository", url=tls.url)
    w.start_daemon()
    w.start_runner(script())
    said = w.wait("the obstacle", lambda: obstacles(w).get("repository"))
    assert f"cannot fetch {tls.url} into " in said and "certificate" in said
    assert tls.requests == []

    tls.restart(files.good)
    w.wait("the night", lambda: w.night_done(1))
    assert "repository" not in obstacles(w)
    server.shutdown()


def test_a_look_for_cis_wheel_is_repeated_after_the_renewal(trusting, front, files, tmp_path):
    ci = Ci(tmp_path / "ci")
    try:
        api, bucket = front(ci.url), front(ci.url, files.expired)
        w = trusting(**{"source.ci": {
            "environments": ["linux-jammy-py3.*-gcc11"], "api": f"{api.url}/api",
            "bucket": f"{bucket.url}/bucket", "repository": "pytorch/pytorch",
            "mirror": "days:9999"}})
        w.repo.grow(1)
        w.publish_nightly("2026-08-20")
        w.repo.grow(1, native={2})
        commit = w.repo.commits[-1]
        ci.publish(1, commit)
        w.start_daemon()
        [lookup] = w.wait("the failed look", lambda: [
            one for one in w.items("lookups")
            if one["commit"] == commit and one["state"] == "failed"])
        assert REFUSALS["expired"].format(expired=files.expiry) in lookup["reason"]
        assert lookup["retry_at"] and bucket.requests == []
        assert lookup["reason"] in documented(w, "curl -s localhost:8187/api/v1/lookups")
        shown = documented(w, "openssl s_client", f"127.0.0.1:{bucket.port}")
        assert "subject=CN = expired\nissuer=CN = web-ca\nnotAfter=" in shown

        bucket.restart(files.good)
        [build] = w.wait("the wheel", lambda: of_ci(w), 150)  # it is repeated after a minute
        assert (build["state"], build["commit"]) == ("proved", commit)
    finally:
        ci.stop()
