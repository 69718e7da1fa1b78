"""A project that is not PyTorch, from its wheels to the commit that is blamed: a package with one C
unit, whose builds the search asks a real builder for, measured for real. deploy/demo --source does
the same with a public project, which takes longer."""

import datetime
import pathlib
import sys

import pytest
from world import ROOT, git

sys.path[:0] = [str(ROOT / "deploy" / "demo.d")]

import summary  # noqa: E402
from demo import Progress, Stopwatch, run_day  # noqa: E402
from source_day import SourceDay, SourceStage  # noqa: E402

MAKE = """\
import base64, hashlib, os, subprocess, zipfile
day, commit = os.environ["NIGHTJAR_COMMIT_DAY"], os.environ["NIGHTJAR_COMMIT"]
info = f"tiny_ops-1.0.dev{day}+cpu.g{commit}"
subprocess.run(["cc", "-O1", "-shared", "-fPIC", "unit.c", "-o", "unit.so"], check=True)
files = {f"tiny_ops/{name}": open(f"tiny_ops/{name}", "rb").read()
         for name in os.listdir("tiny_ops") if name.endswith(".py")}
files["tiny_ops/unit.so"] = open("unit.so", "rb").read()
files[f"{info}.dist-info/METADATA"] = (
    f"Metadata-Version: 2.1\\nName: tiny-ops\\nVersion: {info.split('-')[1]}\\n\\n").encode()
def line(path, text):
    digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(text)}\\n"
record = "".join(line(*item) for item in files.items())
os.makedirs("dist")
with zipfile.ZipFile(f"dist/{info}-py3-none-any.whl", "w") as wheel:
    for path, text in files.items(): wheel.writestr(path, text)
    wheel.writestr(f"{info}.dist-info/RECORD", record + f"{info}.dist-info/RECORD,,\\n")
"""
RECIPE = """\
name = "tiny_ops"
module = "tiny_ops"
commands = ["python make.py"]
wheel = "dist/tiny_ops-*.whl"
"""
PACKAGE = """\
import ctypes, pathlib
import torch  # the runner's own
unit = ctypes.CDLL(str(pathlib.Path(__file__).with_name("unit.so")))
def work(): return torch.tensor([float(unit.work(400000))])
"""
UNIT = """\
int work(int n) {{
  volatile int sum = 0;
  for (int i = 0; i < n{more}; ++i) sum += i & 1;
  return sum / n + {number};
}}
"""
WORKLOAD = """\
import tiny_ops
def make(case): return tiny_ops.work
"""
COMMANDS = """\
[[workload]]
name = "tiny/work/eval/cpu/fp32/b1/eager"
command = ["{python}", "{workloads}/run_file.py", "work.py"]
"""
# One commit each: a native one, a Python one, ... Number 4 makes the loop half as long again.
DAY = ["unit", "python", "unit", "slow", "python", "unit", "docs"]
CULPRIT = DAY.index("slow")


class TinyDay(SourceDay):
    package, workloads = "tiny_ops", "tiny/**"

    def __init__(self, folder):
        self.seed = 1
        self.stage, self.folder = None, folder / "day"
        self.commits, self.planted, self.nightlies = [], [], []
        self.recipe, self.commands = folder / "recipe.toml", folder / "commands.toml"
        self.recipe.write_text(RECIPE)
        self.commands.write_text(COMMANDS)
        (folder / "work.py").write_text(WORKLOAD)

    def make(self, folder, say):
        self.today = datetime.datetime.now(datetime.timezone.utc).date()
        repository = pathlib.Path(folder) / "repository.git"
        (repository / "tiny_ops").mkdir(parents=True)
        git(repository, "init", "-q", "-b", "main")
        (repository / "make.py").write_text(MAKE)
        (repository / "tiny_ops" / "__init__.py").write_text(PACKAGE)
        self.write(repository, "unit", 0)
        for number, kind in enumerate(DAY, 1):
            self.write(repository, kind, number)
        git(repository, "checkout", "-q", "--detach")
        self.planted = [{"commit": self.commits[CULPRIT + 1], "metric": "latency",
                         "subject": "slow"}]
        self.build_nightlies(self.today, say)

    def write(self, repository, kind, number):
        if kind in ("unit", "slow"):
            self.more = "" if number <= CULPRIT else " + n / 2"
            (repository / "unit.c").write_text(UNIT.format(more=self.more, number=number))
        elif kind == "python":
            (repository / "tiny_ops" / "more.py").write_text(f"NUMBER = {number}\n")
        else:
            (repository / "README.md").write_text(f"{number}\n")
        git(repository, "add", "-A")
        day = self.today - datetime.timedelta(days=number == 0)
        git(repository, "commit", "-q", "-m", f"{kind} {number}",
            date=f"{day}T00:{number:02d}:00Z")
        self.commits.append(git(repository, "rev-parse", "HEAD"))


@pytest.mark.timing
def test_a_slow_down_in_c_of_another_package_is_blamed_by_builds_from_source(tmp_path):
    progress = Progress()  # shown if this fails
    day = TinyDay(tmp_path)
    day.make(str(day.folder), progress.say)
    stage = SourceStage(tmp_path, day)
    day.open(stage)
    stage.start_service()
    try:
        stage.start_runner()
        end = run_day(stage, day, progress, Stopwatch())
    finally:
        stage.stop()
    result = summary.summarise(day.truth(), end, {})
    assert summary.is_right(result)
    made = day.made_from_source(end)
    assert 1 <= len(made) <= 3  # one a native group, never one a commit
    issue = next((tmp_path / "reports").rglob("*.md")).read_text()
    assert "--no-deps" in issue and "only tiny_ops itself differs" in issue
