"""Rows of tables: means with their errors, differences, shares."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from zshash.experiments.reproduction.report.document import Table
from zshash.experiments.transfer.statistics import Findings, Paired, Scores, error_of, paired

__all__ = [
    "Row",
    "Splits",
    "against",
    "best_first",
    "difference",
    "mean_of",
    "number",
    "share",
    "signed",
    "t_of",
]

Splits = tuple[int, ...] | None  # None for all of them
Row = list[str]
TITLES = {"map": "MAP", "precision": "precision", "map_related": "MAP, related"}


def against(
    found: Findings,
    data: str,
    bits: int,
    leader: str,
    names: Iterable[str],
    caption: str,
    *,
    key: str = "map",
    beside: str | None = None,
    splits: Splits = None,
    all_seen: bool = False,
) -> list[Table]:
    """A leader and others, the best of them first; `beside` is one more score to tell."""
    ours = found.scores(data, leader, bits, key, splits=splits, all_seen=all_seen)
    if not ours:
        return []

    def more(name: str, cells: Scores) -> Row:
        if beside is None:
            return []
        scores = found.scores(data, name, bits, beside, splits=splits, all_seen=all_seen)
        return [mean_of({cell: scores[cell] for cell in cells if cell in scores})[1]]

    rows = []
    for name in names:
        theirs = found.scores(data, name, bits, key, splits=splits, all_seen=all_seen)
        shared = {cell: theirs[cell] for cell in theirs if cell in ours}
        pair = paired(ours, shared)
        if pair:
            row = [name, *mean_of(shared), *more(name, shared), *difference(pair)]
            rows.append((pair.theirs, row))
    head = ["", "cells", TITLES[key], *([TITLES[beside]] if beside else [])]
    head += [f"{leader} − it", "gain", "lost", "t"]
    first = [leader, *mean_of(ours), *more(leader, ours), "–", "–", "–", "–"]
    return [Table(head, [first, *best_first(rows)], caption)]


def best_first(rows: Sequence[tuple[float, Row]]) -> list[Row]:
    """Rows by a score that is not shown itself."""
    return [row for _, row in sorted(rows, key=lambda row: -row[0])]


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
    gain = "–" if pair.gain is None else f"{100 * pair.gain:+.1f} %".replace("-", "−")
    return [signed(pair), gain, f"{pair.lost} of {pair.n}", t_of(pair)]


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
