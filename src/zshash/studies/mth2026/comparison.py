"""Every method at every length, each category hidden in its turn."""

from collections.abc import Iterator
from itertools import product
from statistics import fmean

from zshash.evaluation.report.document import Table
from zshash.studies.mth2026.cells import Cells, Part, Size, searches
from zshash.studies.mth2026.cosine import COSINES
from zshash.studies.mth2026.findings import Findings
from zshash.studies.mth2026.rows import (
    OTHERS,
    Column,
    Splits,
    against,
    hardest,
    lengths,
    on_same_cells,
    place,
    share,
)
from zshash.studies.mth2026.setups import BEST, FAST, RIVALS
from zshash.studies.mth2026.splits import FRESH, SOURCES

ALL_SPLITS, FRESH_SPLITS = None, tuple(FRESH)


def cells(size: Size) -> Cells:
    """Both efforts of MTH and every rival, at all lengths."""
    setups = (BEST, FAST, *RIVALS.values())
    for bits, setup in product(size.bits, setups):
        yield from searches(size, setup, bits)


def summary(found: Findings) -> list[Table]:
    """A table of MTH against the rival that comes nearest to it."""
    return hardest(found, "MAP")


def all_splits(found: Findings) -> list[Table]:
    """Tables of every method, on all splits."""
    return [*_comparisons(found, ALL_SPLITS)]


def fresh_splits(found: Findings) -> list[Table]:
    """Tables of every method, on fresh splits."""
    return [*_comparisons(found, FRESH_SPLITS)]


def _comparisons(found: Findings, splits: Splits) -> Iterator[Table]:
    for data, bits in lengths(found):
        caption = f"{place(data, bits)}: MAP on the cells that MTH has, too."
        yield from against(found, data, bits, BEST.name, OTHERS, caption, splits=splits)


def real(found: Findings) -> list[Table]:
    """Tables of MAP with real-valued queries, and its ratio to the MAP of cosines."""
    tables: list[Table] = []
    for data, bits in lengths(found):
        beside = {"MAP": on_same_cells(found, data, bits)}
        beside |= {f"of {setup.name}": _share_of(found, data, setup.name) for setup in COSINES[:2]}
        caption = f"{place(data, bits)}: shares of a cosine’s MAP on those cells that have it."
        key = "map_real"
        tables += against(found, data, bits, BEST.name, OTHERS, caption, key=key, beside=beside)
    return tables


def _share_of(found: Findings, data: str, cosine: str) -> Column:
    whole = found.scores(data, cosine, None)
    return lambda _, scores: share(scores, whole)


def seconds(found: Findings) -> list[Table]:
    """A table of the seconds of a fit."""
    rows = []
    for data, bits in lengths(found):
        for name in (BEST.name, *OTHERS):
            for where in ("CPU", "GPU"):
                own = Findings([r for r in found.records if r.get("trained_on") == where])
                scores = own.scores(data, name, bits, "fit_seconds")
                if scores:
                    mean = f"{fmean(scores.values()):.1f}"
                    rows.append(
                        [SOURCES[data].title, str(bits), name, where, str(len(scores)), mean]
                    )
    head = ["data", "bits", "", "trained on", "cells", "seconds"]
    caption = (
        "Means; other fits shared the CPU, and the GPU, so that they tell an order of magnitude."
    )
    return [Table(head, rows, caption, numbers_from=4)] if rows else []


PART = Part(
    "comparison",
    cells,
    5,
    {
        "summary": ("MTH and the hardest rival", summary),
        "comparison": ("All methods, all splits", all_splits),
        "fresh": ("All methods, fresh splits", fresh_splits),
        "real": ("Real-valued queries", real),
        "time": ("Seconds of a fit", seconds),
    },
)
