import os
import sys
import types

import pytest

from world import ROOT, World

sys.path.append(str(ROOT / "tests" / "support" / "history"))

import make
from browser import Browser
from issuer import JobIssuer

# Files of tests that run side by side measure nothing that anybody judges: none waits for another.
if "PYTEST_XDIST_WORKER" in os.environ and "NIGHTJAR_MACHINE_LOCK" in os.environ:
    os.environ["NIGHTJAR_MACHINE_LOCK"] += "." + os.environ["PYTEST_XDIST_WORKER"]


@pytest.fixture(scope="session", autouse=True)
def searches_are_kept_elsewhere(tmp_path_factory):
    """What `nightjar bisect run` keeps without --state would stay in the home of whoever tests."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


# The files that take longest begin, since two run side by side and none is divided.
LONG = ["gpu_agent", "pod", "environment", "other_project", "month", "certificates", "reproduce",
        "cli", "pages", "reading", "rest", "slurm"]


def pytest_collection_modifyitems(items):
    place = {f"{name}_test.py": number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path.name, len(LONG)))


def worlds_in(folder):
    """Makes worlds below `folder`, and stops them in the end."""
    made = []

    def make(**overrides):
        made.append(World(folder / f"world{len(made)}", **overrides))
        return made[-1]

    (folder / "world0").mkdir()
    yield make
    for one in made:
        one.stop()


@pytest.fixture
def world(tmp_path):
    yield from worlds_in(tmp_path)


@pytest.fixture
def issuer(tmp_path):
    """Signs tokens for the jobs of runners, as GitHub does."""
    one = JobIssuer(tmp_path)
    yield one
    one.stop()


@pytest.fixture(scope="module")
def make_world(tmp_path_factory):
    """Makes worlds that several tests only look at."""
    yield from worlds_in(tmp_path_factory.mktemp("shared"))


@pytest.fixture(scope="module")
def browser():
    one = Browser()
    yield one
    one.close()


def served_history(folder, nights):
    """A served database of 14 workloads (tests/support/history): {url, folder, process, admin}."""
    make.make(folder, nights=nights, workloads=14)
    process, url = make.serve(folder)
    yield types.SimpleNamespace(url=url, folder=folder, process=process,
                                admin=(folder / "admin.token").read_text())
    process.terminate()
    process.wait(30)


@pytest.fixture(scope="session")
def history(tmp_path_factory):
    """A served history of a month."""
    yield from served_history(tmp_path_factory.mktemp("history") / "made", nights=30)


@pytest.fixture(scope="session")
def two_years(tmp_path_factory):
    yield from served_history(tmp_path_factory.mktemp("two-years") / "made", nights=730)


@pytest.fixture(scope="session")
def own_history(tmp_path_factory):
    """A served history that a test may change."""
    yield from served_history(tmp_path_factory.mktemp("own-history") / "made", nights=16)
