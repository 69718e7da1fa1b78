"""Somebody sets the wall clock of the service by a day, while it runs or while it is away. Or the
machine's own zone changes between winter and summer time."""

import contextlib
import sqlite3
import time

import pytest

from clock_world import ClockWorld

pytestmark = pytest.mark.release
DAY = 86_400


class RegisteredWorld(ClockWorld):
    def register(self):
        """Makes a runner live."""
        body = {"name": "lab", "labels": {}, "version": "1", "workloads": [],
                "facts": {"cpu_model": "test"}}
        assert self.request("POST", "/api/v1/agent/register", body, token="runner")[0] == 200

    def move_to(self, moment):
        """Lets the service tick at a time such as 2026-10-25T00:31:00Z."""
        self.set_time(moment)
        if "nightjard" in self.processes:
            self.register()
            time.sleep(2)


@pytest.fixture
def tomorrow(tmp_path):
    """A service whose clock is a day ahead, with one runner, and a message that waits a moment."""
    world = RegisteredWorld(tmp_path)
    world.clock.set(DAY)
    world.start_daemon()
    world.register()
    not_before_us = int((time.time() + DAY + 10) * 1e6)
    file = tmp_path / "data" / "nightjar.sqlite"
    with contextlib.closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(
            "INSERT INTO outbox (key, regression, kind, title, body, state, attempts, "
            "not_before_us, error, url, created_at_us) VALUES ('k', 1, 'open_issue', 't', 'b', "
            "'pending', 1, ?, '', '', 0)", [not_before_us])
    yield world
    world.stop()


def is_sent(world):
    return [one for one in world.items("reports") if one["state"] == "sent"]


@pytest.mark.first
def test_a_message_does_not_wait_for_a_day_because_the_clock_was_set_back(tomorrow):
    time.sleep(2)  # ticks, so that the service knows what time it was
    tomorrow.clock.set(0)
    tomorrow.wait("the message to be sent", lambda: is_sent(tomorrow), 60)


def test_nor_because_that_happened_while_the_service_was_away(tomorrow):
    tomorrow.kill("nightjard")
    tomorrow.clock.set(0)
    tomorrow.start_daemon_again()
    tomorrow.wait("the message to be sent", lambda: is_sent(tomorrow), 60)
    [runner] = tomorrow.items("runners")
    assert runner["seen_at"] <= time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 5))


@pytest.mark.parametrize("first, second", [("2026-10-25", "2026-10-26"),
                                           ("2027-03-28", "2027-03-29")])
def test_summer_time_moves_no_night(tmp_path, monkeypatch, first, second):
    """Where the machine's zone has 02:30 twice on the first day, or never."""
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    world = RegisteredWorld(tmp_path, night={"at": "02:30"})
    try:
        world.move_to(f"{first}T00:20:00Z")
        world.start_daemon()
        for moment in (f"{first}T00:31:00Z", f"{first}T01:31:00Z"):  # 02:31 there, in autumn twice
            world.move_to(moment)
        assert world.items("nights") == []
        for count, day in ((1, first), (2, second)):
            world.move_to(f"{day}T02:29:58Z")
            world.wait("the night", lambda: len(world.items("nights")) == count)
        for day, night in zip((first, second), reversed(world.items("nights"))):
            assert f"{day}T02:30" <= night["started_at"] < f"{day}T03:00"
    finally:
        world.stop()


@pytest.mark.parametrize("offset", [DAY, -DAY])
def test_the_engine_is_not_said_to_stand_still_because_somebody_set_the_clock(tmp_path, offset):
    # Between two ticks: the next one comes in an hour.
    world = RegisteredWorld(tmp_path, queue={"tick": 3600})
    try:
        world.start_daemon()
        world.wait("the first tick", lambda: world.get("/readyz"), 30)
        world.clock.set(offset)
        assert world.get("/readyz")["checks"]["engine"] == "ok"
    finally:
        world.stop()
