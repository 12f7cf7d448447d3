"""What each experiment shows."""

from collections.abc import Callable

from zshash.experiments.reproduction.report.document import Block
from zshash.experiments.reproduction.report.findings import Findings
from zshash.experiments.reproduction.report.sections.ablations import (
    alignment,
    labels,
    names,
    structure,
)
from zshash.experiments.reproduction.report.sections.categories import unseen_category
from zshash.experiments.reproduction.report.sections.curves import (
    convergence,
    seen_ratio,
    training_size,
)
from zshash.experiments.reproduction.report.sections.generic import grid
from zshash.experiments.reproduction.report.sections.lengths import (
    related,
    retrieval,
    several_labels,
)
from zshash.experiments.reproduction.report.sections.pictures import exemplars

__all__ = ["SECTIONS", "exemplars", "grid"]

SECTIONS: dict[str, Callable[[Findings], list[Block]]] = {
    "convergence": convergence,
    "cifar10": retrieval,
    "unseen-category": unseen_category,
    "seen-ratio": seen_ratio,
    "training-size": training_size,
    "imagenet": retrieval,
    "related": related,
    "mirflickr": several_labels,
    "names": names,
    "labels": labels,
    "alignment": alignment,
    "structure": structure,
}
