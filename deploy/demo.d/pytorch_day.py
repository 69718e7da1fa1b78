"""The demo's day of PyTorch: made out of the installed wheel, with an index of nightlies and CI's
wheels on loopback. Another kind of day offers what PyTorchDay does."""

import datetime
import json
import os
import pathlib

import ci_day
import index_server
import make_day
from loopback import place
from stage import ROOT, Broken


def find_wheel():
    """The wheel for the Python in .cache/python."""
    for library in (ROOT / ".cache" / "python" / "lib").glob("python3.*"):
        tag = "cp" + library.name.removeprefix("python").replace(".", "")
        for path in sorted((ROOT / ".cache" / "wheels").glob(f"torch-*-{tag}-*.whl"), reverse=True):
            return str(path)
    raise Broken(
        "there is no wheel of PyTorch for .cache/python in .cache/wheels; run deploy/build with a "
        "network"
    )


def today():
    return datetime.datetime.now(datetime.timezone.utc).date()


class PyTorchDay:
    def __init__(self, options):
        self.seed, self.quiet = options.seed, options.quiet_day
        self.base = find_wheel()
        self.folder = self.content = self.archives = self.ci = None
        self.ends = []

    def plan(self):
        """Lines that say what is drawn. Nothing is made."""
        return make_day.Drawn(self.base, self.seed, self.quiet, today()).plan()

    def make(self, folder, say):
        say(f"making a day of PyTorch out of {os.path.basename(self.base)} (seed {self.seed})")
        os.mkdir(folder)
        self.folder = folder
        self.content, self.archives = make_day.make_day(self.base, folder, self.seed, self.quiet,
                                                        today())
        say(f"{self.content['commits']} commits, {self.content['native']} of them native, in "
            f"{self.content['groups']} native groups; wheels: two nightlies, and CI's of "
            f"{self.content['ci_wheels']} groups")

    def open(self, stage):
        """Starts what builds come from, and writes the configuration of a service for it."""
        index, wheels, stop_index = index_server.start(self.folder)
        self.ends.append(stop_index)
        self.ci, address, stop_ci = place.start(ci_day.REPOSITORY)
        self.ends.append(stop_ci)
        stage.write_configuration(index, wheels, address, self.content)

    def publish(self, count):
        """Publishes the first `count` nightlies. CI's wheels are there before the second."""
        if count > 1:
            ci_day.publish(self.ci, self.content, self.archives)
        make_day.publish(self.folder, self.content, count)

    @property
    def nightlies(self):
        return self.content["nightlies"]

    def truth(self):
        return json.loads(pathlib.Path(self.folder, "truth.json").read_text())

    def check(self):
        """Raises Broken if the service asked for something that GitHub or S3 would refuse."""
        if self.ci.violations:
            raise Broken(f"GitHub or S3 would not have answered: {self.ci.violations[0]}")

    def remarks(self, _end):
        """Further lines about the day's end."""
        return []

    def close(self):
        for end in self.ends:
            end()
