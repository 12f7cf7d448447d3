"""Related categories: the effect of the meanings of names in the codes."""

from dataclasses import replace

from zshash.evaluation.report.document import Table
from zshash.studies.mth2026.cells import Cells, Part, Size, searches
from zshash.studies.mth2026.findings import Findings
from zshash.studies.mth2026.rows import OTHERS, against, lengths, on_same_cells, place
from zshash.studies.mth2026.setups import BEST, RIVALS, Setup

MEANING = Setup("MTH semantics 1", "MTH", {"semantics": 1.0})


def cells(size: Size) -> Cells:
    """MTH with meanings of names in its codes, and the setups it is compared with."""
    for setup in (MEANING, BEST, RIVALS["ZSH"], RIVALS["ITQ"]):
        for cell in searches(size, setup, size.main):
            if cell.source.knows_related:
                yield replace(cell, wanted="map_related")


def show(found: Findings) -> list[Table]:
    """Tables of the mean precision of related categories."""
    tables: list[Table] = []
    for data, bits in lengths(found, MEANING.name):
        caption = (
            f"{place(data, bits)}: MAP of other categories within 5 hops of WordNet at 5,000, and "
            "that of the query’s own on the same cells."
        )
        names, beside = (BEST.name, *OTHERS), {"MAP": on_same_cells(found, data, bits)}
        key = "map_related"
        tables += against(found, data, bits, MEANING.name, names, caption, key=key, beside=beside)
    return tables


PART = Part("semantics", cells, 5, {"related": ("Related categories", show)})
