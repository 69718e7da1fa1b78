"""Files that the service is told to write: a name without a folder will do, and what cannot be is said at once."""

import subprocess

import pytest
from world import BIN


def nightjard(world, *arguments):
    return subprocess.run([BIN / "nightjard", "--config", world.config, *arguments], cwd=world.folder,
                          capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def served(make_world):
    world = make_world()
    world.start_daemon()
    return world


def test_a_backup_is_written_under_a_bare_name(served):
    done = nightjard(served, "--backup", "copy.sqlite")
    assert done.returncode == 0, done.stderr
    assert (served.folder / "copy.sqlite").read_bytes().startswith(b"SQLite format 3")


@pytest.mark.parametrize("to", ["absent/copy.sqlite", ".", "nightjar.toml"])
def test_a_backup_that_cannot_be_written_is_wrong_use(served, to):
    done = nightjard(served, "--backup", to)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == (f"nightjard: cannot back up to {to}: name a new file in a folder that is "
                                            "there")


def test_a_port_file_that_cannot_be_written_ends_the_start(world):
    w = world(service={"port_file": "absent/port"})
    done = nightjard(w)
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1].startswith(
        f"nightjard: cannot write service.port_file {w.folder}/absent/port: ")
