"""What an operator relies on: backup and restore as docs/operating.md has them, one daemon a data
folder, and a service that answers while its network does not."""
import contextlib
import http.server
import json
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading
import time

import pytest

from world import BIN, ROOT, git

GUIDE = ROOT / "docs/operating.md"


def run_documented(world, option, file):
    """The guide's command with this option, for this world and file."""
    line = next(line for line in GUIDE.read_text().splitlines()
                if line.startswith("build/bin/nightjard") and option in line)
    command = line.split(option)[0].replace("build/bin/nightjard", str(BIN / "nightjard"))
    command = command.replace("FILE", str(world.config)) + f"{option} {file}"
    return subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)


def start_and_wait(world, seconds=30):
    """A daemon that is expected to end by itself."""
    return subprocess.run(
        [str(BIN / "nightjard"), "--config", str(world.config)], capture_output=True, text=True,
        timeout=seconds)


def names_in(file):
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return [name for name, in connection.execute("SELECT name FROM runner ORDER BY id")]


def database(world):
    return world.folder / "data/nightjar.sqlite"


def register(world, name):
    body = {
        "name": name, "labels": {}, "version": "1", "workloads": [], "facts": {"cpu_model": "test"}}
    status, answer = world.request("POST", "/api/v1/agent/register", body, token="runner")
    assert status == 200, answer
    return json.loads(answer)["runner"]


@pytest.mark.first
def test_the_documented_backup_is_restored_beside_the_live_log_of_a_killed_daemon(world, tmp_path):
    w = world()
    w.start_daemon()
    register(w, "early")
    backup = tmp_path / "backup.sqlite"
    made = run_documented(w, "--backup", backup)
    assert made.returncode == 0, made.stderr
    register(w, "late")
    refused = run_documented(w, "--restore", backup)
    assert refused.returncode == 3
    assert f"process {w.processes['nightjard'].pid} holds it" in refused.stderr
    w.kill("nightjard")
    log = database(w).with_name("nightjar.sqlite-wal")
    assert log.stat().st_size > 0
    restored = run_documented(w, "--restore", backup)
    assert restored.returncode == 0, restored.stderr
    assert backup.exists()
    assert not log.exists()
    kept = pathlib.Path(re.search(r"the database that was there is (\S+) now", restored.stdout)[1])
    assert names_in(database(w)) == ["early"]
    assert names_in(kept) == ["early", "late"]
    w.start_daemon_again()
    assert [runner["name"] for runner in w.items("runners")] == ["early"]


def test_a_damaged_database_ends_the_start_with_one_line_that_says_how_to_restore(world):
    w = world()
    w.start_daemon()
    w.kill("nightjard", signal.SIGTERM)
    with open(database(w), "r+b") as file:
        file.seek(3 * 4096)
        file.write(b"x" * 4096)
    ended = start_and_wait(w)
    assert ended.returncode == 3
    lines = ended.stderr.strip().splitlines()
    assert len(lines) == 1
    assert str(
        database(w)) in lines[0] and "is damaged" in lines[0] and "--restore COPY" in lines[0]


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of its own, with a little more room than the service wants to be ready."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=288m", "tmpfs", folder],
                          capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"no disk can be made here: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(file):
    with open(file, "wb", buffering=0) as filler, contextlib.suppress(OSError):
        for size in (1 << 20, 1 << 10):
            with contextlib.suppress(OSError):
                while True:
                    filler.write(bytes(size))


@pytest.mark.first
@pytest.mark.release
def test_a_full_disk_loses_nothing_and_readiness_says_so_until_there_is_room(small_disk, world):
    w = world(service={"data": str(small_disk / "data")})
    w.start_daemon()
    names = ["early"]
    register(w, "early")
    fill(small_disk / "filler")
    w.wait("readiness to say so", lambda: w.request("GET", "/readyz")[0] == 503)
    assert json.loads(w.request("GET", "/readyz")[1])["checks"]["disk"] != "ok"
    for number in range(5000):  # the write-ahead log has some room already
        body = {"name": f"late-{number}", "labels": {}, "version": "1", "workloads": [],
                "facts": {"cpu_model": "test"}}
        status, answer = w.request("POST", "/api/v1/agent/register", body, token="runner")
        if status != 200:
            break
        names.append(body["name"])
    assert status == 500 and b"/readyz says why" in answer
    (small_disk / "filler").unlink()
    w.wait("readiness", lambda: w.request("GET", "/readyz")[0] == 200)
    register(w, "after")
    w.kill("nightjard")
    assert names_in(small_disk / "data/nightjar.sqlite") == [*names, "after"]


def test_a_second_daemon_ends_at_once_and_names_folder_and_holder(world):
    w = world()
    w.start_daemon()
    ended = start_and_wait(w, 10)
    assert ended.returncode == 3
    assert len(ended.stderr.strip().splitlines()) == 1
    assert str(w.folder / "data") in ended.stderr
    assert f"process {w.processes['nightjard'].pid} holds it" in ended.stderr
    assert w.get("/healthz", raw=True)


class SilentServer:
    """Takes connections, counts them, and says nothing."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"git://127.0.0.1:{self.listener.getsockname()[1]}/repository"
        self.connections = []
        self.arrived = threading.Event()
        threading.Thread(target=self.take, daemon=True).start()

    def take(self):
        while True:
            try:
                self.connections.append(self.listener.accept()[0])
            except OSError:
                return
            self.arrived.set()


@pytest.fixture
def silent():
    server = SilentServer()
    yield server
    server.listener.close()


def test_a_repository_that_says_nothing_holds_up_neither_readiness_nor_claims_nor_the_end(
        world, silent):
    w = world(repository={"url": silent.url})
    w.publish_nightly("2026-08-20")
    w.start_daemon()
    assert silent.arrived.wait(30), w.tail("nightjard")
    begun = time.monotonic()
    status, body = w.request("GET", "/readyz", token=None)
    assert status == 200 and json.loads(body)["checks"]["writer"] == "ok"
    claim = {"runner": register(w, "lab"), "wait_seconds": 0}
    status, _ = w.request("POST", "/api/v1/agent/claim", claim, token="runner")
    assert status == 204
    assert w.kill("nightjard", signal.SIGTERM) == 0
    assert time.monotonic() - begun < 5
    # Its git has ended, too: the connection is closed.
    silent.connections[0].settimeout(10)
    while silent.connections[0].recv(4096):
        pass


def readiness(world):
    status, body = world.request("GET", "/readyz", token=None)
    return status, json.loads(body)


def test_a_repository_that_cannot_be_had_is_told_once_in_the_log_and_by_readiness_and_metrics(
        world):
    w = world(repository={"url": "http://127.0.0.1:1/repository.git"})
    w.publish_nightly("2026-08-20")
    w.start_daemon()
    obstacle = w.wait("the obstacle to be told", lambda: next(
        (o for o in readiness(w)[1]["obstacles"] if o["kind"] == "repository"), None))
    assert readiness(w)[0] == 200
    assert "cannot fetch http://127.0.0.1:1/repository.git" in obstacle["reason"]
    assert "check [repository] url" in obstacle["reason"]
    assert 'nightjar_obstacles{kind="repository"} 1' in w.get("/metrics", raw=True).decode()
    for name in ("a", "b", "c"):
        register(w, name)  # each wakes the engine
    assert w.tail("nightjard").count("kind=repository") == 1


def test_a_lost_copy_of_the_repository_is_told_and_fetched_at_once(world):
    w = world()
    w.repo.grow(3)
    w.publish_nightly("2026-08-20")
    w.start_daemon()
    w.wait("the build to be proved", lambda: [b for b in w.items("builds")
                                              if b["state"] == "proved"])
    remote, away = w.repo.path, w.repo.path.with_name("away")
    remote.rename(away)
    copy = w.folder / "data" / "repository.git"
    shutil.rmtree(copy)
    lost = w.wait("the obstacle to be told", lambda: next(
        (o for o in readiness(w)[1]["obstacles"] if "was lost" in o["reason"]), None))
    assert lost["kind"] == "repository"
    away.rename(remote)
    # No nightly comes meanwhile.
    w.wait("the copy to be back", lambda: not [
        o for o in readiness(w)[1]["obstacles"] if o["kind"] == "repository"])
    commit = w.items("builds")[0]["commit"]
    assert git(copy, "cat-file", "-t", commit) == "commit"


def test_a_database_that_is_damaged_while_the_daemon_runs_is_told_and_the_daemon_stays(world):
    w = world()
    w.start_daemon()
    w.kill("nightjard", signal.SIGTERM)  # so that all is in the database itself
    w.start_daemon_again()
    size = database(w).stat().st_size
    with open(database(w), "r+b") as file:
        file.seek(4096)
        file.write(b"x" * (size - 4096))
    assert w.request("GET", "/api/v1/nights")[0] == 500
    status, body = readiness(w)
    assert status == 503
    assert "--restore COPY" in body["detail"]
    for _ in range(20):
        assert w.request("GET", "/api/v1/nights")[0] == 500
    assert w.tail("nightjard").count("malformed") + w.tail("nightjard").count("not a database") <= 4
    assert w.kill("nightjard", signal.SIGTERM) == 0


@pytest.mark.first
def test_a_configuration_is_refused_with_a_line_for_each_thing_that_is_wrong(world):
    w = world(night={"runs": 0, "colour": "red"}, detection={"threshold": 7})
    ended = start_and_wait(w)
    assert ended.returncode == 2
    lines = ended.stderr.strip().splitlines()
    assert len(lines) == 3 and all(line.startswith(f"nightjard: {w.config}:") for line in lines)
    assert any('did you mean "7%" or 0.07?' in line for line in lines)


class Tracker(http.server.BaseHTTPRequestHandler):
    """As much of GitHub's issues as one message needs."""
    requests = []

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        self.requests.append(self.command)
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        self.answer(200, {"items": [], "total_count": 0} if "/search/" in self.path else [])

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.answer(201, {"number": 1, "html_url": "http://x/1", "state": "open"})


@pytest.fixture
def tracker():
    Tracker.requests.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tracker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_an_answer_that_cannot_be_stored_is_stored_later_and_nothing_is_sent_again(
        world, tracker, tmp_path):
    token = tmp_path / "token"
    token.write_text("t")
    w = world(report={"tracker": "github", "api": tracker, "repository": "owner/name",
                      "token_file": str(token)})
    w.start_daemon()
    with sqlite3.connect(database(w)) as connection:
        connection.execute("CREATE TRIGGER broken BEFORE UPDATE ON outbox "
                           "WHEN new.state = 'sent' BEGIN SELECT RAISE(ABORT, 'no'); END")
        connection.execute(
            "INSERT INTO outbox (key, regression, kind, title, body, state, attempts, error, url, "
            "created_at_us) VALUES ('k', 1, 'open_issue', 't', 'b', 'pending', 0, '', '', 0)")
    # Longer than the pause after a request that a busy machine made fail.
    w.wait("the issue to be filed", lambda: "POST" in Tracker.requests, 60)
    ticks = w.tail("nightjard").count("\n")
    time.sleep(4)  # several ticks
    assert Tracker.requests.count("POST") == 1
    assert len(Tracker.requests) < 10, Tracker.requests
    assert w.tail("nightjard").count("\n") < ticks + 5
    with sqlite3.connect(database(w)) as connection:
        connection.execute("DROP TRIGGER broken")
    w.wait("the answer to be stored", lambda: [r for r in w.items("reports")
                                               if r["state"] == "sent"], 30)
    assert Tracker.requests.count("POST") == 1
    assert w.kill("nightjard", signal.SIGTERM) == 0
