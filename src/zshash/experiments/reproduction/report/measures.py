"""What sections show and claims judge: quantities of single experiments."""

from collections.abc import Sequence
from typing import Any

from zshash.experiments.reproduction.report.findings import Findings
from zshash.experiments.reproduction.report.statistics import mean

__all__ = [
    "OURS",
    "ZERO_ONE",
    "at_iteration",
    "share_seen",
    "similarities",
    "spread_of_starts",
    "vectors_of",
]

OURS = "ZSH"
ZERO_ONE = ("onehot",)  # label sources where categories have 0/1 labels
N_GROUPS = 4


def at_iteration(curves: Sequence[Any], step: int) -> list[float]:
    """The objective of every fit after some iterations, or at its end.

    >>> at_iteration([[9.0, 4.0, 3.0], [8.0]], 2)
    [4.0, 8.0]
    """
    return [curve[min(step, len(curve)) - 1] for curve in curves]


def share_seen(found: Findings) -> dict[int, float]:
    """The share of the categories that is seen, by the number of unseen ones that were run."""
    totals = {
        number: found.values("n_categories", unseen=number) for number in found.along("unseen")
    }
    return {number: round(1 - number / own[0], 2) for number, own in totals.items() if own}


def vectors_of(found: Findings) -> tuple[str, ...]:
    """The label source that is compared with 0/1 labels."""
    sources = [labels for labels in found.along("labels") if labels != ZERO_ONE]
    return tuple(sources[0])


def similarities(found: Findings) -> dict[str, float]:
    """Average cosine of each category's name to the others."""
    own = vectors_of(found)
    values = {
        unseen[0]: found.values("similarity", unseen=unseen, labels=own)
        for unseen in found.along("unseen")
    }
    return {name: mean(cosines) for name, cosines in values.items() if cosines}


def spread_of_starts(found: Findings) -> list[list[float]]:
    """MAP of all starts in groups, by seed; empty where there are too few."""
    values = found.values("procrustes", "map")
    size = len(values) // N_GROUPS
    return [values[i * size : (i + 1) * size] for i in range(N_GROUPS)] if size else []
