"""Rows of tables: means with their errors, differences, shares."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from statistics import fmean
from types import MappingProxyType

from zshash.evaluation.report.document import Table
from zshash.evaluation.statistics import error_of, with_error
from zshash.studies.mth2026.findings import Findings, Paired, Scores, paired
from zshash.studies.mth2026.setups import BEST, FAST, RIVALS, Setup
from zshash.studies.mth2026.splits import DEVELOPMENT, FRESH, SOURCES

__all__ = [
    "OTHERS",
    "Column",
    "Row",
    "Splits",
    "against",
    "changes",
    "difference",
    "elsewhere",
    "hardest",
    "lengths",
    "mean_of",
    "number",
    "on_same_cells",
    "only",
    "percent",
    "place",
    "share",
    "signed",
    "t_of",
]

Splits = tuple[int, ...] | None  # None for all splits
Row = list[str]
Column = Callable[[str, Scores], str]
TITLES = {
    "map": "MAP",
    "map_real": "real-valued MAP",
    "map_related": "MAP, related",
    "precision": "precision",
}
OTHERS = (FAST.name, *RIVALS)
KINDS: Mapping[str, Splits] = {
    "all": None,
    "development": tuple(DEVELOPMENT),
    "fresh": tuple(FRESH),
}
MOST = 10.0  # larger shares are not printed: they only say that the rival is close to zero


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
    """A table of a leader and others on the cells they share, nearest to the leader first.

    Parameters
    ----------
    beside : mapping
        More columns: title → function of the name of a setup and its scores.
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
    """A column of another score, on the cells of the first score."""

    def column(name: str, cells: Scores) -> str:
        return mean_of(only(found.scores(data, name, bits, key), cells))[1]

    return column


def only(scores: Scores, cells: Collection[tuple[int, int]]) -> Scores:
    """Scores of some cells."""
    return {cell: score for cell, score in scores.items() if cell in cells}


def mean_of(scores: Scores) -> Row:
    """Number of cells, and their mean with its standard error."""
    values = list(scores.values())
    if not values:
        return ["0", "–"]
    return [str(len(values)), with_error(number(fmean(values)), error_of(values), 4)]


def share(scores: Scores, whole: Scores) -> str:
    """Ratio of the means over shared cells, and the number of these cells."""
    pair = paired(scores, whole)
    if pair is None or pair.gain is None:
        return "–"
    return f"{1 + pair.gain:.3f} ({pair.n})"


def difference(pair: Paired) -> Row:
    """The difference, the gain, the number of lost cells, and t."""
    return [signed(pair), percent(pair.gain), f"{pair.lost} of {pair.n}", t_of(pair)]


def percent(gain: float | None) -> str:
    """A gain as text.

    >>> percent(-0.25), percent(98.7)
    ('−25.0 %', '> 1000 %')
    """
    if gain is None:
        return "–"
    return f"> {100 * MOST:.0f} %" if gain > MOST else f"{100 * gain:+.1f} %".replace("-", "−")


def signed(pair: Paired) -> str:
    """The difference with its standard error, as text."""
    text = f"{pair.difference:+.4f}".replace("-", "−")
    return with_error(text, pair.error, 4)


def t_of(pair: Paired) -> str:
    """Student's t and the number of splits, as text."""
    return "–" if pair.t is None else f"{pair.t:.1f} ({pair.n_splits})".replace("-", "−")


def number(value: float) -> str:
    """A score as text."""
    return f"{value:.4f}"


def hardest(found: Findings, what: str, *, all_seen: bool = False) -> list[Table]:
    """A table of MTH and its hardest rival: on all splits, on development and on fresh ones."""
    head = ["data", "bits", "splits", "cells", BEST.name, "hardest rival", "its MAP"]
    head += ["MTH − it", "gain", "lost", "t"]
    rows = []
    for data, bits in lengths(found, all_seen=all_seen):
        for told, splits in KINDS.items():
            rivals = _rivals(found, data, bits, splits=splits, all_seen=all_seen)
            if rivals:
                name, hardest = min(rivals, key=lambda rival: rival[1].difference)
                own = hardest.theirs + hardest.difference
                figures = [number(own), name, number(hardest.theirs)]
                where = [SOURCES[data].title, str(bits), told, str(hardest.n)]
                rows.append([*where, *figures, *difference(hardest)])
    caption = (
        f"{what}; the hardest rival is that with the smallest mean difference, on shared cells."
    )
    return [Table(head, rows, caption, numbers_from=3)] if rows else []


def _rivals(
    found: Findings, data: str, bits: int, *, splits: Splits, all_seen: bool
) -> list[tuple[str, Paired]]:
    """MTH against every rival that shares cells with it."""
    ours, *others = (
        found.scores(data, name, bits, splits=splits, all_seen=all_seen)
        for name in (BEST.name, *RIVALS)
    )
    pairs = ((name, paired(ours, theirs)) for name, theirs in zip(RIVALS, others, strict=True))
    return [(name, pair) for name, pair in pairs if pair]


def changes(found: Findings, baseline: Setup, changed: Sequence[Setup]) -> list[Table]:
    """Tables of variants against their baseline."""
    head = ["", "cells", "MAP", "change", "t", "precision", "change"]
    tables = []
    for data, bits in lengths(found, changed[0].name):
        rows = []
        for setup in changed:
            pairs = [
                paired(
                    found.scores(data, setup.name, bits, key),
                    found.scores(data, baseline.name, bits, key),
                )
                for key in ("map", "precision")
            ]
            ranked, precise = pairs
            if ranked and precise:
                figures = [number(ranked.theirs + ranked.difference), signed(ranked), t_of(ranked)]
                figures += [number(precise.theirs + precise.difference), signed(precise)]
                rows.append([setup.name, str(ranked.n), *figures])
        compared = {cell for setup in changed for cell in found.scores(data, setup.name, bits)}
        own = [
            only(found.scores(data, baseline.name, bits, key), compared)
            for key in ("map", "precision")
        ]
        cells, ranking = mean_of(own[0])
        first = [baseline.name, cells, ranking, "–", "–", mean_of(own[1])[1], "–"]
        caption = f"{place(data, bits)}: changes against {baseline.name}."
        tables.append(Table(head, [first, *rows], caption))
    return tables


def elsewhere(found: Findings, setups: Sequence[Setup], what: str) -> list[Table]:
    """Tables of the first of some setups against the others."""
    leader, *others = (setup.name for setup in setups)
    tables: list[Table] = []
    for data, bits in lengths(found, leader):
        tables += against(found, data, bits, leader, others, f"{place(data, bits)}: {what}.")
    return tables


def lengths(
    found: Findings, setup: str = BEST.name, *, all_seen: bool = False
) -> list[tuple[str, int]]:
    """Pairs of data set and code length at which a setup was run."""
    return [
        (data, bits) for data in found.data for bits in found.bits(data, setup, all_seen=all_seen)
    ]


def place(data: str, bits: int) -> str:
    """Data set and code length, as captions name them."""
    return f"{SOURCES[data].title}, {bits} bits"
