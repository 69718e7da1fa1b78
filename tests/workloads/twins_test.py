"""Equal seeds, equal models: what Python computes, C++ computes too."""

import pytest
import support

PYTHON = support.names("python")


def test_every_workload_has_its_twin():
    assert [name.replace("python/", "native/", 1) for name in PYTHON] == support.names("native")


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("name", PYTHON)
def test_twins_agree(name, seed):
    ours = support.result(name, seed=seed)
    theirs = support.result(name.replace("python/", "native/", 1), seed=seed)
    assert theirs["parameters"] == ours["parameters"]
    assert theirs["checksum"] == pytest.approx(ours["checksum"], rel=1e-4)


@pytest.mark.parametrize("name", PYTHON)
def test_the_seed_decides_the_checksum_and_time_does_not(name):
    once = support.result(name, seed=3)["checksum"]
    assert support.result(name, seed=3, min_iterations=60)["checksum"] == once
    assert support.result(name, seed=4)["checksum"] != pytest.approx(once, rel=1e-4)
