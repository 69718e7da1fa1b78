import ast
import random

import pytest

import edits

SOURCE = '''"""A module."""


class Thing(object):
    """
    A thing.
    """

    def __init__(self, size):
        self.size = size

    def total(self, values):
        """
        Adds up.
        """
        res = 0
        for i in range(0, n):
            res = res + values[i]
        return res

    def keyword(self, values):
        tmp = dict(res=1)
        return sorted(values, key=tmp)

    def nested(self, values):
        idx = 1
        return [idx for value in values]
'''


def stripped(text):
    """The program without comments and docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node,
                      (ast.FunctionDef, ast.ClassDef, ast.Module)) and ast.get_docstring(node):
            node.body[0].value.value = ""
    return ast.dump(tree)


@pytest.mark.parametrize("kind", ["comment", "docstring"])
@pytest.mark.parametrize("seed", range(5))
def test_comments_and_docstrings_leave_the_program_alone(kind, seed):
    text, _ = edits.apply(kind, random.Random(seed), SOURCE)
    assert text != SOURCE
    assert stripped(text) == stripped(SOURCE)


@pytest.mark.parametrize("seed", range(10))
def test_a_rename_takes_every_place_of_a_local_name_and_no_other(seed):
    text, what = edits.apply("rename", random.Random(seed), SOURCE)
    if "res in total" in what:
        assert "result = result + values[i]" in text and "return result" in text
    else:
        assert what == "Spell out tmp in keyword"
        assert "scratch = dict(res=1)" in text and "key=scratch" in text


def test_names_that_nested_scopes_see_are_not_renamed():
    assert all("nested" not in edits.apply("rename", random.Random(seed), SOURCE)[1]
               for seed in range(30))


def test_an_annotation_is_added_once():
    text, _ = edits.apply("annotation", random.Random(1), SOURCE)
    assert "def __init__(self, size) -> None:" in text
    assert edits.apply("annotation", random.Random(1), text) is None


def test_old_idioms_are_shortened():
    seen = {edits.apply("modernise", random.Random(seed), SOURCE)[1] for seed in range(20)}
    assert seen == {"Drop range's default start", "Drop the explicit object base"}


def test_what_would_not_compile_is_refused(monkeypatch):
    monkeypatch.setitem(edits.KINDS, "comment", lambda r, t: (t + "\n  bad indent(", "x"))
    assert edits.apply("comment", random.Random(1), SOURCE) is None


@pytest.mark.parametrize("kind", sorted(edits.KINDS))
def test_a_file_of_a_later_python_is_left_alone(kind):
    later = "def later[T](a: int):\n    res = a\n    return [\n"
    assert edits.apply(kind, random.Random(1), later) is None
