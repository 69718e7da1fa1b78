"""An issue's commands typed as printed. Service, runner, harness, pip and both searches are the
real ones; PyTorch is a few lines of Python that take a known time."""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys

import pytest
from loop_test import finish_in_noise
from world import BIN, ROOT, World, git

pytestmark = pytest.mark.timing
WORKLOAD = "python/alpha/eval/cpu/fp32/b1/eager"
SLOWER = 2  # more than a disturbed machine hides: this is about commands, not about sight

TORCH = """\
from .version import __version__
from . import version
from .work import work
from .helper import *

float32 = float64 = bfloat16 = float16 = "a type"
manual_seed = set_num_threads = set_num_interop_threads = set_flush_denormal = lambda value: None


class device:
    def __init__(self, name):
        self.type = name


class no_grad:
    def __call__(self, function):
        return function
"""
MODEL = """\
import torch


def make(case):
    def step():
        return torch.work()
    step.checksum = lambda done: 1.0
    return step
"""


def work(loops):
    return (f"def work():\n    total = 0\n    for i in range({loops}):\n"
            "        total += i * i\n    return total\n")


def checkout(folder):
    """As a built checkout of this project, with one workload."""
    programs = folder / "build" / "bin"
    programs.mkdir(parents=True)
    for name in ("nightjar", "nightjar-runner"):
        shutil.copy(BIN / name, programs / name)
    workloads = folder / "runner" / "workloads"
    shutil.copytree(ROOT / "runner" / "workloads", workloads,
                    ignore=shutil.ignore_patterns("__pycache__"))
    (workloads / "models" / "alpha.py").write_text(MODEL)
    table = {
        "items": [{"name": WORKLOAD, "version": 1, "kind": "python"}], "sizes": {"alpha/eval": {}},
        "tiny": {}}
    (workloads / "workloads.json").write_text(json.dumps(table))
    return folder


def begin(world):
    world.repo.write("torch/__init__.py", TORCH)
    world.repo.write("torch/work.py", work(15000))
    world.repo.write("torch/helper.py", "gone = None\n")
    world.repo.commit("Begin to work")


def a_day(world):
    """Twelve commits; the seventh is slow, the fifth removes a file. Returns the slow one."""
    for number in range(12):
        if number == 6:
            world.repo.write("torch/work.py", work(int(SLOWER * 15000)))
        elif number == 4:
            git(world.repo.path, "rm", "-q", "torch/helper.py")
            world.repo.write("torch/__init__.py", TORCH.replace("from .helper import *\n", ""))
        else:
            world.repo.write(f"torch/module{number}.py", f"# {number}\n")
        world.repo.commit(f"Change {number}")
    return world.repo.commits[-6]


def watched_day(folder, tree):
    """Two nightlies of `a_day`, measured for real. Returns (world, the slow commit)."""
    folder.mkdir()
    tag = f"cp3{sys.version_info.minor}"
    w = World(folder, source={"python_tag": tag},
              report={"profile_runs": 0, "directory": str(folder / "reports")},
              night={"metrics": ["latency"], "run_seconds": .1})
    try:
        begin(w)
        w.publish_nightly("2026-08-19")
        w.start_daemon()
        w.start("nightjar-runner", tree / "build/bin/nightjar-runner", "--service", w.url,
                "--token-file", w.folder / "runner.token", "--name", "real", "--cache",
                w.folder / "cache", "--python", sys.executable)
        w.wait("the first night", lambda: w.night_done(1), 120)
        planted = a_day(w)
        w.publish_nightly("2026-08-20")
        finish_in_noise(w)
    except BaseException:
        w.stop()
        raise
    return w, planted


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """(checkout, environment of a person's shell, the issue's text, the planted commit)"""
    folder = tmp_path_factory.mktemp("reproduce")
    tree = checkout(folder / "checkout")
    shell = dict(os.environ, NIGHTJAR_MACHINE_LOCK=str(folder / "lock"),
                 PIP_DISABLE_PIP_VERSION_CHECK="1",
                 PATH=f"{sys.base_prefix}/bin:{os.environ['PATH']}")
    os.environ["NIGHTJAR_MACHINE_LOCK"] = shell["NIGHTJAR_MACHINE_LOCK"]
    w = None
    try:
        # A first night on a disturbed machine is a level that hides the day's step, and one that
        # was disturbed throughout has no values.
        for attempt in range(4):
            w, planted = watched_day(folder / f"world{attempt}", tree)
            if w.issues():
                break
            w.stop()
        assert len(w.issues()) == 1
        w.kill("nightjar-runner")
        yield tree, shell, w.issues()[0].read_text(), planted
    finally:
        del os.environ["NIGHTJAR_MACHINE_LOCK"]
        if w:
            w.stop()


def blocks(issue):
    section = issue[issue.index("\n## Reproduce"):]
    section = section[:section.index("\n## ", 4)]
    return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)


def typed(commands, tree, shell):
    """What a shell prints; a command that fails ends it."""
    done = subprocess.run(["sh", "-e", "-c", commands], cwd=tree, env=shell, capture_output=True,
                          text=True, timeout=500)
    return done


def compared(commands, again, tree, shell):
    """As a person does: what is inconclusive on a disturbed machine is measured again."""
    for part in (commands, again, again):
        done = typed(part, tree, shell)
        assert done.returncode == 0, done.stdout + done.stderr
        if not re.search(r"alpha.*latency.*inconclusive", done.stdout):
            break
    return done


def locations(turns):
    """None where a turn never saw the machine undisturbed."""
    return [one["metrics"]["latency"]["location"] for one in turns]


def test_the_commands_of_an_issue_say_what_it_says(reported):
    tree, shell, issue, planted = reported
    assert planted in issue
    ends, prepare, boundary, search = blocks(issue)

    done = compared(ends, ends, tree, shell)
    assert re.search(r"alpha.*latency.*worse", done.stdout), done.stdout
    measured = {
        end: [json.loads(path.read_text())["items"][0]
              for path in sorted((tree / "reproduce").glob(f"{end}-?.json"))]
        for end in ("old", "new")}
    assert {end: {one["build"]["version"] for one in turns} for end, turns in measured.items()} == {
        "old": {"2.14.0.dev20260819+cpu"}, "new": {"2.14.0.dev20260820+cpu"}}
    turns = zip(locations(measured["old"]), locations(measured["new"]))
    ratios = [new / old for old, new in turns if old and new]
    assert statistics.median(ratios) == pytest.approx(SLOWER, rel=.1)

    done = compared(prepare + boundary, boundary[boundary.index("for round"):], tree, shell)
    assert re.search(r"alpha.*latency.*worse", done.stdout), done.stdout

    for _ in range(3):  # a measure that fails, as on a disturbed machine, ends a search
        done = typed(search, tree, shell)
        if "ended with exit code" not in done.stderr:
            break
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"^[0-9a-f]{40}", done.stdout, re.MULTILINE) == [planted], done.stdout
