"""run_file.py: a person's own file, measured by the loop that measures the Python suite."""

import json
import subprocess

import pytest
import programs

NAME = "mine/sum/eval/cpu/fp32/b4/eager"
GOOD = """\
import beside

def make(case):
    rows = case.uniform("rows", case.batch, beside.WIDTH)
    return lambda: rows.sum(1)
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "beside.py").write_text("WIDTH = 64\n")
    file = tmp_path / "mine.py"
    file.write_text(GOOD)
    return file


def run(file, path="", **fields):
    """The messages; what lies in the folder `path` comes first, as the build under test does."""
    request = json.dumps({
        "workload": NAME, "version": 3, "min_iterations": 5, "seconds": 0, **fields})
    done = subprocess.run([programs.python(), programs.WORKLOADS / "run_file.py", file],
                          input=request, capture_output=True, text=True, timeout=120,
                          env={**programs.environment(), "PYTHONPATH": str(path)})
    return [json.loads(line) for line in done.stdout.splitlines()], done


def test_a_file_of_ones_own_is_measured_like_a_listed_model(file):
    (ready, *samples, result), _ = run(file)
    assert ready["torch"]["version"] and "module" not in ready
    assert len(samples) >= 5 and all(sample["slowdown"] >= 1 for sample in samples)
    assert result["event"] == "result" and result["checksum"] > 0
    assert result["metrics"]["peak_cpu_memory"][0] > 1 << 20


def test_the_module_that_is_watched_is_imported_and_said_with_its_place(file, tmp_path):
    build = tmp_path / "build"
    (build / "tiny_ops").mkdir(parents=True)
    (build / "tiny_ops" / "__init__.py").write_text("SCALE = 2\n")
    file.write_text("import tiny_ops\n"
                    + GOOD.replace("rows.sum(1)", "rows.sum(1) * tiny_ops.SCALE"))
    (ready, *_, result), _ = run(file, build, module="tiny_ops")
    assert ready["module"] == {"path": str(build / "tiny_ops")}
    assert ready["packages"]["torch"] == ready["torch"]["version"]
    assert result["event"] == "result"


def test_a_build_without_its_own_module_is_at_fault_and_another_missing_one_is_not(file):
    (error, ), _ = run(file, module="tiny_ops")
    assert (error["status"], error["reason"]) == (
        "failed", "ModuleNotFoundError: No module named 'tiny_ops'")
    file.write_text("import nowhere\n" + GOOD)
    *_, error = run(file)[0]
    assert error["status"] == "unavailable"


def test_an_exception_names_the_line_of_the_file(file):
    file.write_text(GOOD.replace("rows.sum(1)", "rows.total(1)"))
    *_, error = run(file)[0]
    assert error["status"] == "failed"
    assert error["reason"].startswith("mine.py, line 5: AttributeError:")


def test_a_file_that_makes_no_step_is_told_so(file):
    file.write_text("WIDTH = 1\n")
    *_, error = run(file)[0]
    assert error["reason"] == (
        "mine.py: there is no function make(case); it returns the step to measure")


def test_wrong_use_is_one_line(tmp_path):
    _, done = run(tmp_path / "none.py")
    assert done.returncode == 2
    assert done.stderr == f"run_file.py: there is no file {tmp_path / 'none.py'}\n"


def test_a_module_that_is_no_name_is_refused(file):
    (error, ), done = run(file, module="os; import sys")
    assert done.returncode == 2
    assert error["reason"] == "the request's 'module' is no name of a module"
