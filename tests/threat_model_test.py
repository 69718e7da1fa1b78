"""docs/threat-model.md: each principal says something of each resource, and each limit that it
promises names a test that exists. A test is named by its file, less the ending, and its title or
the beginning of it."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/threat-model.md"
RESOURCES = ["secrets", "the record", "others' work", "memory and disk", "the machine"]
TEST = re.compile(r"`(\w+_test)`: \"([^\"]+)\"")


def words(text):
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()


def titles():
    """Test file, less the ending -> all of its text as words."""
    found = {}
    for path in (ROOT / "tests").rglob("*_test.*"):
        if path.suffix in (".cpp", ".py"):
            joined = re.sub(r'"\s*\n\s*"', "", path.read_text())  # a title on two lines
            found[path.stem] = found.get(path.stem, "") + " " + words(joined)
    return found


def principals(page):
    """Heading -> {resource: [cells after it]} of each section of the chapter that lists them."""
    chapter = page.split("\n## What each can do at most\n")[1].split("\n## ")[0]
    found = {}
    for section in chapter.split("\n### ")[1:]:
        heading, _, body = section.partition("\n")
        rows = [[cell.strip() for cell in line.strip("|").split(" | ")]
                for line in body.splitlines() if line.startswith("| ")]
        found[heading] = {row[0]: row[1:] for row in rows[1:]}
    return found


TABLE = principals(PAGE.read_text())


@pytest.mark.parametrize("principal", TABLE)
def test_a_principal_says_something_of_each_resource(principal):
    assert list(TABLE[principal]) == RESOURCES


@pytest.mark.parametrize("principal", TABLE)
def test_a_limit_names_the_test_that_shows_it(principal):
    known = titles()
    for resource, cells in TABLE[principal].items():
        shown = TEST.findall(cells[-1])
        assert shown or cells[-1] == "–", f"{principal}, {resource}: names no test"
        for file, title in shown:
            assert words(title) in known.get(file, ""), f"{file} has no test '{title}'"


def test_every_other_test_that_the_page_names_exists():
    known = titles()
    named = TEST.findall(PAGE.read_text())
    assert named
    assert [one for one in named if words(one[1]) not in known.get(one[0], "")] == []
