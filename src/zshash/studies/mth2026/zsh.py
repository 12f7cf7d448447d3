"""Variants of ZSH: changes of the parts that ZSH has and MTH has not."""

from collections.abc import Mapping
from typing import Any

from zshash.evaluation.report.document import Table
from zshash.studies.mth2026.cells import Cells, Part, Size, searches
from zshash.studies.mth2026.findings import Findings
from zshash.studies.mth2026.rows import changes
from zshash.studies.mth2026.setups import RIVALS, Setup, best_of

CHANGES: Mapping[str, Mapping[str, Any]] = {
    "no rotation": {"rotation": None},
    "Cayley rotation": {"rotation": "cayley"},
    "3 sweeps": {"n_sweeps": 3},
    "10 sweeps": {"n_sweeps": 10},
    "300 anchors": {"n_anchors": 300},
    "3000 anchors": {"n_anchors": 3000},
    "anchors by k-means": {"anchors": "kmeans"},
    "bandwidth 0.5": {"bandwidth": 0.5},
    "bandwidth 8": {"bandwidth": 8.0},
    "no graph": {"graph": None},
}
ZSH_ABLATIONS = (
    Setup("ZSH, one-hot", "ZSH", one_hot=True),
    *(Setup(f"ZSH, {name}", "ZSH", changed) for name, changed in CHANGES.items()),
    best_of(RIVALS["ZSH"], 5),
)


def cells(size: Size) -> Cells:
    """ZSH and its variants."""
    for setup in (RIVALS["ZSH"], *ZSH_ABLATIONS):
        yield from searches(size, setup, size.main, size.ablated)


def show(found: Findings) -> list[Table]:
    """Tables of the variants against ZSH."""
    return changes(found, RIVALS["ZSH"], ZSH_ABLATIONS)


PART = Part("zsh", cells, 1, {"zsh": ("Variants of ZSH", show)})
