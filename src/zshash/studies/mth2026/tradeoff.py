"""Ranking against look-up: MAP over the precision within radius 2."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from statistics import fmean

from zshash.evaluation.report.document import Block, Line, Lines, Plot, Table
from zshash.studies.mth2026.cells import Cells, Part, Size, searches
from zshash.studies.mth2026.findings import Findings
from zshash.studies.mth2026.lookup import LOOKUP
from zshash.studies.mth2026.rows import number
from zshash.studies.mth2026.setups import BASELINE, BEST, FAST, RIVALS, Setup, shorter
from zshash.studies.mth2026.splits import SOURCES

ALT = "MAP of each method over its precision within radius 2, one panel for each data set"
TRADEOFF = (
    BASELINE,
    *(shorter(f", lookup {value:g}", {"lookup": value}) for value in (0.25, 0.5, 0.75, 1.0)),
)
# Variants of MTH from ranking to look-up; the first family that was run completely is shown.
FAMILIES: Sequence[Sequence[Setup]] = (TRADEOFF, (BEST, LOOKUP))
Point = tuple[float, float]


def cells(size: Size) -> Cells:
    """MTH from ranking to look-up."""
    for setup in TRADEOFF:
        yield from searches(size, setup, size.main, size.ablated)


@dataclass(frozen=True)
class Tradeoff:
    """Precision and MAP of all setups over the same cells, for one data set and code length.

    Attributes
    ----------
    n : int
        Number of cells that all variants of MTH have.
    ours, theirs : mapping
        Points of these variants, and of all other setups that have these cells.
    """

    data: str
    bits: int
    n: int
    ours: dict[str, Point]
    theirs: dict[str, Point]

    @property
    def title(self) -> str:
        """Data set and code length."""
        return f"{SOURCES[self.data].title}, {self.bits} bits"


def tradeoffs(found: Findings) -> list[Tradeoff]:
    """Points for each data set and code length at which MTH was run from ranking to look-up."""
    lengths = [(data, bits) for data in found.data for bits in found.bits(data, BEST.name)]
    made = (_tradeoff(found, data, bits) for data, bits in lengths)
    return [tradeoff for tradeoff in made if tradeoff]


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
    """Mean precision and MAP of each setup that has all cells."""
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


def show(found: Findings) -> list[Block]:
    """A plot with a panel for each data set, and tables of its points."""
    shown = tradeoffs(found)
    if not shown:
        return []
    tables = [
        Table(
            ["", "precision", "MAP"],
            [[name, *map(number, point)] for name, point in (own.ours | own.theirs).items()],
            f"{own.title}: means over the cells that all variants of MTH have ({own.n}); who lacks "
            "one is left out.",
        )
        for own in shown
    ]
    return [Plot(f"{found.stem}-tradeoff", [_panel(own) for own in shown], ALT), *tables]


PART = Part("tradeoff", cells, 1, {"tradeoff": ("Ranking against look-up", show)})
