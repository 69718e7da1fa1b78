"""Plays nights with real processes while faults hit them, and checks what the service says in the
end. Started by `tests/run --chaos`; see README.md.

    run.py --seed 7                 one story
    run.py --seed 7 --minutes 60    as many as begin within an hour, with seeds 7, 8, ...
"""

import argparse
import dataclasses
import datetime
import pathlib
import random
import shutil
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests" / "e2e"), str(ROOT / "tests" / "chaos")]

from chaos import WORKLOADS, Chaos  # noqa: E402
from place import enter_namespaces  # noqa: E402

NIGHT_SECONDS = 60  # that it waits for a night with faults before it publishes the next one
SETTLE_SECONDS = 900  # after the last fault, and a pause of the sender may add to it
SLOW = "slow\n"


@dataclasses.dataclass
class Cause:
    """What one commit makes worse. `kind`: python, native or memory. Where only two nightlies are
    there, a native commit cannot be told from the wheel: its issue blames nobody."""
    number: int
    kind: str
    workload: str
    factor: float
    night: int
    place_in_night: int  # number of quiet commits before it
    commit: str = ""
    subject: str = ""

    def rule(self):
        metric = "peak_cpu_memory" if self.kind == "memory" else "latency"
        file, text = f"torch/cause{self.number}.py", SLOW
        if self.kind == "native":
            file, text = "torch/lib/compiled.txt", f"cause {self.number} is {SLOW}"
        return {"when": {"workload": self.workload, "file": file, "contains": text},
                "factors": {metric: self.factor}}

    def plant(self, repository):
        native = self.kind == "native"
        repository.write(f"torch/csrc/cause{self.number}.cpp" if native else
                         f"torch/cause{self.number}.py",
                         f"cause {self.number} is {SLOW}" if native else SLOW)
        self.subject = f"Plant cause {self.number} of kind {self.kind}"
        self.commit = repository.commit(self.subject)


def commits_of(cause):
    """The commits of a culprit or a range."""
    listed = cause["commits"] if cause else []
    return [one if isinstance(one, str) else one["sha"] for one in listed]


def draw_causes(draw, nights):
    """One of each kind, each in a night and on a workload of its own; night 1 gives the levels."""
    kinds = ["python", "native", "memory"]
    draw.shuffle(kinds)
    workloads = draw.sample(WORKLOADS, len(kinds))
    when = draw.sample(range(2, nights + 1), len(kinds))
    return [Cause(number, kind, workload, draw.uniform(1.2, 1.4), night, draw.randint(0, 6))
            for number, (kind, workload, night) in enumerate(zip(kinds, workloads, when))]


class Story:
    """One seed: a quiet night, nights with faults, and a quiet one."""

    def __init__(self, folder, seed, nights):
        self.draw = random.Random(f"story {seed}")
        self.nights = nights
        self.causes = draw_causes(self.draw, nights)
        plain = {"when": {}, "metrics": {"latency": {"level": 0.010, "noise": 0.01},
                                         "peak_cpu_memory": {"level": 3e8, "noise": 0.002}}}
        self.world = Chaos(folder, seed, [plain, *(one.rule() for one in self.causes)])
        self.versions = []

    def publish(self, night):
        repository = self.world.repo
        planted = {one.place_in_night: one for one in self.causes if one.night == night}
        for number in range(self.draw.randint(7, 12)):
            if number in planted:
                planted[number].plant(repository)
            repository.grow(1)
        date = datetime.date(2026, 8, 1) + datetime.timedelta(days=night)
        self.versions.append(self.world.publish_nightly(date.isoformat()))

    def settle(self, seconds):
        """Waits; returns what is still to be done then."""
        left = ["nothing was asked yet"]

        def is_settled():
            left[:] = self.world.unfinished(self.versions)
            return not left
        try:
            self.world.wait("all to settle", is_settled, seconds)
        except AssertionError:
            pass
        return left

    def play(self):
        """Returns what is wrong, a line each."""
        self.publish(1)
        self.world.start_all()
        if left := self.settle(180):
            return ["before any fault: " + one for one in left]
        self.world.begin_faults()
        for night in range(2, self.nights + 1):
            self.publish(night)
            self.settle(NIGHT_SECONDS)
        self.world.end_faults()
        self.publish(self.nights + 1)
        begun = time.monotonic()
        left = self.settle(SETTLE_SECONDS)
        if left and (pause := self.world.longest_pause()) > 0:
            left = self.settle(pause + NIGHT_SECONDS)
        print(f"  settled {time.monotonic() - begun:.0f} s after the last fault", flush=True)
        return left + self.world.crashes + self.blame() + self.soundness()

    def blame(self):
        """What is wrong with the issues."""
        wrong = []
        issues = self.world.issues()
        regressions = self.world.rows("regressions") or []
        by_issue = {one["issue_number"]: one for one in regressions if not one["merged_into"]}
        told = {}  # by commit: how often an issue tells of it as it should
        for issue in issues:
            found = by_issue.get(issue["number"]) or {}
            named, around = commits_of(found.get("culprit")), commits_of(found.get("range"))
            cause = next((one for one in self.causes
                          if (around if one.kind == "native" else named) == [one.commit]), None)
            if not cause or (cause.kind == "native" and named):
                wrong.append(f"issue {issue['number']} blames {named}: {issue['title']}")
                continue
            told[cause.commit] = told.get(cause.commit, 0) + 1
            first = issue["body"].splitlines()[0]
            if ("Nobody is blamed" if cause.kind == "native" else cause.subject) not in first:
                wrong.append(f"issue {issue['number']} does not begin with its cause")
        for cause in self.causes:
            count = told.get(cause.commit, 0)
            if count != 1:
                wrong.append(f"{count} issues tell of the {cause.kind} culprit {cause.commit} of "
                             f"night {cause.night} ({cause.workload}, {cause.factor:.2f})")
        return wrong

    def soundness(self):
        wrong = []
        status, body = self.world.request("GET", "/readyz", token=None)
        if status != 200:
            wrong.append(f"/readyz answers {status}: {body.decode()}")
        for job in self.world.rows("jobs") or []:
            runs = self.world.get(f"/api/v1/runs?job={job['id']}&limit=500")["items"]
            orders = [run["order"] for run in runs]
            if len(orders) != len(set(orders)) or len(orders) > job["runs"] or (
                    job["state"] == "done" and len(orders) != job["runs"]):
                wrong.append(f"job {job['id']} has {len(orders)} runs, {job['runs']} were asked")
        if (found := self.world.integrity()) != "ok":
            wrong.append(f"integrity_check: {found}")
        return wrong + self.world.tracker.tell("state")["violations"]


def play(seed, nights, keep):
    """True if all was well."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nightjar-chaos-"))
    story = Story(folder, seed, nights)
    print(f"seed {seed}: " + ", ".join(
        f"{one.kind} ×{one.factor:.2f} in night {one.night}" for one in story.causes)
        + f"; disks: {story.world.place.kind_of_disk}, "
        f"networks: {'own' if story.world.place.has_namespaces else 'proxies only'}", flush=True)
    begun = time.monotonic()
    try:
        wrong = story.play()
    finally:
        story.world.stop_programs()
        story.world.keep_database()
        story.world.stop()
    for one in wrong:
        print(f"  WRONG: {one}")
    faults = len(story.world.told)
    if wrong:
        print(f"FAILED seed {seed}; again: .cache/tools/bin/python tests/chaos/run.py "
              f"--seed {seed} --nights {nights}; its logs and its database are in {folder}",
              flush=True)
    else:
        print(f"seed {seed}: {len(story.versions)} nights, {faults} faults, 3 culprits named once, "
              f"{time.monotonic() - begun:.0f} s", flush=True)
    if not wrong and not keep:
        shutil.rmtree(folder, ignore_errors=True)
    return not wrong


def main():
    enter_namespaces()
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--nights", type=int, default=6, help="with faults, besides a last one")
    parser.add_argument("--keep", action="store_true", help="the folder, if all is well, too")
    options = parser.parse_args()
    if options.nights < 4:
        parser.error("--nights must be at least 4: each of three culprits has a night of its own")
    end = time.monotonic() + options.minutes * 60
    seed, failed = options.seed, 0
    while True:
        failed += not play(seed, options.nights, options.keep)
        seed += 1
        if time.monotonic() >= end:
            break
    print(f"{seed - options.seed - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
