"""A day of a small C++ extension of PyTorch (torch_spline_conv), whose builds are made here: the
two nightlies by hand, those that the search asks for by a builder. It offers what another day
does."""

import datetime
import hashlib
import os
import pathlib
import shutil
import subprocess

import source_history
from stage import BIN, PYTHON, ROOT, Broken, Stage

PACKAGE = "torch_spline_conv==1.2.2"
SHA256 = "ed45a81da29f774665dbdd4709d7e534cdf16d2e7006dbd06957f35bd09661b2"
WORKLOADS = pathlib.Path(__file__).with_name("spline") / "workloads.toml"
RECIPE = ROOT / "deploy" / "recipes" / "extension.toml"

FURTHER = """\
[project]
file = "project.toml"
"""

PROJECT = """\
[project]
name = "{package}"
package = "{package}"
recipe = "{recipe}"
"""


def source_distribution(kept=ROOT / ".cache" / "sources"):
    """The package's source distribution. It is downloaded once."""
    file = kept / "torch_spline_conv-1.2.2.tar.gz"
    if not file.exists():
        kept.mkdir(parents=True, exist_ok=True)
        # Without build isolation pip asks setup.py for the name, which imports this PyTorch.
        done = subprocess.run([PYTHON, "-m", "pip", "download", "--quiet", "--no-deps",
                               "--no-binary", ":all:", "--no-build-isolation", "--dest", kept,
                               PACKAGE], capture_output=True, text=True)
        if done.returncode or not file.exists():
            raise Broken(f"cannot download {PACKAGE}: {(done.stderr or 'no file').strip()}")
    if hashlib.sha256(file.read_bytes()).hexdigest() != SHA256:
        raise Broken(f"{file} is not the source distribution that is known; remove it")
    return file


def python_tag():
    said = subprocess.run(
        [PYTHON, "-c", "import sys; print('cp%d%d' % sys.version_info[:2])"],
        capture_output=True, text=True)
    if said.returncode:
        raise Broken(f"there is no Python in {PYTHON.parent}; run deploy/build")
    return said.stdout.strip()


class SourceStage(Stage):
    """The runner of a SourceDay measures and builds."""

    def __init__(self, folder, day):
        super().__init__(folder)
        self.day = day

    def write_configuration(self, repository):
        (self.folder / "shelf").mkdir(exist_ok=True)
        (self.folder / "project.toml").write_text(PROJECT.format(
            package=self.day.package, recipe=self.day.recipe))
        self.configure(roles=["builder"], source='directory = "shelf"', variant="cpu",
                       python_tag=python_tag(), repository=repository,
                       workloads=[self.day.workloads], metrics=["latency"], further=FURTHER)

    def start_runner(self):
        self.start("nightjar-runner", "--service", self.service.address, "--token-file",
                   self.folder / "builder.token", "--name", "demo", "--cache",
                   self.folder / "runner", "--python", PYTHON, "--commands", self.day.commands,
                   "--builder", "--work", self.folder / "builder")
        self.wait(lambda: self.service.items("/api/v1/runners"), 120, "the runner to register")


class SourceDay:
    package, workloads = "torch_spline_conv", "spline/**"
    recipe, commands = RECIPE, WORKLOADS

    def __init__(self, options):
        self.seed = options.seed
        self.folder = self.stage = None
        self.commits, self.planted, self.nightlies = [], [], []

    def make(self, folder, say):
        archive = source_distribution()
        say(f"making a day of {PACKAGE} out of its source distribution (seed {self.seed})")
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        today = datetime.datetime.now(datetime.timezone.utc).date()
        self.commits, self.planted = source_history.write(
            archive, str(self.folder / "repository.git"), self.seed, today)
        self.build_nightlies(today, say)

    def build_nightlies(self, today, say):
        """Makes the wheels of the day's ends. main goes back to the first."""
        for date, commit in ((today - datetime.timedelta(days=1), self.commits[0]),
                             (today, self.commits[-1])):
            say(f"compiling the nightly of {date}, as the project's own builds do")
            self.nightlies.append({"date": str(date), **self._build(commit)})
        say(f"{len(self.commits) - 1} commits and two nightlies")
        self._set_main(self.commits[0])

    def _build(self, commit):
        """Makes the wheel of a commit with the folder that the builder has later."""
        place = self.folder / "wheels" / commit[:12]
        done = subprocess.run([
            BIN / "nightjar-runner", "build", commit, "--recipe", self.recipe, "--repo",
            self.folder / "repository.git", "--python", PYTHON, "--work",
            self.folder.parent / "builder", "--out", place, "--json"], capture_output=True,
            text=True)
        wheels = list(place.rglob("*.whl"))
        if done.returncode or len(wheels) != 1:
            lines = (done.stderr or done.stdout).strip().splitlines()
            raise Broken(f"cannot build {commit[:12]}: {lines[-1] if lines else 'no message'}")
        return {"wheel": wheels[0], "version": wheels[0].name.split("-")[1]}

    def _set_main(self, commit):
        source_history.history.git(str(self.folder / "repository.git"), "update-ref",
                                   "refs/heads/main", commit)

    def open(self, stage):
        self.stage = stage
        stage.write_configuration(self.folder / "repository.git")

    def publish(self, count):
        """Puts the nightly on the shelf, once main has its commits."""
        wheel = self.nightlies[count - 1]["wheel"]
        self._set_main(self.commits[0 if count == 1 else -1])
        shelf = self.stage.folder / "shelf"
        shutil.copyfile(wheel, shelf / ".new")  # not yet listed
        os.replace(shelf / ".new", shelf / wheel.name)

    def truth(self):
        return {"commits": len(self.commits) - 1, "planted": self.planted}

    def check(self):
        """Nothing outside is asked for."""

    def remarks(self, end):
        return [f"{len(self.made_from_source(end))} builds compiled by the builder"]

    def made_from_source(self, snapshot):
        """The commits that the builder compiled."""
        return [build["commit"] for build in snapshot["builds"]
                if build["kind"] == "source" and build["state"] == "proved"]

