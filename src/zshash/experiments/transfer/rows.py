"""Rows of tables: means with their errors, differences, shares."""

from collections.abc import Callable, Collection, Iterable, Mapping
from statistics import fmean
from types import MappingProxyType

from zshash.experiments.reproduction.report.document import Table
from zshash.experiments.transfer.statistics import Findings, Paired, Scores, error_of, paired

__all__ = [
    "Column",
    "Row",
    "Splits",
    "against",
    "difference",
    "mean_of",
    "number",
    "on_same_cells",
    "only",
    "share",
    "signed",
    "t_of",
]

Splits = tuple[int, ...] | None  # None for all of them
Row = list[str]
Column = Callable[[str, Scores], str]
TITLES = {
    "map": "MAP",
    "map_asymmetric": "asymmetric MAP",
    "map_related": "MAP, related",
    "precision": "precision",
}
MOST = 10.0  # shares above this say no more than that something is next to nothing


def against(
    found: Findings,
    data: str,
    bits: int,
    leader: str,
    names: Iterable[str],
    caption: str,
    *,
    key: str = "map",
    beside: Mapping[str, Column] = MappingProxyType({}),
    splits: Splits = None,
    all_seen: bool = False,
) -> list[Table]:
    """A leader and others on the cells they share, those that come nearest to it first.

    Parameters
    ----------
    beside : mapping
        More columns by their titles, made from the name of a setup and its scores.
    """
    ours = found.scores(data, leader, bits, key, splits=splits, all_seen=all_seen)
    if not ours:
        return []
    rows = []
    for name in names:
        theirs = found.scores(data, name, bits, key, splits=splits, all_seen=all_seen)
        shared = only(theirs, ours)
        pair = paired(ours, shared)
        if pair:
            more = [column(name, shared) for column in beside.values()]
            rows.append((pair.difference, [name, *mean_of(shared), *more, *difference(pair)]))
    head = ["", "cells", TITLES[key], *beside, f"{leader} − it", "gain", "lost", "t"]
    more = [column(leader, ours) for column in beside.values()]
    first = [leader, *mean_of(ours), *more, "–", "–", "–", "–"]
    return [Table(head, [first, *(row for _, row in sorted(rows))], caption)]


def on_same_cells(found: Findings, data: str, bits: int, key: str = "map") -> Column:
    """A column of another score on the cells of the first."""

    def column(name: str, cells: Scores) -> str:
        return mean_of(only(found.scores(data, name, bits, key), cells))[1]

    return column


def only(scores: Scores, cells: Collection[tuple[int, int]]) -> Scores:
    """Scores of some cells."""
    return {cell: score for cell, score in scores.items() if cell in cells}


def mean_of(scores: Scores) -> Row:
    """How many cells, and their mean with its error."""
    values = list(scores.values())
    if not values:
        return ["0", "–"]
    error = error_of(values)
    text = number(fmean(values)) + ("" if error is None else f" ± {number(error)}")
    return [str(len(values)), text]


def share(scores: Scores, whole: Scores) -> str:
    """Ratio of the means over shared cells, and how many these are."""
    pair = paired(scores, whole)
    if pair is None or pair.gain is None:
        return "–"
    return f"{1 + pair.gain:.3f} ({pair.n})"


def difference(pair: Paired) -> Row:
    """The difference, as a share, how often it is negative, and its t."""
    return [signed(pair), _gain(pair.gain), f"{pair.lost} of {pair.n}", t_of(pair)]


def _gain(gain: float | None) -> str:
    """A gain as it is printed.

    >>> _gain(-0.25), _gain(98.7)
    ('−25.0 %', '> 1000 %')
    """
    if gain is None:
        return "–"
    return f"> {100 * MOST:.0f} %" if gain > MOST else f"{100 * gain:+.1f} %".replace("-", "−")


def signed(pair: Paired) -> str:
    """The difference with its error."""
    text = f"{pair.difference:+.4f}".replace("-", "−")
    return text if pair.error is None else f"{text} ± {number(pair.error)}"


def t_of(pair: Paired) -> str:
    """Student's t, and of how many splits."""
    return "–" if pair.t is None else f"{pair.t:.1f} ({pair.n_splits})".replace("-", "−")


def number(value: float) -> str:
    """A score as it is printed."""
    return f"{value:.4f}"
