import pytest

from world import World


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


@pytest.fixture(scope="module")
def make_world(tmp_path_factory):
    """Of a world that several tests only look at."""
    yield from worlds_in(tmp_path_factory.mktemp("shared"))
