"""The comparison again, with all samples that are not hidden for training."""

from dataclasses import replace
from itertools import product

from zshash.evaluation.report.document import Table
from zshash.studies.mth2026.cells import Cells, Part, Size, searches
from zshash.studies.mth2026.findings import Findings
from zshash.studies.mth2026.rows import against, hardest, lengths, place
from zshash.studies.mth2026.setups import BEST, RIVALS


def cells(size: Size) -> Cells:
    """MTH and every rival, at all lengths."""
    for bits, setup in product(size.bits, (BEST, *RIVALS.values())):
        for cell in searches(size, setup, bits):
            yield replace(cell, n_train=None)


def show(found: Findings) -> list[Table]:
    """Tables of MTH against its rivals, trained on all samples that are not hidden."""
    tables = hardest(found, "MAP, trained on all seen samples", all_seen=True)
    for data, bits in lengths(found, all_seen=True):
        caption = f"{place(data, bits)}, trained on all seen samples: MAP."
        tables += against(found, data, bits, BEST.name, tuple(RIVALS), caption, all_seen=True)
    return tables


PART = Part("all-seen", cells, 5, {"all-seen": ("Trained on all seen samples", show)})
