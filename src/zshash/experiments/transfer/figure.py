"""Ranking against look-up: MAP over the precision within radius 2."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from statistics import fmean

from zshash.experiments.reproduction.report.document import Line, Lines, Plot
from zshash.experiments.transfer.setups import BEST, FAST, LOOKUP, RIVALS, TRADEOFF, Setup
from zshash.experiments.transfer.splits import SOURCES
from zshash.experiments.transfer.statistics import Findings

__all__ = ["Tradeoff", "tradeoff_plot", "tradeoffs"]

ALT = "MAP of each method over its precision within radius 2, one panel for each data set"
# Variants of MTH from ranking to look-up; the first of which all were run is shown.
FAMILIES: Sequence[Sequence[Setup]] = (TRADEOFF, (BEST, LOOKUP))
Point = tuple[float, float]


@dataclass(frozen=True)
class Tradeoff:
    """Precision and MAP of everyone over the same cells, for one data set and length.

    Attributes
    ----------
    n : int
        How many cells: those that all variants of MTH have.
    ours, theirs : mapping
        Points of these variants, and of all others that have these cells, too.
    """

    data: str
    bits: int
    n: int
    ours: dict[str, Point]
    theirs: dict[str, Point]

    @property
    def title(self) -> str:
        """Data set and length."""
        return f"{SOURCES[self.data].title}, {self.bits} bits"


def tradeoffs(found: Findings) -> list[Tradeoff]:
    """All data sets and lengths at which MTH was run from ranking to look-up."""
    lengths = [(data, bits) for data in found.data for bits in found.bits(data, BEST.name)]
    made = (_tradeoff(found, data, bits) for data, bits in lengths)
    return [tradeoff for tradeoff in made if tradeoff]


def tradeoff_plot(found: Findings, name: str) -> Plot | None:
    """A panel for each data set, a point for each method, a line for MTH; None without data."""
    panels = [_panel(tradeoff) for tradeoff in tradeoffs(found)]
    return Plot(name, panels, ALT) if panels else None


def _tradeoff(found: Findings, data: str, bits: int) -> Tradeoff | None:
    for family in FAMILIES:
        names = [setup.name for setup in family]
        own = [set(found.scores(data, name, bits)) for name in names]
        cells = reduce(set.intersection, own)
        if cells:
            ours = _points(found, data, bits, names, cells)
            others = [name for name in (BEST.name, FAST.name, *RIVALS) if name not in ours]
            theirs = _points(found, data, bits, others, cells)
            return Tradeoff(data, bits, len(cells), ours, theirs)
    return None


def _points(
    found: Findings, data: str, bits: int, names: Sequence[str], cells: set[tuple[int, int]]
) -> dict[str, Point]:
    """Mean precision and MAP of those that have all cells."""
    points = {}
    for name in names:
        precision, ranked = (found.scores(data, name, bits, key) for key in ("precision", "map"))
        if all(cell in precision and cell in ranked for cell in cells):
            points[name] = fmean(precision[c] for c in cells), fmean(ranked[c] for c in cells)
    return points


def _panel(tradeoff: Tradeoff) -> Lines:
    between = "to" if len(tradeoff.ours) > 2 else "and"
    lines = [_line(f"MTH, lookup 0 {between} 1", [*tradeoff.ours.values()], emphasis=True)]
    lines += [_line(name, [point]) for name, point in tradeoff.theirs.items()]
    return Lines(tradeoff.title, "precision within radius 2", "MAP", lines)


def _line(label: str, points: Sequence[Point], emphasis: bool = False) -> Line:
    return Line(label, [x for x, _ in points], [y for _, y in points], emphasis=emphasis)
