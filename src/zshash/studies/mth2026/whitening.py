"""Whitening alone: other methods in the metric that MTH learns, or in a similar one."""

from itertools import product

from zshash.evaluation.report.document import Table
from zshash.studies.mth2026.cells import Cells, Part, Size, searches
from zshash.studies.mth2026.findings import Findings
from zshash.studies.mth2026.rows import against, lengths, place
from zshash.studies.mth2026.setups import ALL, BEST, FAST, WITHIN, Setup

# The best value of MTH's grid for ITQ, at 64 bits on splits 0 to 2 of both data sets: codes of a
# few axes need axes of different variance, and the whitening of MTH makes all variances equal.
MILD = 2.0
WHITENABLE = ("ITQ", "SpectralHashing", "SSH")
WHITENED = (
    Setup("ITQ, whitened", "ITQ", whitening=ALL),
    *(Setup(f"{name}, whitened within categories", name, whitening=WITHIN) for name in WHITENABLE),
    *(
        Setup(f"{name}, whitened, shrinkage {MILD:g}", name, whitening=ALL, shrinkage=MILD)
        for name in WHITENABLE
    ),
)


def cells(size: Size) -> Cells:
    """Methods whose features are whitened first, at all lengths."""
    for bits, setup in product(size.bits, WHITENED):
        yield from searches(size, setup, bits)


def show(found: Findings) -> list[Table]:
    """Tables of other methods in the metric that MTH learns, or in a similar one."""
    tables: list[Table] = []
    for data, bits in lengths(found, WHITENED[0].name):
        names = (FAST.name, *(setup.name for setup in WHITENED), *WHITENABLE)
        caption = f"{place(data, bits)}: MAP of codes of whitened features."
        tables += against(found, data, bits, BEST.name, names, caption)
    return tables


PART = Part("whitening", cells, 1, {"whitening": ("Whitening alone", show)})
