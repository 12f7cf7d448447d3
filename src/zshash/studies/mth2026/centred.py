"""Another origin of the features: one that does not depend on any hidden picture."""

from dataclasses import replace

from zshash.evaluation.report.document import Table
from zshash.studies.mth2026.cells import Cells, Part, Size, searches
from zshash.studies.mth2026.findings import Findings
from zshash.studies.mth2026.rows import elsewhere
from zshash.studies.mth2026.setups import BEST, EXAMPLES, RIVALS

CENTRED = tuple(
    replace(setup, name=f"{setup.name}, centred", centred=True)
    for setup in (BEST, *(RIVALS[name] for name in EXAMPLES))
)


def cells(size: Size) -> Cells:
    """A few methods on features with another origin."""
    for setup in CENTRED:
        yield from searches(size, setup, size.main)


def show(found: Findings) -> list[Table]:
    """Tables of a few methods on features with another origin."""
    return elsewhere(found, CENTRED, "MAP where the mean of the training samples is the origin")


PART = Part("centred", cells, 1, {"centred": ("Another origin", show)})
