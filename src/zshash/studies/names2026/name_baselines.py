"""Search by the name of a hidden category: the related work behind one interface, side by side."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import ClassVar

import numpy as np

from zshash import metrics
from zshash.datasets import DataError, Dataset
from zshash.datasets.splits import draw_training
from zshash.evaluation.protocol import checksum
from zshash.evaluation.standard import label_paths
from zshash.evaluation.tasks import Record
from zshash.studies.data import Sources
from zshash.studies.experiments import About
from zshash.studies.names2026.baselines.baseline import Integers
from zshash.studies.names2026.cases import Answer, Case, deal
from zshash.studies.names2026.features import half_precision
from zshash.studies.names2026.rules import RULES
from zshash.studies.names2026.tables import show
from zshash.studies.names2026.vectors import known_to, name_vectors
from zshash.studies.tasks import MethodTask, chance
from zshash.studies.zsh2016.names import accuracy

__all__ = ["EXPERIMENT", "NameRule"]

INTRODUCTION = (
    "Published ways to recognise a category by its name alone, each behind the same interface: "
    "rank all pictures by the name of a hidden category. All get the same pictures, labels and "
    "vectors of names, and features of unit length, centred on the labelled pictures and reduced "
    "to their first 256 principal components. Parameters are chosen on seen categories that are "
    "held out as pseudo-unseen, never on hidden ones. ConSE with the network’s own classifier and "
    "the rule that zshash ships also know the network’s categories, without the hidden ones and "
    'all kinds of them; the shipped rule learns its codes, with `effort="fast"`, from pictures '
    "without labels, too, up to 10,000. The network that makes the features was trained on "
    "ImageNet, so *hidden* means that nobody labelled these pictures here."
)
POOL = 10_000  # pictures that may be learned from without labels
RUNS = """
title = "Search by the name of a hidden category, and the related work"
seeds = 5
quick_seeds = 1

[[parts]]  # twenty of 100 categories are hidden, ten at a time
task = "name-rule"
data = "features/tiny100_lite0_1280.npz"
groups = 10
turns = 2
n_train = 2000

[parts.vary]
labels = [
    ["wordnet"], ["words/glove6b_100d_nouns.txt.gz"],
    ["wordnet", "words/glove6b_100d_nouns.txt.gz"],
]
rule = ["dap", "zero-data", "cmt", "devise", "conse", "eszsl", "conse-network"]

[[parts]]  # two of ten categories are hidden, each alone
task = "name-rule"
data = "cifar10"
groups = 10
turns = 2
n_train = 2000

[parts.vary]
labels = [["wordnet"], ["words/huang2012_50d.txt"]]
rule = ["dap", "zero-data", "cmt", "devise", "conse", "eszsl", "conse-network"]

[[parts]]  # six categories are animals with attributes; two are hidden at a time
task = "name-rule"
data = "features/tiny100_lite0_1280.npz"
known_to = ["words/awa2_attributes.npz"]
groups = 3

[parts.vary]
labels = [
    ["words/awa2_attributes.npz"], ["wordnet"], ["words/glove6b_100d_nouns.txt.gz"],
    ["words/awa2_attributes.npz", "wordnet"],
]
rule = ["dap", "zero-data", "cmt", "devise", "conse", "eszsl", "conse-network"]

[[parts]]  # the rule that zshash ships looks names up in WordNet
task = "name-rule"
data = "features/tiny100_lite0_1280.npz"
groups = 10
turns = 2
n_train = 2000
method = "MTH"
parameters = { effort = "fast" }
labels = ["wordnet"]

[parts.vary]
rule = ["zshash-features", "zshash"]

[[parts]]
task = "name-rule"
data = "cifar10"
groups = 10
turns = 2
n_train = 2000
method = "MTH"
parameters = { effort = "fast" }
labels = ["wordnet"]

[parts.vary]
rule = ["zshash-features", "zshash"]

[[parts]]
task = "name-rule"
data = "features/tiny100_lite0_1280.npz"
known_to = ["words/awa2_attributes.npz"]
groups = 3
method = "MTH"
parameters = { effort = "fast" }
labels = ["wordnet"]

[parts.vary]
rule = ["zshash-features", "zshash"]

[[quick]]
task = "name-rule"
data = "digits"
groups = 5
turns = 1
n_train = 400
k = 100
labels = ["wordnet"]

[quick.vary]
rule = ["dap", "zero-data", "cmt", "devise", "conse", "eszsl"]
"""


@dataclass(frozen=True, kw_only=True)
class NameRule(MethodTask):
    """Rank all pictures by the names of hidden categories, with one rule.

    Each seed deals the categories into groups. Each group is hidden in its turn, and all other
    categories are labelled.

    Attributes
    ----------
    rule : str
        Name of the rule in `RULES`.
    groups : int
        Number of groups.
    turns : int or None
        How many groups are hidden, None for all; fewer make a faster run.
    known_to : tuple of str
        Label sources that must know a category, or it is neither hidden nor labelled. Its
        pictures are searched, too.
    k : int
        MAP counts the first `k` ranks.
    """

    rule: str
    groups: int
    turns: int | None = None
    k: int = 1000

    kind: ClassVar[str] = "name-rule"

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise DataError(f"{self.rule!r} is no rule: there are {', '.join(RULES)}")

    @property
    def label(self) -> str:
        """Rule and label sources."""
        return f"{self.rule}, {' + '.join(Path(source).name for source in self.labels)}"

    def facts(self) -> Record:
        """All fields that decide the scores; hash method and bits only for rules of codes."""
        codes = () if RULES[self.rule].uses_codes else ("method", "bits", "parameters")
        return {key: own for key, own in super().facts().items() if key not in codes}

    def path(self) -> Path:
        """Path of the file of runs, below the folder of all runs."""
        usual = super().path()
        digest = usual.stem.rsplit("-", 1)[1]
        return usual.with_name(f"{self.kind}-{self.rule}-{digest}.json")

    def dataset(self, sources: Sources) -> Dataset:
        """The data that is searched, with all categories."""
        return half_precision(self.data, self.extractor, sources)

    def rehearse(self, sources: Sources) -> str:
        """Deal the categories and look up their names; returns the checksum."""
        dataset = self.dataset(sources)
        if dataset.labels is None or dataset.labels.ndim != 1:
            raise DataError("categories can be hidden only where each picture has exactly one")
        known = self._known(dataset)
        if not 2 <= self.groups <= len(known):
            raise DataError(f"{len(known)} categories can not be dealt into {self.groups} groups")
        name_vectors(dataset, known, label_paths(self.labels))
        return checksum(dataset, (*label_paths(self.labels), *label_paths(self.known_to)))

    def run(self, seed: int, sources: Sources) -> Record:
        """MAP of hidden names, and the share of hidden pictures that get the right hidden name."""
        start = perf_counter()
        scored = [score(case, RULES[self.rule].rank(case)) for case in self.cases(seed, sources)]
        precisions = {name: own for record in scored for name, own in record["found"].items()}
        return {
            "seed": seed,
            "map": float(np.mean(list(precisions.values()))),
            "accuracy": float(np.mean([record["accuracy"] for record in scored])),
            "chance": float(np.mean([record["chance"] for record in scored])),
            "n_hidden": len(precisions) // len(scored),
            "n_categories": len(self._known(self.dataset(sources))),
            "found": precisions,
            "parameters": [record["parameters"] for record in scored],
            "seconds": round(perf_counter() - start, 1),
        }

    def cases(self, seed: int, sources: Sources) -> Iterator[Case]:
        """The cases of one seed: a group of hidden categories each."""
        dataset = self.dataset(sources)
        n = min(POOL, len(dataset))
        pool = draw_training(np.arange(len(dataset)), n, np.random.RandomState(seed))
        dealt = deal(dataset, self._known(dataset), self.groups, self.n_train, seed)
        for labelled, seen, hidden in islice(dealt, self.turns):
            yield Case(
                dataset=dataset,
                labelled=labelled,
                seen=seen,
                hidden=hidden,
                sources=label_paths(self.labels),
                k=self.k,
                seed=seed,
                bits=self.bits,
                method=self.method,
                parameters=self.parameters,
                pool=pool,
            )

    def _known(self, dataset: Dataset) -> Integers:
        """Numbers of the categories that are dealt."""
        return known_to(dataset, label_paths(self.known_to))


def score(case: Case, answer: Answer) -> Record:
    """Average precision of each hidden name, and the share of pictures with the right name."""
    labels = case.dataset.labels
    assert labels is not None
    relevant, total = metrics.real_histograms(
        answer.scores, metrics.same_label(case.hidden, labels)
    )
    precisions = metrics.average_precision(relevant, total, case.k)
    names = [case.dataset.names[number] for number in case.hidden]
    return {
        "found": {n: round(float(own), 6) for n, own in zip(names, precisions, strict=True)},
        "accuracy": accuracy(answer.scores.astype(np.float64), case.hidden, labels),
        "chance": chance(relevant, total, case.k),
        "parameters": dict(answer.parameters),
    }


EXPERIMENT = About(
    name="name-baselines",
    runs=RUNS,
    introduction=INTRODUCTION,
    show=show,
    kinds=(NameRule,),
)
