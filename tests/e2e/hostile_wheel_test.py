"""A hostile wheel on a real runner of a real service: what it reaches unconfined, and that confined
nothing outside its own run changes."""
import hashlib
import http.server
import json
import pathlib
import signal
import subprocess
import sys
import threading
import zipfile

import pytest

from world import BIN, ROOT, Server

RUNNER = BIN / "nightjar-runner"
HOSTILE = ROOT / "tests/support/hostile"
# A machine that allows no user namespaces, as its kernel's setting says.
FORBIDDEN = ("unshare", "--user", "--map-root-user", "sh", "-c",
             'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"', "sh")
MARK = "left by a hostile build"
INIT = """\
from .version import __version__
from . import version
from . import attack
attacked = attack.attack()
"""
WORKLOAD = """\
import json, os, sys
json.load(sys.stdin)
import torch
def say(**event): os.write(3, (json.dumps(event) + "\\n").encode())
say(event="ready", torch={"version": torch.__version__, "git_version": torch.version.git_version,
    "path": torch.__path__[0]})
for _ in range(20): say(event="sample", latency=.001, cpu=.001, wait=0)
deed = "calm" if os.path.exists("all_are_calm") else sys.argv[1]
if deed == "steal":
    say(event="error", status="failed", reason=json.dumps(torch.attacked))
    sys.exit(1)
if deed == "fill": torch.attack.fill_disk()
if deed == "fork": torch.attack.fork_without_end()
say(event="result", warmup_iterations=1, metrics={})
"""


def name_of(deed):
    return f"hostile/{deed}/eval/cpu/fp32/b1/eager"


class Listener(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.heard.append(self.path)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


class Lab:
    """A world whose nightlies are hostile, and a runner of the given confinement."""

    def __init__(self, world, deeds):
        self.world, self.deeds = world, deeds
        self.cache, self.outside = world.folder / "cache", world.folder / "outside"
        self.outside.mkdir()
        self.listener = Server(("127.0.0.1", 0), Listener)
        self.listener.heard = []
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()
        commands = world.folder / "commands"
        commands.mkdir()
        (commands / "workload.py").write_text(WORKLOAD)
        (commands / "commands.toml").write_text("".join(
            f'[[workload]]\nname = "{name_of(deed)}"\ntimeout = 60\n'
            f'command = ["{{python}}", "workload.py", "{deed}"]\n' for deed in deeds))
        world.start_daemon()

    def publish(self, date):
        repo = self.world.repo
        repo.write("torch/__init__.py", INIT)
        repo.write("torch/attack.py", (HOSTILE / "attack.py").read_text())
        for name in ("victim", "linked"):
            repo.write(f"torch/{name}.py", f"# {date}\n")
        repo.write("torch/targets.py", "TARGETS = " + repr({
            "service": self.world.url, "token": str(self.world.folder / "runner.token"),
            "cache": str(self.cache), "outside": str(self.outside), "mark": MARK,
            "listener": f"http://127.0.0.1:{self.listener.server_port}/"}))
        repo.commit("Add what " + date + " has")
        return self.world.publish_nightly(date)

    def start_runner(self, confinement, before=()):
        self.world.start(
            "nightjar-runner", "env", f"NIGHTJAR_MACHINE_LOCK={self.world.folder}/machine.lock",
            *before, RUNNER, "--service", self.world.url, "--token-file",
            self.world.folder / "runner.token", "--name", "lab", "--cache", self.cache, "--python",
            sys.executable, "--commands", self.world.folder / "commands/commands.toml",
            "--confinement", confinement)

    def runs(self, deed):
        return [run for run in self.world.items("runs") if run["workload_name"] == name_of(deed)]

    def unpacked(self):
        """SHA-256 of each file of an environment that is not byte code, by wheel and path."""
        return {str(path.relative_to(self.cache)): hashlib.sha256(path.read_bytes()).hexdigest()
                for path in (self.cache / "env").rglob("*")
                if path.is_file() and "site-packages" in path.parts
                and "__pycache__" not in path.parts}

    def published(self):
        """The same of the files in the wheels, whatever the wheel."""
        found = set()
        for wheel in self.world.index.folder.glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                found |= {(name, hashlib.sha256(archive.read(name)).hexdigest())
                          for name in archive.namelist()}
        return found

    def is_as_published(self):
        here = {(path.partition("site-packages/")[2], digest)
                for path, digest in self.unpacked().items()}
        return bool(here) and here <= self.published()


def daemons():
    return [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if holds_mark(path)]


def holds_mark(path):
    try:
        return MARK.encode() in path.read_bytes()
    except OSError:  # it has just ended
        return False


@pytest.fixture
def make_lab(world):
    made = []

    def make(*deeds):
        one = world(night={"workloads": ["hostile/**"], "run_seconds": .1, "runs": 2},
                    queue={"lease": 30, "tick": 1})
        made.append(Lab(one, deeds))
        return made[-1]
    yield make
    for lab in made:
        lab.listener.shutdown()


def test_unconfined_a_hostile_wheel_forges_results_and_changes_its_build(make_lab):
    lab = make_lab("steal")
    lab.publish("2026-08-19")
    lab.start_runner("off")
    world = lab.world
    world.wait("a job to end",
               lambda: [job for job in world.items("jobs") if job["state"] == "done"])
    assert [run["values"]["latency"] for run in lab.runs("steal")] == [123.0], world.tail(
        "nightjar-runner")
    assert list(lab.outside.iterdir()) and lab.listener.heard
    changed = {path.rpartition("/")[2] for path, digest in lab.unpacked().items()
               if (path.partition("site-packages/")[2], digest) not in lab.published()}
    assert changed == {"victim.py", "linked.py"}


def test_confined_nothing_outside_its_own_run_changes(make_lab):
    lab = make_lab("steal", "fill", "fork", "calm")
    world = lab.world
    lab.publish("2026-08-19")
    lab.start_runner("required")
    world.wait("the first night", lambda: world.night_done(1), 240)
    assert lab.is_as_published()
    before = lab.unpacked()

    stolen = lab.runs("steal")
    assert stolen and {run["status"] for run in stolen} == {"failed"}
    for run in stolen:
        outcome = json.loads(run["reason"])
        assert outcome.pop("leave_a_daemon") == "done"  # it ends with the run
        assert len(outcome) == 7 and "done" not in outcome.values(), outcome
    for deed, why in (("fill", "No space left"), ("fork", "processes")):
        destroyed = lab.runs(deed)
        assert destroyed and all(run["status"] != "measured" for run in destroyed)
        reasons = {run["reason"] for run in destroyed}
        assert all(why in reason for reason in reasons), reasons
    calm = lab.runs("calm")
    assert calm and {run["status"] for run in calm} == {"measured"}

    assert daemons() == [] and lab.listener.heard == [] and list(lab.outside.iterdir()) == []
    assert [one["action"] for one in world.items("audit")].count("register-runner") == 1
    assert {one["labels"]["confinement"] for one in world.items("runners")} == {"namespaces"}

    (world.folder / "commands/all_are_calm").touch()  # so many storms are enough
    lab.publish("2026-08-20")
    world.wait("the next night", lambda: world.night_done(2), 240)
    assert len(lab.runs("calm")) > len(calm)
    assert lab.is_as_published() and before.items() <= lab.unpacked().items()
    world.kill("nightjar-runner", signal.SIGTERM)
    assert daemons() == []


def test_a_machine_without_user_namespaces_says_so_once_and_measures(make_lab):
    lab = make_lab("calm")
    lab.publish("2026-08-19")
    lab.start_runner("preferred", FORBIDDEN)
    lab.world.wait("the first night", lambda: lab.world.night_done(1), 120)
    assert {run["status"] for run in lab.runs("calm")} == {"measured"}
    said = [line for line in lab.world.tail("nightjar-runner").splitlines()
            if "builds run unconfined" in line]
    assert len(said) == 1 and "user.max_user_namespaces" in said[0], said
    assert [one["labels"]["confinement"] for one in lab.world.items("runners")] == ["none"]


def test_required_confinement_that_is_not_to_be_had_is_refused_at_the_start(tmp_path):
    (tmp_path / "token").write_text("secret\n")
    refused = subprocess.run(
        [*FORBIDDEN, RUNNER, "--service", "http://127.0.0.1:1", "--token-file",
         tmp_path / "token", "--cache", tmp_path / "cache", "--confinement", "required"],
        capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2, refused.stderr
    line = refused.stderr.splitlines()[-1]
    assert "cannot confine builds on this machine: cannot make namespaces: " in line
    assert "user.max_user_namespaces" in line and "--confinement preferred" in line


@pytest.mark.parametrize("before, finding", [((), "builds under test run confined"),
                                             (FORBIDDEN, "builds under test cannot be confined")])
def test_the_doctor_says_whether_builds_are_confined(tmp_path, before, finding):
    said = subprocess.run([*before, RUNNER, "doctor", "--cache", tmp_path], capture_output=True,
                          text=True, timeout=60).stdout
    assert finding in said
    assert ("user.max_user_namespaces" in said) == bool(before)
