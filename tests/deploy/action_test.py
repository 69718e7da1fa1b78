"""Our actions and deploy/gitlab: valid by the published schemas, and the questions of deploy/action
asked with GitHub's own payloads, against a strict double of its API. Needs no service."""

import json
import os
import re
import subprocess
import sys
import urllib.request

import jsonschema
import pytest
import yaml

from conftest import ROOT
from world import Double

ACTION = ROOT / "deploy" / "action"
SCHEMAS = ROOT / ".cache" / "testdata" / "ci"
PAYLOADS = ROOT / ".cache" / "testdata" / "webhooks-examples" / "api.github.com" / "index.json"
REPOSITORY = "Codertocat/Hello-World"  # of the payloads
# Prints the commit's level with scatter of 2 %, the same in every test.
MEASURE = """
import os, pathlib
count = pathlib.Path(os.environ["COUNT"])
number = int(count.read_text()) + 1 if count.exists() else 0
count.write_text(str(number))
print(float(pathlib.Path("level").read_text()) * (1 + 0.01 * (number * 7 % 5 - 2) / 2))
"""


@pytest.mark.parametrize("file, schema", [("action/action.yml", "github-actions.json"),
                                          ("action-runner/action.yml", "github-actions.json"),
                                          ("gitlab/nightjar.yml", "gitlab-ci.json")])
def test_it_is_valid_by_the_published_schema(file, schema):
    text = yaml.safe_load((ROOT / "deploy" / file).read_text())
    jsonschema.Draft7Validator(json.loads((SCHEMAS / schema).read_text())).validate(text)


@pytest.mark.parametrize("folder, file", [("action", "ask.py"), ("action-runner", "start.py")])
def test_each_input_of_an_action_reaches_its_script(folder, file):
    action = yaml.safe_load((ROOT / "deploy" / folder / "action.yml").read_text())
    handed = action["runs"]["steps"][-1]["env"]
    names = {f"INPUT_{name.upper().replace('-', '_')}": f"${{{{ inputs.{name} }}}}"
             for name in action["inputs"] if name != "install"}
    assert handed == names
    script = (ROOT / "deploy" / folder / file).read_text()
    read = set(re.findall(r'(?:given|number)\("(\w+)"', script)
               + re.findall(r', "([A-Z_]+)"\)', script)
               + re.findall(r'"([A-Z_]+)"', "".join(re.findall(r"for option in .*", script))))
    assert read == {name.removeprefix("INPUT_") for name in names}


def payload(event, **wanted):
    for one in json.loads(PAYLOADS.read_text()):
        if one["name"] == event:
            return next(example for example in one["examples"]
                        if all(example.get(key) == value for key, value in wanted.items()))
    raise AssertionError(event)


class Job:
    """One step of a workflow: a repository, GitHub's variables, and what it says."""

    def __init__(self, folder):
        self.folder, self.repository = folder, folder / "repository"
        (folder / "measure.py").write_text(MEASURE)
        self.git("init", "-q", self.repository, at=folder)

    def git(self, *arguments, at=None):
        return subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments],
            cwd=at or self.repository, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, level):
        (self.repository / "level").write_text(str(level))
        self.git("add", "level")
        self.git("commit", "-q", "--allow-empty", "-m", f"level {level}")
        return self.git("rev-parse", "HEAD")

    def ask(self, event, api="", **inputs):
        (self.folder / "event.json").write_text(json.dumps(event))
        for name in ("summary", "output"):
            (self.folder / name).write_text("")
        environment = {
            "PATH": f"{ROOT / 'build' / 'bin'}:{os.environ['PATH']}", "HOME": str(self.folder),
            "COUNT": str(self.folder / "count"), "RUNNER_TEMP": str(self.folder),
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"), "GITHUB_API_URL": api,
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "INPUT_REPOSITORY": str(self.repository), "INPUT_TOKEN": "ghs_token",
            "INPUT_MEASURE": f"{sys.executable} {self.folder / 'measure.py'}"}
        environment |= {f"INPUT_{name.upper()}": value for name, value in inputs.items()}
        done = subprocess.run([sys.executable, ACTION / "ask.py"], env=environment,
                              capture_output=True, text=True, check=False)
        self.said = done.stdout + done.stderr
        self.summary = (self.folder / "summary").read_text()
        pairs = (line.split("=", 1) for line in (self.folder / "output").read_text().splitlines())
        self.outputs = dict(pairs)
        return done.returncode


@pytest.fixture
def job(tmp_path):
    return Job(tmp_path)


@pytest.fixture
def github():
    double = Double("github", "--token", "ghs_token", "--repository", REPOSITORY)
    double.tell("issues", items=[{"title": "first"}, {"title": "a pull request",
                                                      "pull_request": True}])
    yield double
    double.stop()


def pull_request(job, base_level, head_level):
    event = payload("pull_request", action="synchronize")
    event["pull_request"]["base"]["sha"] = job.commit(base_level)
    event["pull_request"]["head"]["sha"] = job.commit(head_level)
    return event


def state_of(github):
    with urllib.request.urlopen(f"{github.url}/_double/state", timeout=60) as answer:
        return json.load(answer)


def test_a_slower_pull_request_fails_and_its_one_comment_is_edited(job, github):
    slower = pull_request(job, 1.0, 1.2)
    number = slower["number"]
    assert job.ask(slower, api=github.url, ask="compare", comment="speed") == 1, job.said
    assert job.outputs == {"outcome": "worse"} and "  worse |" in job.summary
    assert job.ask(pull_request(job, 1.2, 1.2), api=github.url, ask="compare",
                   comment="speed") == 0, job.said
    state = state_of(github)
    assert state["violations"] == []
    issue = next(one for one in state["issues"] if one["number"] == number)
    written, = issue["comments"]
    assert "Compared with its base: fine" in written["body"] and "worse" not in written["body"]
    assert job.git("worktree", "list").count("\n") == 0


def test_a_token_that_may_not_comment_is_no_failure(job, github):
    github.tell("faults", items=[{"on": "POST .*comments", "kind": "404"}])
    assert job.ask(pull_request(job, 1.0, 1.0), api=github.url, ask="compare", comment="a") == 0
    assert "::warning::cannot comment on pull request 2" in job.said
    assert "Compared with its base: fine" in job.summary


def test_a_push_tells_the_range_of_a_search(job):
    event = payload("push")
    event["before"] = job.commit(1.0)
    for _ in range(3):
        job.commit(1.0)
    culprit = job.commit(1.3)
    event["after"] = job.commit(1.3)
    assert job.ask(event, ask="bisect") == 1, job.said
    assert job.outputs == {"outcome": "culprit", "culprits": culprit}
    assert "level 1.3" in job.summary and "real with probability" in job.summary
    assert job.ask(event, ask="bisect", fail_on="never") == 0


def test_a_series_is_watched(job, tmp_path):
    series = tmp_path / "series.csv"
    series.write_text("".join(f"{i},{(1.0 if i < 12 else 1.3) + i % 3 / 100}\n" for i in range(24)))
    assert job.ask({}, ask="detect", series=str(series)) == 1, job.said
    assert job.outputs == {"outcome": "worse"} and "12" in job.summary
    assert job.ask({}, ask="detect", series=str(series), direction="higher") == 0


@pytest.mark.parametrize("inputs, says", [
    ({"ask": "guess"}, "there is no question 'guess'"),
    ({"ask": "detect"}, "the input 'series' is needed"),
    ({"ask": "compare"}, "this event has no pull request"),
    ({"ask": "bisect", "good": "0" * 40}, "this event tells no range"),
])
def test_wrong_use_is_one_clear_line(job, inputs, says):
    assert job.ask({}, **inputs) == 2
    assert says in job.said and "Traceback" not in job.said
