"""What the paper claims, and whether it holds here."""

from zshash.experiments.reproduction.report.claims import lengths, others
from zshash.experiments.reproduction.report.document import NOT_RUN, Claim
from zshash.experiments.reproduction.report.findings import Findings, Missing

__all__ = ["CLAIMS", "judge"]

CLAIMS = {
    "convergence": others.CONVERGENCE,
    "cifar10": lengths.CIFAR10,
    "unseen-category": others.UNSEEN_CATEGORY,
    "seen-ratio": others.SEEN_RATIO,
    "training-size": others.TRAINING_SIZE,
    "imagenet": lengths.IMAGENET,
    "related": lengths.RELATED,
    "mirflickr": lengths.MIRFLICKR,
    "exemplars": others.EXEMPLARS,
    "alignment": others.ALIGNMENT,
    "structure": others.STRUCTURE,
}
"""The claims that each experiment is about, and what checks them: verdict and evidence."""

AT_ALL_LENGTHS = ("cifar10", "imagenet", "related", "mirflickr")
"""Experiments in which lengths are varied; what the others are about has 64 bits."""


def judge(found: Findings) -> list[Claim]:
    """The claims that an experiment is about; a small version, or one's own, judges none."""
    experiment = found.experiment
    if experiment.file or experiment.quick:
        return []
    judged = []
    for statement, check in CLAIMS.get(experiment.name, {}).items():
        try:
            if experiment.changes.bits and experiment.name not in AT_ALL_LENGTHS:
                raise Missing
            verdict, evidence = check(found)
        except Missing:
            verdict, evidence = NOT_RUN, "Not all that it takes has been run."
        judged.append(Claim(statement, verdict, evidence))
    return judged
