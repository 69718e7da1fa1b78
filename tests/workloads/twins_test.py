"""Equal seeds, equal models: what Python computes, C++ computes too."""

import pytest
import programs

PYTHON = programs.names("python")


def test_every_workload_has_its_twin():
    assert [name.replace("python/", "native/", 1) for name in PYTHON] == programs.names("native")


@pytest.mark.parametrize("name", PYTHON)
def test_twins_agree(name):
    twin = name.replace("python/", "native/", 1)
    pairs = zip([programs.default(name), *programs.tiny(name)],
                [programs.default(twin), *programs.tiny(twin)])
    for ours, theirs in pairs:
        ours, theirs = programs.result(ours), programs.result(theirs)
        assert theirs["parameters"] == ours["parameters"]
        assert theirs["checksum"] == pytest.approx(ours["checksum"], rel=1e-4)


@pytest.mark.parametrize("name", PYTHON + programs.names("native"))
def test_the_seed_decides_the_checksum_and_time_does_not(name):
    zero, three, longer = (programs.result(run)["checksum"] for run in programs.tiny(name))
    assert longer == three
    assert zero != pytest.approx(three, rel=1e-4)
