"""tests/lint english, in a checkout of one file."""

import pathlib
import shutil
import subprocess

TESTS = pathlib.Path(__file__).resolve().parents[1]


def lint(tmp_path, name, text):
    (tmp_path / "tests").mkdir()
    shutil.copy(TESTS / "lint", tmp_path / "tests")
    shutil.copytree(TESTS / "lint.d", tmp_path / "tests" / "lint.d")
    (tmp_path / name).write_text(text)
    subprocess.run(["git", "-C", tmp_path, "init", "-q"], check=True)
    subprocess.run(["git", "-C", tmp_path, "add", "."], check=True)
    done = subprocess.run([tmp_path / "tests" / "lint", "english"], capture_output=True, text=True,
                          timeout=60)
    return done.returncode, done.stdout.splitlines()


def test_literal_translations_are_refused_by_file_and_line(tmp_path):
    text = ('// Of every night.\nint a();  // Of one.\n# Read anew.\n"""Of a class."""\n'
            'so many runs\nand so\n// long. That is it.\n')
    status, said = lint(tmp_path, "sample.cpp", text)
    assert status == 1 and said[-1] == "0 passed, 1 failed"
    assert [line.split(": ")[0] for line in said[:-2]] == [
        "sample.cpp:1", "sample.cpp:2", "sample.cpp:3", "sample.cpp:4", "sample.cpp:5",
        "sample.cpp:6"]


def test_plain_english_and_names_of_tests_are_accepted(tmp_path):
    text = ('// Returns all of them. Official.\n# There are so many runs that\n# it stops.\n'
            'so much\nas that\nTEST_CASE(\n    "what is read anew, so many times") {\n')
    assert lint(tmp_path, "sample.cpp", text) == (0, ["1 passed, 0 failed"])
