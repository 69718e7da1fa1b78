"""What the author of a workload reads when it is wrong: file, line and exception of the author's
own code, and which key of workloads.json is missing."""

import json
import os
import pathlib
import shutil
import subprocess
import textwrap

import pytest
import programs

BIN = pathlib.Path(os.environ.get("NIGHTJAR_BIN", programs.ROOT / "build" / "bin")).resolve()
NAME = "python/mine/eval/cpu/fp32/b4/eager"
TABLE = {
    "items": [{"name": NAME, "version": 1, "kind": "python"}], "sizes": {"mine/eval": {"width": 8}}}
GOOD = """\
    import torch
    from torch import nn


    def forward(layer, inputs):
        return layer(inputs)


    def make(case):
        layer = case.ready(nn.Linear(case.width, 3))
        inputs = case.uniform("inputs", case.batch, case.width)
        return lambda: forward(layer, inputs).sum()
    """


@pytest.fixture
def suite(tmp_path):
    """A copy of the workloads folder whose only workload is to be written."""
    folder = tmp_path / "workloads"
    shutil.copytree(programs.WORKLOADS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "workloads.json").write_text(json.dumps(TABLE))
    return folder


def ran(folder, text):
    """The last answer and standard error."""
    if text is not None:
        (folder / "models/mine.py").write_text(textwrap.dedent(text))
    done = subprocess.run([programs.python(), folder / "run.py"], input=programs.request(NAME),
                          text=True, capture_output=True, env=programs.environment(), timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def test_a_workload_as_the_page_describes_it_runs(suite):
    assert ran(suite, GOOD)[0]["event"] == "result"


@pytest.mark.parametrize("change, reason", [
    (("case.uniform(\"inputs\", case.batch, case.width)",
      "case.uniform(\"inputs\", case.batch, 5)"),
     "models/mine.py, line 6: RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x5 and 8x3)"
     ),
    (("case.width, 3", "case.height, 3"),
     'models/mine.py, line 10: AttributeError: the case has no "height": the sizes of "mine/eval" '
     "in workloads.json are width"),
    (("case.uniform(", "case.uniforms("),
     'models/mine.py, line 11: AttributeError: the case has no "uniforms": the sizes of '
     '"mine/eval" in workloads.json are width, and every case has backend, batch, device, '
     "dtype, evaluation, integers, network, "
     "precision, ready, task, training, uniform; did you mean case.uniform?"),
    (("return lambda: forward(layer, inputs).sum()",
      "return case.evaluation(nn.Softmax(dim=7), inputs)"),
     "models/mine.py, line 12: IndexError: Dimension out of range (expected to be in range of "
     "[-2, 1], but got 7)"
     ),
    (("return lambda: forward(layer, inputs).sum()", "return nn.Linear(3, 3)"),
     "models/mine.py, line 9: TypeError: "),
    (("def make(case):", "def make(case)"), "models/mine.py, line 9: SyntaxError: "),
    (("import torch\n", "import torch\nraise ValueError('mine')\n"),
     "models/mine.py, line 2: ValueError: mine"),
    (("def make", "def build"),
     "models/mine.py: there is no function make(case); it returns the step to measure"),
    (("return lambda:", "lambda:"),
     "models/mine.py: make(case) returned NoneType; it must return a step"),
    ((".sum()", ".sum().item()"),
     "the step returned float; it must return a tensor, for the checksum (models/mine.py, line 12)"
     ), ])
def test_the_reason_names_file_line_and_exception_of_the_authors_code(suite, change, reason):
    text = textwrap.dedent(GOOD)
    assert change[0] in text
    last, _ = ran(suite, text.replace(*change))
    assert (last["event"], last["status"]) == ("error", "failed")
    assert last["reason"].startswith(reason), last["reason"]


def test_the_traceback_shows_the_authors_frames_alone(suite):
    _, said = ran(suite, textwrap.dedent(GOOD).replace("case.batch, case.width)", "case.batch, 5)"))
    assert said.splitlines() == [
        "Traceback, frames of Nightjar and of libraries left out:",
        "  models/mine.py, line 12", "    return lambda: forward(layer, inputs).sum()",
        "  models/mine.py, line 6", "    return layer(inputs)",
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x5 and 8x3)"]


def test_the_traceback_of_a_usual_step_shows_the_line_that_made_it(suite):
    _, said = ran(
        suite,
        textwrap.dedent(GOOD).replace("return lambda: forward(layer, inputs).sum()",
                                      "return case.evaluation(nn.Softmax(dim=7), inputs)"))
    assert said.splitlines() == [
        "Traceback, frames of Nightjar and of libraries left out:",
        "  models/mine.py, line 12", "    return case.evaluation(nn.Softmax(dim=7), inputs)",
        "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 7)"]


@pytest.mark.parametrize("change", [("def make", "def build"), ("return lambda:", "lambda:"),
                                    (".sum()", ".sum().item()")])
def test_what_the_reason_says_in_full_has_no_traceback(suite, change):
    last, said = ran(suite, textwrap.dedent(GOOD).replace(*change))
    assert (last["status"], said) == ("failed", "")


def test_a_model_without_a_file_is_told_which_file_it_needs(suite):
    assert ran(suite, None)[0]["reason"] == (
        f"there is no file models/mine.py; {NAME} needs one with a function make(case)")


def test_a_missing_key_is_told_by_the_program_alone_too(suite):
    (suite / "workloads.json").write_text(json.dumps({**TABLE, "sizes": {}}))
    assert 'workloads.json: ' + NAME + ': key "mine/eval" is missing in "sizes"' in ran(
        suite, GOOD)[0]["reason"]
    (suite / "workloads.json").write_text("{")
    assert "workloads.json: no JSON" in ran(suite, GOOD)[0]["reason"]


def measure(suite, *more):
    return subprocess.run([
        BIN / "nightjar-runner", "measure", NAME, "--workloads", suite, "--runs", "1", "--seconds",
        "0.1", "--python",
        programs.python(), *more], capture_output=True, text=True, timeout=300)


def test_a_missing_key_is_said_before_anything_runs(suite):
    (suite / "workloads.json").write_text(
        json.dumps({**TABLE, "items": [{"name": NAME, "version": 1}]}))
    done = measure(suite)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f'nightjar-runner: {suite}/workloads.json: {NAME}: key "kind" is missing; it needs '
        '"python" '
        'or "native"\n')


def test_measure_shows_the_traceback_and_keeps_it_in_json(suite):
    (suite /
     "models/mine.py").write_text("import torch\n\n\ndef make(case):\n    raise KeyError('mine')\n")
    done = measure(suite, "--json")
    assert done.returncode == 1
    [item] = json.loads(done.stdout)["items"]
    assert item["reason"] == "models/mine.py, line 5: KeyError: 'mine'"
    assert item["details"].splitlines()[1:] == [
        "  models/mine.py, line 5", "    raise KeyError('mine')", "KeyError: 'mine'"]
    assert item["details"] in done.stderr
    table = measure(suite)
    assert table.stdout.splitlines()[-1] == f"{NAME}: {item['reason']}"
