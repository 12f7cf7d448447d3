"""Look-up: precision within radius 2."""

from zshash.evaluation.report.document import Table
from zshash.studies.mth2026.cells import Cells, Part, Size, searches
from zshash.studies.mth2026.findings import Findings
from zshash.studies.mth2026.rows import OTHERS, against, lengths, on_same_cells, place
from zshash.studies.mth2026.setups import BEST, Setup

LOOKUP = Setup("MTH lookup 1", "MTH", {"lookup": 1.0})


def cells(size: Size) -> Cells:
    """MTH trained for look-up."""
    yield from searches(size, LOOKUP, size.main)


def show(found: Findings) -> list[Table]:
    """Tables of the precision within radius 2."""
    tables: list[Table] = []
    for data, bits in lengths(found, LOOKUP.name):
        names, beside = (BEST.name, *OTHERS), {"MAP": on_same_cells(found, data, bits)}
        caption = f"{place(data, bits)}: precision within radius 2, and MAP on the same cells."
        key = "precision"
        tables += against(found, data, bits, LOOKUP.name, names, caption, key=key, beside=beside)
    return tables


PART = Part("lookup", cells, 5, {"lookup": ("Look-up", show)})
