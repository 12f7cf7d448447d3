"""Variants of MTH, which show what each part of it does."""

from collections.abc import Mapping
from typing import Any

from zshash.evaluation.report.document import Table
from zshash.learning.targets import ONE_HOT
from zshash.studies.mth2026.cells import Cells, Part, Size, searches
from zshash.studies.mth2026.findings import Findings
from zshash.studies.mth2026.rows import changes
from zshash.studies.mth2026.setups import BASELINE, best_of, shorter
from zshash.studies.mth2026.tradeoff import TRADEOFF

CHANGES: Mapping[str, Mapping[str, Any]] = {
    "no whitening": {"shrinkage": 1e6},
    "shrinkage 0.2": {"shrinkage": 0.2},
    "shrinkage 2": {"shrinkage": 2.0},
    "no novelty": {"novelty": 0.0},
    "novelty 0.1": {"novelty": 0.1},
    "no imaginary categories": {"imaginary": 0.0},
    "imaginary 0.75": {"imaginary": 0.75},
    "neighborhood 0.01": {"neighborhood": 0.01},
    "neighborhood 0.1": {"neighborhood": 0.1},
    "8 units": {"n_units": 8},
    "256 units": {"n_units": 256},
    "2048 units": {"n_units": 2048},
    "50 steps": {"n_steps": 50},
    "400 steps": {"n_steps": 400},
    "semantics 0.3": {"semantics": 0.3},
}
ABLATIONS = (
    *(shorter(f", {name}", changed) for name, changed in CHANGES.items()),
    *(shorter(f", pull {pull:g}", {"semantics": pull}, one_hot=True) for pull in (0.1, 0.3, 1.0)),
    best_of(BASELINE, 5),
)


def cells(size: Size) -> Cells:
    """Variants of MTH; a variant that uses names runs only on data whose names have meanings."""
    for setup in (BASELINE, *ABLATIONS):
        for cell in searches(size, setup, size.main, size.ablated):
            if cell.source.knows_related or ONE_HOT in setup.labels(cell.source):
                yield cell


def show(found: Findings) -> list[Table]:
    """Tables of the variants against the baseline."""
    return changes(found, BASELINE, (*ABLATIONS, *TRADEOFF[1:]))


PART = Part("ablations", cells, 1, {"ablations": ("Variants of MTH", show)})
