"""Zero-shot hashing (Yang et al., ACM Multimedia 2016), re-run; a module for each experiment.

Yang Yang, Weilun Chen, Yadan Luo, Fumin Shen, Jie Shao and Heng Tao Shen: *Zero-Shot Hashing via
Transferring Supervised Knowledge*, ACM Multimedia 2016. Its plots come without numbers; the
numbers of its text and its table are in the modules of the experiments.
"""

from zshash.studies.configuration import Study
from zshash.studies.zsh2016 import (
    alignment,
    cifar10,
    convergence,
    exemplars,
    imagenet,
    labels,
    mirflickr,
    names,
    related,
    seen_ratio,
    structure,
    training_size,
    unseen_category,
)

__all__ = ["STUDY"]

STUDY = Study(
    [
        convergence.EXPERIMENT,
        cifar10.EXPERIMENT,
        unseen_category.EXPERIMENT,
        seen_ratio.EXPERIMENT,
        training_size.EXPERIMENT,
        imagenet.EXPERIMENT,
        related.EXPERIMENT,
        mirflickr.EXPERIMENT,
        exemplars.EXPERIMENT,
        names.EXPERIMENT,
        labels.EXPERIMENT,
        alignment.EXPERIMENT,
        structure.EXPERIMENT,
    ]
)
"""The experiments in the order of the report."""
