"""The demo's stage: folder, configuration, tokens, and the two programs as they run in
production."""

import hashlib
import json
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import time

import ci_day
from service_client import Service, Unreachable

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("NIGHTJAR_BIN", ROOT / "build" / "bin"))
PYTHON = ROOT / ".cache" / "python" / "bin" / "python"
# Workloads that show what a day may change.
WORKLOADS = [
    "python/soft_actor_critic/act/**", "python/resnet18/train/**", "python/dlrm/**",
    "native/soft_actor_critic/act/**"]

CONFIGURATION = """\
# Written by deploy/demo.
[service]
data = "data"
port = 0
port_file = "port"
{tokens}
[source]
{source}
variant = "{variant}"
python_tag = "{python_tag}"
poll = 2

[environment]
indexes = []  # the made index has no packages beside its wheels

[repository]
url = "{repository}"

[night]
workloads = {workloads}
metrics = {metrics}
runs = 3
run_seconds = 0.4
profiles = 0

[queue]
tick = 1

[report]
directory = "reports"

{further}"""

TOKEN = """
[[token]]
name = "demo-{role}"
role = "{role}"
sha256 = "{sha256}"
"""

CI = """\
[source.ci]
environments = ["{environment}"]
api = "{ci}/api"
bucket = "{ci}/bucket"
repository = "{repository}"
mirror = "days:2"
"""


class Broken(Exception):
    """The environment failed; the message says what was attempted and what to do."""


class Stage:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.processes = {}
        self.service = None

    def write_configuration(self, index, wheels, ci, day):
        """Addresses on loopback: of the index, of where its links lead, and of CI. `day` is what
        make_day returned."""
        self.configure(
            roles=["runner", "admin"], source=f'index = "{index}"\ninternal = ["{wheels}"]',
            variant=day["variant"], python_tag=day["python_tag"], repository=day["repository"],
            workloads=WORKLOADS, metrics=["latency", "peak_cpu_memory", "failures"],
            further=CI.format(ci=ci, environment=day["environment"],
                              repository=ci_day.REPOSITORY))

    def configure(self, roles, workloads, metrics, **values):
        """Writes nightjar.toml, and each role's token into a file named after it."""
        tokens = ""
        for role in roles:
            token = secrets.token_hex(32)
            path = self.folder / f"{role}.token"
            path.touch(mode=0o600)
            path.write_text(token)
            sha256 = hashlib.sha256(token.encode()).hexdigest()
            tokens += TOKEN.format(role=role, sha256=sha256)
        # A list of strings is the same in JSON and in TOML.
        (self.folder / "nightjar.toml").write_text(CONFIGURATION.format(
            tokens=tokens, workloads=json.dumps(workloads), metrics=json.dumps(metrics),
            **values))

    def start(self, name, *arguments):
        with open(self.folder / f"{name}.log", "ab") as log:
            # In a process group of its own, so that Ctrl-C reaches the demo only, which ends them
            # in order.
            self.processes[name] = subprocess.Popen([BIN / name, *arguments],
                                                    stdin=subprocess.DEVNULL, stdout=log,
                                                    stderr=log, start_new_session=True)

    def start_service(self):
        self.start("nightjard", "--config", self.folder / "nightjar.toml")
        port_file = self.folder / "port"
        self.wait(lambda: port_file.exists() and port_file.read_text().strip(), 60,
                  "nightjard to listen")
        self.service = Service(f"http://127.0.0.1:{port_file.read_text().strip()}")
        self.wait(self.answers, 60, "nightjard to answer")

    def answers(self):
        try:
            return self.service.get("/healthz")
        except Unreachable:
            return None

    def start_runner(self):
        cache = self.folder / "runner"
        prepared = ROOT / ".cache" / "runner" / "native"
        if prepared.is_dir():  # deploy/build compiled them ahead of time
            shutil.copytree(prepared, cache / "native")
        self.start("nightjar-runner", "--service", self.service.address, "--token-file",
                   self.folder / "runner.token", "--name", "demo", "--cache", cache, "--python",
                   PYTHON)
        self.wait(lambda: self.service.items("/api/v1/runners"), 120, "the runner to register")

    def wait(self, condition, seconds, what):
        end = time.monotonic() + seconds
        while not (value := condition()):
            self.check_alive()
            if time.monotonic() > end:
                raise Broken(f"waited {seconds} s for {what}; see the logs in {self.folder}")
            time.sleep(0.1)
        return value

    def check_alive(self):
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise Broken(
                    f"{name} ended with status {process.returncode}: "
                    f"{self.last_words(name) or 'no message'}"
                )

    def last_words(self, name):
        """The last line of a program's log, or ""."""
        lines = (self.folder / f"{name}.log").read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def stop(self):
        for name in ("nightjar-runner", "nightjard"):
            process = self.processes.pop(name, None)
            if process is None or process.poll() is not None:
                continue
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
