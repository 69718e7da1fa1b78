"""A runner enrols with a one-time token, works, gets a new token by itself and is revoked."""
import hashlib
import json
import signal
import stat

import pytest

from world import BIN, script


def make_enrolment(world, **wanted):
    status, body = world.request("POST", "/api/v1/enrolments", wanted)
    assert status == 201, body
    return json.loads(body)


def start_runner(world, *options):
    path = world.folder / "script.json"
    path.write_text(json.dumps(script()))
    world.start("lab", BIN / "nightjar-runner", "--service", world.url, "--name", "lab", "--cache",
                world.folder / "cache", "--scripted", path, *options)


def own_token(world):
    return (world.folder / "cache" / "token").read_text().strip()


def tokens(world):
    return {one["id"]: one["state"] for one in world.items("tokens")}


def rotate(world, token, sha256):
    return world.request("POST", "/api/v1/agent/rotate", {"sha256": sha256}, token=None,
                         headers={"Authorization": "Bearer " + token})


def start_service(world):
    w = world()
    w.publish_nightly("2026-08-19")
    w.start_daemon()
    return w


@pytest.mark.first
def test_a_runner_enrols_works_rotates_and_is_revoked(world):
    world = start_service(world)
    enrolment = make_enrolment(world)
    world.write_secret("once", enrolment["token"])
    start_runner(world, "--enrol", world.folder / "once")
    world.wait("the night", lambda: world.night_done(1))
    runner, = world.items("runners")
    assert runner["name"] == "lab"
    first = own_token(world)
    assert first != enrolment["token"]
    assert stat.S_IMODE((world.folder / "cache" / "token").stat().st_mode) == 0o600
    assert tokens(world) == {1: "valid"}
    assert world.items("enrolments")[0]["state"] == "used"

    # Killed after the service had stored its new token, and before the runner had. It has no
    # one-time token any more.
    assert world.kill("lab") == -signal.SIGKILL
    (world.folder / "once").unlink()
    world.write_secret("cache/token.next", "drawn-before-the-kill")
    drawn = hashlib.sha256(b"drawn-before-the-kill").hexdigest()
    status, body = rotate(world, first, drawn)
    assert status == 200, body
    assert world.kill("nightjard") == -signal.SIGKILL
    world.start_daemon_again()
    assert tokens(world) == {1: "valid", 2: "unused"}
    start_runner(world, "--rotate-after", 2)
    world.wait("that token's use", lambda: tokens(world)[2] in ("valid", "ending"))
    assert tokens(world)[1] == "ending"
    world.wait("another token", lambda: tokens(world).get(3) in ("valid", "ending"))
    assert own_token(world) not in (first, "drawn-before-the-kill")
    status, body = rotate(world, first, "0" * 64)
    assert status == 409, body  # its grace lasts, but it has a successor

    # Revoked while it runs: it ends by itself, and says why once.
    status, body = world.request("POST", "/api/v1/tokens/1/revoke")
    assert status == 200, body
    process = world.processes.pop("lab")
    assert process.wait(60) == 3
    log = (world.folder / "lab.log").read_text()
    assert log.count("nightjar-runner: cannot register") == 1
    assert "401: The token is not known here." in log
    assert set(tokens(world).values()) == {"revoked"}
    for token in (first, own_token(world), enrolment["token"]):
        assert token not in log + world.tail("nightjard")
    actions = {entry["action"] for entry in world.items("audit")}
    assert actions >= {"make-enrolment", "enrol-runner", "use-token", "rotate-token",
                       "revoke-token"}


def test_a_used_one_time_token_lets_nobody_else_in(world):
    world = start_service(world)
    enrolment = make_enrolment(world)
    world.write_secret("once", enrolment["token"])
    start_runner(world, "--enrol", world.folder / "once")
    world.wait("the runner", lambda: world.items("runners"))
    world.start("second", BIN / "nightjar-runner", "--service", world.url, "--name", "second",
                "--cache", world.folder / "other", "--scripted", world.folder / "script.json",
                "--enrol", world.folder / "once")
    assert world.processes.pop("second").wait(30) == 3
    assert "403: This one-time token was used at" in world.tail("second")
    assert not (world.folder / "other" / "token").exists()
