"""Features without codes, ranked by their cosine; codes can hardly be better."""

from zshash.evaluation.report.document import Table
from zshash.studies.mth2026.cells import Cells, Part, Size, searches
from zshash.studies.mth2026.findings import Findings
from zshash.studies.mth2026.rows import mean_of
from zshash.studies.mth2026.setups import ALL, WITHIN, Setup
from zshash.studies.mth2026.splits import SOURCES

COSINES = (
    Setup("cosine", None),
    Setup("cosine, whitened", None, whitening=ALL),
    Setup("cosine, whitened within categories", None, whitening=WITHIN),
)


def cells(size: Size) -> Cells:
    """Cosines of features."""
    for setup in COSINES:
        yield from searches(size, setup, None)


def show(found: Findings) -> list[Table]:
    """A table of the MAP of the features themselves."""
    rows = [
        [SOURCES[data].title, setup.name, *mean_of(scores)]
        for data in found.data
        for setup in COSINES
        if (scores := found.scores(data, setup.name, None))
    ]
    caption = "MAP by the cosine of features, as they are and in MTH’s metric."
    return [Table(["data", "features", "cells", "MAP"], rows, caption, 2)] if rows else []


PART = Part("cosine", cells, 1, {"cosine": ("Features without codes", show)})
