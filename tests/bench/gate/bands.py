"""Whether the gate's figures are in their bands, and since which commit one is not. Pure functions,
for gate.py.

A figure is a ratio: our speed in units of a comparator's, so less is worse. Its band is the range
of RUNS runs, widened on both sides by half of its width, or by a share of the median if that is
more. The share covers what these runs, all on one machine, cannot show: another machine, whose
processor or compiler changes one side more than the other."""

import dataclasses
import statistics

RUNS = 20
SHARE = .25


@dataclasses.dataclass(frozen=True)
class Band:
    low: float
    high: float

    def __str__(self):
        return f"{self.low:.3g} to {self.high:.3g}"


def band_of(runs):
    """The band that these runs of a figure teach."""
    lowest, highest = min(runs), max(runs)
    wider = max((highest - lowest) / 2, SHARE * statistics.median(runs))
    return Band(max(0, lowest - wider), highest + wider)


def last_inside(name, band, history):
    """The newest commit whose recorded figure is not below the band; None without one. `history`:
    (commit, {name: figure}), oldest first."""
    for commit, figures in reversed(history):
        if figures.get(name, 0) >= band.low:
            return commit
    return None


def since(name, band, history):
    """Since when a figure is below its band, as words for the line that fails the gate."""
    commit = last_inside(name, band, history)
    if commit is None:
        return "no commit of figures.csv was inside it"
    return f"inside it at {commit}, so look at git log {commit}..HEAD"


def judge(figure, name, learned, history, measure_again):
    """(passed, line). `learned`: {name: runs}. `measure_again()` gives the figure of another run,
    and is only asked if this one is below the band. None as a figure: its bench gave none."""
    if name not in learned:
        return False, f"{name}: has no band; learn it with tests/bench/gate/gate.py --learn {RUNS}"
    band = band_of(learned[name])
    seen = [figure]
    if figure is None or figure < band.low:
        seen.append(measure_again())
    shown = ", then ".join("nothing" if one is None else f"{one:.3g}" for one in seen)
    if seen[-1] is None or seen[-1] < band.low:
        return False, (f"{name}: {shown}, below its band of {band}; "
                       f"{since(name, band, history)}")
    hint = "; above it, so learn it again" if seen[-1] > band.high else ""
    return True, f"{name}: {shown} (band {band}){hint}"
