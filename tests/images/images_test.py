"""Both images of deploy/images, made from the programs in build/ and run as containers by
tests/support/container.py: the service as docs/operating.md says, and the runner as
deploy/kubernetes/pilot.yaml starts it. tests/run --images runs this; it fetches Debian."""

import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import jsonschema
import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "support"))

from container import Image, Pod, obstacle
from image_file import SCHEMAS, differences

SERVICE = "http://127.0.0.1:8187"
NODE = "node-7"
LONGEST_SECONDS = 120

# Prints whether torch.compile can compile against Python.
IMPORT = """
import pathlib, sysconfig, torch
assert (torch.ones(2, 2) @ torch.ones(2, 2)).sum() == 8
print(pathlib.Path(sysconfig.get_path("include"), "Python.h").exists())
"""

OBSTACLE = obstacle()
pytestmark = pytest.mark.skipif(OBSTACLE is not None, reason=str(OBSTACLE))


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("images")


@pytest.fixture(scope="session")
def files(folder):
    """Path of each image file, by name. IMAGES: a folder where they are already."""
    made = pathlib.Path(os.environ.get("IMAGES", folder / "files"))
    if not made.exists():
        done = subprocess.run([ROOT / "deploy/images", "--no-build", "--out", made],
                              capture_output=True, text=True, timeout=3000)
        assert done.returncode == 0, done.stdout + done.stderr
    return {path.name.split("_")[0]: path for path in made.glob("*.oci.tar")}


@pytest.fixture(scope="session")
def service(files, folder):
    return Image(files["nightjar-service"], folder / "service")


@pytest.fixture(scope="session")
def runner(files, folder):
    return Image(files["nightjar-runner"], folder / "runner")


@pytest.fixture
def pod():
    made = Pod()
    yield made
    made.close()


def until(condition, what):
    """The first answer that is true."""
    end = time.monotonic() + LONGEST_SECONDS
    while not (answer := condition()):
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.2)
    return answer


def owned(path, image):
    """A new folder for a volume of the image."""
    path.mkdir()
    os.chown(path, *image.owner())
    return path


def configure(image, place):
    """The image's own example in a folder for /etc/nightjar, for wheels and commits of this
    machine."""
    place.mkdir()
    repository = place / "repository"
    for command in (["init", "--quiet", "--initial-branch=main", repository],
                    ["-C", repository, "-c", "user.name=A", "-c", "user.email=a@example.org",
                     "commit", "--quiet", "--allow-empty", "--message=first"]):
        subprocess.run(["git", *command], check=True)
    subprocess.run(["git", "-C", repository, "branch", "nightly"], check=True)
    (place / "wheels").mkdir()
    text = (image.root / "usr/share/nightjar/nightjar.toml").read_text()
    for pattern, here in ((r'^index = "[^"]*"', 'directory = "wheels"'),
                          (r'^url = "[^"]*"', 'url = "/etc/nightjar/repository"'),
                          (r"^environments = .*", "environments = []")):
        text, count = re.subn(pattern, here, text, flags=re.MULTILINE)
        assert count == 1, pattern
    token = "token-of-the-lab"
    (place / "runner.token").write_text(token)
    text += (f'\n[[token]]\nname = "lab"\nrole = "runner"\n'
             f'sha256 = "{hashlib.sha256(token.encode()).hexdigest()}"\n')
    (place / "nightjar.toml").write_text(text)
    for path in (place, *place.rglob("*")):
        os.chown(path, *image.owner())
    return place


class Running:
    """The service's container, with what the documents bind to it."""

    def __init__(self, pod, image, folder):
        self._pod, self._image = pod, image
        self.data = owned(folder / "data", image)
        self.configuration = configure(image, folder / "configuration")
        self.binds = [(self.data, "/var/lib/nightjar"), (self.configuration, "/etc/nightjar")]
        self.process = pod.start(image, binds=self.binds)
        until(self.is_healthy, "the service")

    def is_healthy(self):
        """As the image's health check says."""
        assert self.process.poll() is None, self.process.communicate()[0]
        _, *check = self._image.settings["Healthcheck"]["Test"]
        asked = self._pod.start(self._image, *check[1:], entrypoint=check[:1])
        self.answer, _ = asked.communicate(timeout=60)
        return asked.returncode == 0

    def ask(self, path):
        return self._pod.run(self._image, "-s", "--fail", SERVICE + path, entrypoint=["curl"])


@pytest.mark.parametrize("name", ["service", "runner"])
def test_an_image_is_one_by_the_specification(name, request):
    file = request.getfixturevalue(name).file
    for kind, schema in SCHEMAS.items():
        jsonschema.validate(file.part(kind), schema)
    file.check_digests()


@pytest.mark.parametrize("name", ["service", "runner"])
def test_an_image_holds_nothing_of_the_machine_that_made_it(name, request):
    image = request.getfixturevalue(name)
    for path in ("etc/hostname", "etc/resolv.conf"):
        assert (image.root / path).read_text() == ""
    assert [*(image.root / "tmp").iterdir()] == []
    assert [*(image.root / "var/cache/apt").rglob("*.deb")] == []
    assert [*(image.root / "var/lib/apt/lists").rglob("*Packages*")] == []
    assert not (image.root / str(ROOT).lstrip("/")).exists()
    volume, = image.settings["Volumes"]
    state = (image.root / volume.lstrip("/")).stat()
    assert (state.st_uid, state.st_gid) == image.owner()


@pytest.mark.parametrize("name", ["service", "runner"])
def test_an_image_made_again_is_the_same_file(name, files, request, folder):
    """At another moment, with the times of the first one."""
    first = files[f"nightjar-{name}"]
    made = datetime.datetime.fromisoformat(
        request.getfixturevalue(name).file.part("config")["created"].replace("Z", "+00:00"))
    subprocess.run(
        [ROOT / "deploy/images", "--no-build", "--out", folder / "again", name], check=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(int(made.timestamp()))}, timeout=3000)
    again = folder / "again" / first.name
    differing = differences(first, again)
    again.unlink()
    assert differing == []


def test_the_service_runs_as_the_documents_say(pod, service, tmp_path):
    running = Running(pod, service, tmp_path)
    ready = json.loads(running.answer)
    assert ready["status"] == "ready"
    assert "<html" in running.ask("/")
    # It fetches by the git of the image.
    until(lambda: [*running.data.rglob("HEAD")], "the copy of the commits")
    assert "git" not in str(json.loads(running.ask("/readyz"))["obstacles"])
    assert {(path.stat().st_uid, path.stat().st_gid) for path in running.data.rglob("*")} == {
        service.owner()}
    copied = pod.run(service, "--config", "/etc/nightjar/nightjar.toml", "--backup",
                     "backup.sqlite", binds=running.binds)
    assert (running.data / "backup.sqlite").exists(), copied
    status, said = pod.stop(running.process, signal.Signals[service.settings["StopSignal"]])
    assert status == 0, said


def test_the_services_image_also_has_what_it_calls(pod, service):
    assert pod.run(service, "--version", entrypoint=["nightjar"]).startswith("nightjar ")
    assert pod.run(service, "--version", entrypoint=["uv"]).startswith("uv ")
    # It is an ordinary user's, and its files cannot be changed.
    assert pod.run(service, "-u", entrypoint=["id"]) == "10000\n"
    assert "Read-only" in pod.run(service, "/usr/bin/new", entrypoint=["touch"], expected=1)


def test_the_runners_image_has_compilers_and_what_pytorch_needs(pod, runner):
    listed = pod.run(runner, "list").splitlines()
    items = json.loads((ROOT / "runner/workloads/workloads.json").read_text())["items"]
    assert listed == [item["name"] for item in items]
    for program in ("git", "uv", "g++", "cmake", "ninja"):
        assert pod.run(runner, "--version", entrypoint=[program])
    assert "CPUs that may be used" in pod.run(
        runner, "-c", "nightjar-runner doctor || test $? = 1", entrypoint=["sh"])
    # The PyTorch of this checkout, without what it depends on.
    (site, ) = (ROOT / ".cache/python/lib").glob("python3.*/site-packages")
    said = pod.run(runner, "-c", IMPORT, entrypoint=["python3"],
                   binds=[(site / name, f"/srv/{name}")
                          for name in ("torch", "torchgen", "functorch")],
                   environment={"PYTHONPATH": "/srv"})
    assert said == "True\n"


def test_the_runner_registers_as_the_pilot_of_kubernetes_starts_it(pod, service, runner, tmp_path):
    running = Running(pod, service, tmp_path)
    job = yaml.safe_load((ROOT / "deploy/kubernetes/pilot.yaml").read_text())
    (container, ) = job["spec"]["template"]["spec"]["containers"]
    environment = {entry["name"]: entry.get("value", NODE) for entry in container["env"]}
    environment |= {"SERVICE": SERVICE, "DEVICE": "cpu"}  # the doctor is advisory there
    cache = owned(tmp_path / "cache", runner)
    token = owned(tmp_path / "token", runner)
    shutil.copy(running.configuration / "runner.token", token / "token")
    os.chown(token / "token", *runner.owner())
    started = pod.start(runner, container["args"][0], entrypoint=container["command"],
                        environment=environment, binds=[(cache, "/cache"), (token, "/token")])

    def registered():
        assert started.poll() is None, started.communicate()[0]
        return json.loads(running.ask("/api/v1/runners"))["items"]

    (live, ) = until(registered, "the runner")
    assert live["name"] == NODE and live["labels"]["pool"] == "a100"
    status, said = pod.stop(started, signal.SIGTERM)
    assert status == 0, said
