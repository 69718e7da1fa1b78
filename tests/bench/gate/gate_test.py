"""Which figures of the short benches close the gate, and what it says of those that do."""

import pytest

import gate
from bands import band_of, judge, last_inside

RUNS = [1.0, 1.04, 1.08]  # the band is .74 to 1.34: a quarter of the median is more than half
                          # their range
HISTORY = [("a1", {"ingest": 1.0}), ("b2", {"ingest": 1.02, "claim": 1.0}),
           ("c3", {"ingest": .7}), ("d4", {"claim": 1.0})]


def test_a_band_is_the_range_widened_by_its_half_or_by_a_share_of_the_median():
    assert band_of(RUNS).low == pytest.approx(.74)
    assert band_of(RUNS).high == pytest.approx(1.34)
    assert band_of([1.0, 2.0]).low == pytest.approx(.5)
    assert band_of([.1, .9]).low == 0  # a speed is never below


@pytest.mark.parametrize("figures, passes", [
    ([.75], True),
    ([.7, .75], True),      # the second time it is inside
    ([None, .75], True),
    ([.7, .73], False),
    ([.7, None], False),
    ([None, None], False),
])
def test_a_figure_fails_only_if_it_is_below_its_band_twice(figures, passes):
    first, *others = figures
    assert judge(first, "ingest", {"ingest": RUNS}, [], lambda: others.pop(0))[0] == passes
    assert not others


def test_a_figure_above_its_band_passes_and_is_to_be_learned_again():
    assert judge(1.5, "ingest", {"ingest": RUNS}, [], None) == (
        True, "ingest: 1.5 (band 0.74 to 1.34); above it, so learn it again")


def test_a_figure_without_a_band_fails():
    passed, line = judge(1.0, "new", {"ingest": RUNS}, [], None)
    assert not passed and "gate.py --learn 20" in line


def test_the_last_commit_inside_the_band_is_found():
    assert last_inside("ingest", band_of(RUNS), HISTORY) == "b2"
    assert last_inside("ingest", band_of([2.0, 2.1]), HISTORY) is None


def test_a_planted_slowdown_fails_with_bench_figure_band_and_commit(capsys):
    learned = {name: RUNS for name in gate.NAMES}
    figures = {name: 1.0 for name in gate.NAMES}
    slowed = {"ingest": lambda: figures | {"ingest": .7}}
    assert gate.judge_all(figures, {}, learned, HISTORY) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{len(gate.NAMES)} passed, 0 failed"

    assert gate.judge_all(slowed["ingest"](), slowed, learned, HISTORY) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == ("ingest: 0.7, then 0.7, below its band of 0.74 to 1.34; inside it at "
                        "b2, so look at git log b2..HEAD")
    assert lines[-1] == f"{len(gate.NAMES) - 1} passed, 1 failed"


def test_figures_are_read_as_they_were_written(tmp_path):
    history = [("a1", {"ingest": .5123, "compile": .25}), ("b2", {"claim": .08})]
    gate.write_history(tmp_path / "figures.csv", history)
    assert gate.read_history(tmp_path / "figures.csv") == history


def test_a_bench_that_ends_badly_gives_no_figure_and_says_why(tmp_path, capsys):
    program = tmp_path / "ingest_bench"
    program.write_text("#!/bin/sh\necho ingest 0.5\necho no disk >&2\nexit 3\n")
    program.chmod(0o755)
    assert gate.run_program(str(program)) == {}
    assert "status 3: no disk" in capsys.readouterr().out
