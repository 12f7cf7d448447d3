"""The study behind MTH: categories that nobody labelled, each hidden in its turn.

Each part has a module with its setups, its runs and its tables.

splits → cells → plan → runs on disk → findings → tables
"""

from zshash.studies.mth2026 import (
    ablations,
    all_seen,
    centred,
    comparison,
    cosine,
    folders,
    hidden,
    lookup,
    names,
    semantics,
    sizes,
    tradeoff,
    unlabelled,
    whitening,
    zsh,
)
from zshash.studies.mth2026.cells import FULL, QUICK
from zshash.studies.mth2026.study import MTHReproduction, plan

__all__ = ["FULL", "PARTS", "QUICK", "TITLE", "MTHReproduction", "plan"]

TITLE = "MTH and every other method, each category hidden in its turn"

PARTS = {
    part.name: part
    for part in (
        comparison.PART,
        lookup.PART,
        semantics.PART,
        all_seen.PART,
        ablations.PART,
        zsh.PART,
        sizes.PART,
        tradeoff.PART,
        cosine.PART,
        whitening.PART,
        centred.PART,
        hidden.PART,
        names.PART,
        unlabelled.PART,
        unlabelled.POOLS,
        folders.PART,
    )
}
"""The parts in the order in which they are run."""
