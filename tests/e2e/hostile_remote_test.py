"""A hostile git remote and the real service: whatever it says, the service lives on, tells the
operator in one line, and shows no secret."""
import base64
import sys

import pytest

from world import ROOT

sys.path.append(str(ROOT / "tests" / "support" / "hostile"))

import remote

SECRET = "s3cr3tword"
IN_BASE64 = base64.b64encode(f"me:{SECRET}".encode()).decode().rstrip("=")


@pytest.fixture(params=list(remote.MOODS))
def liar(request):
    server = remote.Remote(request.param)
    yield server
    server.stop()


def failure_in(world):
    """What /readyz says of the repository, once it does."""
    def said():
        body = world.request("GET", "/readyz")[1].decode()
        return body if "cannot fetch" in body else None
    return world.wait("the failed fetch in /readyz", said)


@pytest.mark.first
def test_a_remote_says_what_it_likes_and_the_service_lives_on(make_world, liar):
    world = make_world(repository={"url": liar.url(), "fetch_timeout": 5,
                                   "most_bytes": 20 << 20})
    world.write_secret("logins", liar.login("me", SECRET))
    world.overrides["service"] = {"credentials_file": str(world.folder / "logins")}
    world.write_config()
    world.repo.grow(3)
    world.publish_nightly("2026-08-20")
    world.start_daemon()
    ready = failure_in(world)
    log = (world.folder / "nightjard.log").read_bytes()
    lines = [line for line in log.decode().splitlines() if "cannot fetch" in line]
    assert lines and max(map(len, lines)) < 2_000
    causes = {"endless": ["not done after 5 s", "it wrote more than"],
              "endless_pack": ["more than 20971520 bytes, the limit of [repository] most_bytes"],
              "terminal": ["error forged=1"]}
    assert [cause for cause in causes.get(liar.mood, ["remote: "]) if cause in lines[0]]
    assert "check [repository] url" in lines[0]
    assert not [byte for byte in set(log) if byte < 32 and byte != 10] and b"\xc2\x9b" not in log
    assert not [line for line in log.decode().splitlines() if line.startswith("2026-01-01 error")]
    builds = world.request("GET", "/api/v1/builds", token=None)[1].decode()
    for shown in (ready, log.decode(), builds):
        assert SECRET not in shown and IN_BASE64 not in shown
    assert world.get("/healthz", raw=True)
