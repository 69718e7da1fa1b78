import pytest

from world import World


@pytest.fixture
def world(tmp_path):
    made = []

    def make(**overrides):
        made.append(World(tmp_path / f"world{len(made)}", **overrides))
        return made[-1]

    (tmp_path / "world0").mkdir()
    yield make
    for one in made:
        one.stop()
