"""What the paper claims, and whether it holds here."""

from collections.abc import Callable

from zshash.experiments.reproduction.report.claims import lengths, others
from zshash.experiments.reproduction.report.document import Claim
from zshash.experiments.reproduction.report.findings import Findings

__all__ = ["CLAIMS"]

CLAIMS: dict[str, Callable[[Findings], list[Claim]]] = {
    "convergence": others.convergence,
    "cifar10": lengths.cifar10,
    "unseen-category": others.unseen_category,
    "seen-ratio": others.seen_ratio,
    "training-size": others.training_size,
    "imagenet": lengths.imagenet,
    "related": lengths.related,
    "mirflickr": lengths.mirflickr,
    "exemplars": others.exemplars,
    "alignment": others.alignment,
    "structure": others.structure,
}
