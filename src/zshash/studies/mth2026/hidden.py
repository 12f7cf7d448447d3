"""A database of only hidden categories, in which everything is new."""

from dataclasses import replace

from zshash.evaluation.report.document import Table
from zshash.studies.mth2026.cells import Cells, Part, Size, searches
from zshash.studies.mth2026.findings import Findings
from zshash.studies.mth2026.rows import elsewhere
from zshash.studies.mth2026.setups import BEST, RIVALS, Setup

AMONG_HIDDEN = tuple(
    replace(setup, name=f"{setup.name}, among hidden", among_hidden=True)
    for setup in (
        BEST,
        Setup("MTH best, no novelty", "MTH", {"novelty": 0.0}),
        *RIVALS.values(),
    )
)


def cells(size: Size) -> Cells:
    """Every method, on data where a split hides several categories."""
    for setup in AMONG_HIDDEN:
        for cell in searches(size, setup, size.main):
            if cell.source.n_hidden > 1:
                yield cell


def show(found: Findings) -> list[Table]:
    """Tables of every method in a database of hidden categories."""
    return elsewhere(found, AMONG_HIDDEN, "MAP in a database of hidden categories alone")


PART = Part("hidden", cells, 1, {"hidden": ("Nothing but hidden categories", show)})
