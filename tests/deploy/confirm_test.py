"""A failed test runs again before it is believed (tests/support/run_tests.py)."""

import importlib.util
import pathlib
import shutil
import textwrap

import pytest

FILE = pathlib.Path(__file__).resolve().parents[1] / "support" / "run_tests.py"
spec = importlib.util.spec_from_file_location("run_tests", FILE)
run_tests = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run_tests)


@pytest.fixture
def tally(tmp_path, monkeypatch):
    """In a checkout that has the settings of pytest only."""
    reports = tmp_path / "reports"
    for folder in (reports, tmp_path / "tests"):
        folder.mkdir()
    shutil.copy(FILE.parents[1] / "pytest.ini", tmp_path / "tests")
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    return run_tests.Tally({"PATH": "/usr/bin:/bin", "TIMES": str(tmp_path / "times")}, reports)


def outcome(tally):
    tally.confirm()
    return tally.passed, tally.failed, tally.unsteady


def failing_file(folder, *, when, count=1):
    """A file of `count` tests that fail in the runs of `when`, of which the first has the number 1;
    and one test that always passes."""
    file = folder / "some_test.py"
    file.write_text(textwrap.dedent(f"""
        import os
        import pathlib
        import pytest

        @pytest.mark.parametrize("number", range({count}))
        def test_it(number):
            times = pathlib.Path(os.environ["TIMES"] + str(number))
            times.write_text((times.read_text() if times.exists() else "") + "x")
            assert len(times.read_text()) not in {when}

        def test_another():
            pass
        """))
    return file


@pytest.mark.parametrize("when, expected", [
    ([], (2, 0, 0)),
    ([1], (2, 0, 1)),
    ([1, 2], (1, 1, 0)),
    ([1, 3], (1, 1, 0)),
])
def test_a_failure_is_unsteady_only_if_it_passes_each_time_that_it_runs_again(tally, tmp_path, when,
                                                                             expected):
    tally.pytest("some", [failing_file(tmp_path, when=when)])
    assert outcome(tally) == expected


def test_many_failures_at_once_are_believed(tally, tmp_path):
    many = run_tests.MOST_CONFIRMED + 1
    tally.pytest("some", [failing_file(tmp_path, when=[1], count=many)])
    assert outcome(tally) == (1, many, 0)


def test_a_failure_of_a_run_that_ends_with_0_is_believed(tally, tmp_path):
    file = failing_file(tmp_path, when=[1])
    file.write_text("import atexit\nimport os\natexit.register(os._exit, 0)\n" + file.read_text())
    tally.pytest("some", [file])
    assert outcome(tally) == (1, 1, 0)


def test_a_file_that_cannot_be_read_is_a_failure(tally, tmp_path):
    file = tmp_path / "some_test.py"
    file.write_text("import no_such_module\n")
    tally.pytest("some", [file])
    assert outcome(tally) == (0, 1, 0)


def catch_program(folder, *, again="exit 0", first="true", kind="failure", assertions=1):
    """Speaks as Catch2's programs do. One of its two tests fails in the first run, with a number of
    `assertions`, in which it also does `first`; `again` is what it does with the list of tests in
    "$chosen". `kind`: error, where a test throws."""
    said = f"<{kind} message='1 == 2' type='CHECK'>FAILED: at some_test.cpp:7</{kind}>"
    program = folder / "test_some"
    program.write_text(textwrap.dedent(f"""\
        #!/usr/bin/env bash
        if [[ $1 == --reporter ]]; then
          cat >"$4" <<'END'
        <testsuites><testsuite>
        <testcase classname="test_some.global" name="Well, it is so"/>
        <testcase classname="test_some.global" name="Of two, one is bad/here">
        {said * assertions}</testcase>
        </testsuite></testsuites>
        END
          {first}
          exit {assertions}
        fi
        chosen=${{@: -1}}  # the last argument
        {again}
        """))
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize("assertions", [1, 2])
@pytest.mark.parametrize("kind", ["failure", "error"])
def test_a_failure_of_a_program_is_shown_and_runs_again_by_its_name(tally, tmp_path, capsys, kind,
                                                                    assertions):
    tally.program(catch_program(tmp_path, again=r'[[ $(<"$chosen") == "Of two\, one is bad*" ]]',
                                kind=kind, assertions=assertions))
    assert outcome(tally) == (2, 0, 1)
    shown = capsys.readouterr().out
    assert "1 == 2" in shown and "some_test.cpp:7" in shown and "unsteady" in shown


def test_a_failure_of_a_program_that_comes_again_is_confirmed(tally, tmp_path):
    tally.program(catch_program(tmp_path, again="exit 1"))
    assert outcome(tally) == (1, 1, 0)


def test_a_program_that_crashes_is_believed(tally, tmp_path):
    tally.program(catch_program(tmp_path, first="kill -SEGV $$"))
    assert outcome(tally) == (1, 1, 0)


@pytest.mark.parametrize("kind", ["ASAN", "UBSAN", "TSAN"])
def test_what_a_sanitizer_reports_is_believed_though_every_test_passes(tally, tmp_path, kind):
    file = tmp_path / "some_test.py"
    file.write_text(textwrap.dedent(f"""
        import os

        def test_it():
            [path] = [word.removeprefix("log_path=")
                      for word in os.environ["{kind}_OPTIONS"].split(":")
                      if word.startswith("log_path=")]
            with open(path + ".nightjard.17", "w") as report:
                report.write("WARNING: data race")
        """))
    tally.pytest("some", [file])
    assert outcome(tally) == (1, 1, 0)
