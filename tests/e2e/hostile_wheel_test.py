"""A hostile wheel, and a hostile package that a wheel requires, on a real runner of a real service:
what they reach unconfined, and that confined nothing outside their own runs changes."""
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import zipfile

import pytest

from world import BIN, ROOT, UV, Server, make_package

RUNNER = BIN / "nightjar-runner"
HOSTILE = ROOT / "tests/support/hostile"
# A machine that allows no user namespaces, as its kernel's setting says.
FORBIDDEN = ("unshare", "--user", "--map-root-user", "sh", "-c",
             'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"', "sh")
# Names that Python, our own programs or tools import without being asked for a build's module.
SHADOWS = ["sitecustomize", "usercustomize", "conftest", "json", "glob", "ctypes", "platform", "re",
           "sysconfig", "compileall", "importlib_metadata", "nvidia"]
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
def say_raw(text): os.write(3, text.encode() + b"\\n")
def end(number): say_raw('{"event": "result", "warmup_iterations": %s, "metrics": {}}' % number)
deed = "calm" if os.path.exists("all_are_calm") else sys.argv[1]
if deed == "steal":
    say(event="error", status="failed", reason=json.dumps(torch.attacked))
    sys.exit(1)
if deed == "fill": torch.attack.fill_disk()
if deed == "fork": torch.attack.fork_without_end()
if deed == "spy":
    import builtins
    say(event="error", status="failed", reason=" ".join(getattr(builtins, "spied", ["none"])))
    sys.exit(1)
if deed == "count": end("1e10")
if deed == "beyond": end("1e400")
if deed == "less": end("-1")
if deed == "nan": end("NaN")
if deed == "word": end('"many"')
if deed == "metric":
    say(event="result", warmup_iterations=1, metrics={"peak_cpu_memory": [1e300]})
if deed == "deep": say_raw('{"event": ' + "[" * 100_000)
if deed == "flood":
    for _ in range(100): say_raw(" " * (1 << 20))
if deed == "shout":
    for _ in range(100): os.write(1, b"x" * (1 << 20))
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

    def __init__(self, world, deeds, user=None):
        self.world, self.deeds, self.user = world, deeds, user
        place = world.folder if user is None else pathlib.Path(tempfile.mkdtemp(prefix="lab-"))
        self.place, self.python = place, sys.executable if user is None else "/usr/bin/python3"
        self.cache, self.outside = place / "cache", place / "outside"
        self.outside.mkdir()
        self.listener = Server(("127.0.0.1", 0), Listener)
        self.listener.heard = []
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()
        commands = place / "commands"
        commands.mkdir()
        self.token = world.folder / "runner.token"
        if user is not None:
            self.token = pathlib.Path(shutil.copy(self.token, place / "token"))
            for path in (place, self.outside, self.token):
                os.chown(path, user, user)
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
            "service": self.world.url, "token": str(self.token),
            "cache": str(self.cache), "outside": str(self.outside), "mark": MARK,
            "listener": f"http://127.0.0.1:{self.listener.server_port}/"}))
        repo.commit("Add what " + date + " has")
        return self.world.publish_nightly(date)

    def publish_spies(self, date, within):
        """A nightly that requires a package. One of them, as `within` says, has modules that Python
        or we might import. Where they run unconfined, they leave files in `outside`."""
        self.world.repo.write("torch/__init__.py", "from .version import __version__\n"
                              "from . import version\n")
        self.world.repo.commit("Be calm")
        shadows = self.shadows()
        # One that lays files into the build's own folders is refused before it runs.
        of_package = {name: text for name, text in shadows.items()
                      if not name.startswith("torch/")}
        make_package(self.world.index.folder, "accomplice", "1.0",
                     {"accomplice.py": ""} | (of_package if within == "package" else {}))
        of_wheel = shadows if within == "wheel" else {}
        return self.world.publish_nightly(
            date, requires=["accomplice==1.0"], tag=self.tag(),
            extra={name: text.encode() for name, text in of_wheel.items()})

    def shadows(self):
        spy = (HOSTILE / "spy.py").read_text().replace("@OUTSIDE@", str(self.outside))
        files = {f"{name}.py": spy + f"\ntell({name!r})\ngive_way({name!r}, __file__)\n"
                 for name in SHADOWS if name != "nvidia"}
        files["nvidia/__init__.py"] = spy + "\ntell('nvidia')\n"
        files["nvidia/cu13/lib/libcublas.so.13"] = "no library"
        files["torch/lib/spy.so"] = "no library"
        files["startup.pth"] = f"import os; open('{self.outside}/pth', 'w')\n"
        return files

    def tag(self):
        ask = "import sys; print('cp%d%d' % sys.version_info[:2])"
        said = subprocess.run([self.python, "-c", ask], capture_output=True, text=True, check=True)
        return said.stdout.strip()

    def start_runner(self, confinement, before=()):
        self.world.start(
            "nightjar-runner", "env", f"NIGHTJAR_MACHINE_LOCK={self.place}/machine.lock",
            *self.home(), *before, *self.as_user(), RUNNER, "--service", self.world.url,
            "--token-file", self.token, "--name", "lab", "--cache", self.cache, "--python",
            self.python, "--uv", UV, "--commands", self.place / "commands/commands.toml",
            "--confinement", confinement)

    def home(self):
        return [] if self.user is None else [f"HOME={self.place}"]

    def as_user(self):
        if self.user is None:
            return ()
        return ("setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups")

    def runs(self, deed):
        return [run for run in self.world.items("runs") if run["workload_name"] == name_of(deed)]

    def unpacked(self):
        """SHA-256 of each file of an environment that is not byte code, by wheel and path."""
        return {str(path.relative_to(self.cache)): hashlib.sha256(path.read_bytes()).hexdigest()
                for path in (self.cache / "env").rglob("*")
                if path.is_file() and "site-packages" in path.parts
                and "__pycache__" not in path.parts}

    def published(self):
        """The SHA-256 of each file in any of the wheels, with its path."""
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

    def make(*deeds, user=None, **more):
        one = world(night={"workloads": ["hostile/**"], "run_seconds": .1, "runs": 2},
                    queue={"lease": 30, "tick": 1}, **more)
        made.append(Lab(one, deeds, user))
        return made[-1]
    yield make
    for lab in made:
        lab.listener.shutdown()
        if lab.user is not None:
            shutil.rmtree(lab.place, ignore_errors=True)


# As root, who may do most outside, and as an ordinary user.
USERS = [None, 65534] if os.geteuid() == 0 else [None]


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


@pytest.mark.first
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

    (world.folder / "commands/all_are_calm").touch()  # there were enough storms
    lab.publish("2026-08-20")
    world.wait("the next night", lambda: world.night_done(2), 240)
    assert len(lab.runs("calm")) > len(calm)
    assert lab.is_as_published() and before.items() <= lab.unpacked().items()
    world.kill("nightjar-runner", signal.SIGTERM)
    assert daemons() == []


def make_lab_with_packages(make_lab, *deeds, user=None):
    lab = make_lab(*deeds, user=user, environment={"indexes": [], "uv": str(UV)},
                   source={"python_tag": f"cp{sys.version_info.major}{sys.version_info.minor}"})
    lab.world.overrides["environment"]["indexes"] = [lab.world.index.url]
    lab.world.overrides["source"]["python_tag"] = lab.tag()
    lab.world.kill("nightjard", signal.SIGTERM)
    lab.world.write_config()
    lab.world.start_daemon()
    return lab


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("within", ["wheel", "package"])
def test_a_module_of_a_build_or_its_package_runs_nowhere_but_confined(make_lab, within, user):
    lab = make_lab_with_packages(make_lab, "spy", "calm", user=user)
    lab.publish_spies("2026-08-19", within)
    lab.start_runner("required")
    lab.world.wait("the first night", lambda: lab.world.night_done(1), 240)
    spied = lab.runs("spy")
    assert spied and all("json" in run["reason"].split() for run in spied), spied
    assert all("sitecustomize" in run["reason"].split() for run in spied), spied
    assert {run["status"] for run in lab.runs("calm")} == {"measured"}
    assert list(lab.outside.iterdir()) == []


def test_unconfined_a_module_of_a_package_runs_with_the_runners_rights(make_lab):
    lab = make_lab_with_packages(make_lab, "spy")
    lab.publish_spies("2026-08-19", "package")
    lab.start_runner("off")
    lab.world.wait("the first night", lambda: lab.world.night_done(1), 240)
    said = {path.name.split(".")[0]: path.read_text() for path in lab.outside.iterdir()}
    assert "sitecustomize" in said and "pth" not in said, said
    # Neither then does our own Python import it: each process runs the build, or its import.
    assert all("workload.py" in words or words in ("-c", "") for words in said.values()), said


@pytest.mark.parametrize("user", USERS)
def test_what_a_run_says_is_its_own_run_and_no_session_is_lost(make_lab, user):
    deeds = {"count": "warmup_iterations cannot be 10000000000", "beyond": "no JSON",
             "less": "warmup_iterations cannot be -1", "nan": "no JSON",
             "word": "warmup_iterations is missing or no number",
             "metric": "peak_cpu_memory cannot", "deep": "no JSON",
             "flood": "too much of its protocol", "shout": "too much of its output"}
    lab = make_lab(*deeds, "calm", user=user)
    world = lab.world
    lab.publish("2026-08-19")
    lab.start_runner("required")
    world.wait("the first night", lambda: world.night_done(1), 240)
    for deed, why in deeds.items():
        runs = lab.runs(deed)
        assert runs and {run["status"] for run in runs} == {"failed"}, (deed, runs)
        assert all(why in run["reason"] for run in runs), (deed, runs)
    calm = lab.runs("calm")
    assert calm and {run["status"] for run in calm} == {"measured"}
    assert {job["state"] for job in world.items("jobs")} == {"done"}
    assert all(job["attempt"] == 1 for job in world.items("jobs"))


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
