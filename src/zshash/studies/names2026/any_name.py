"""Search by any name, with no label or with some: the rule that zshash ships."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from zshash import metrics
from zshash.datasets import DataError, Dataset
from zshash.datasets.splits import draw_training
from zshash.evaluation.protocol import checksum
from zshash.evaluation.tasks import Record
from zshash.learning.knowledge import Knowledge
from zshash.studies.data import Sources
from zshash.studies.experiments import About
from zshash.studies.names2026.any_name_tables import show
from zshash.studies.names2026.baselines.baseline import Floats, Integers
from zshash.studies.names2026.cases import Case, deal
from zshash.studies.names2026.features import half_precision
from zshash.studies.names2026.shipped import (
    Features,
    decoded_scores,
    directions,
    learn,
    learned_codes,
    scores_of,
    synsets,
    whitened,
)
from zshash.studies.tasks import MethodTask
from zshash.studies.zsh2016.names import accuracy

__all__ = ["EXPERIMENT", "AnyName", "merged", "turn"]

INTRODUCTION = (
    "Pictures are ranked by names that nobody has labelled, as `zshash search --name` does it. "
    "*Hidden* names are taken out of all labels and, with all kinds of them, out of the "
    "categories that the network was trained with; *known* names are the others. Codes are "
    "learned from the pictures themselves and from labels of some of them, without statistics of "
    "other pictures. *Features* stand for the same rule on the first 256 whitened components "
    "instead of bits. *Decoded* stands for another rule on the same codes: features are read from "
    "the bits by ridge regression, and compared with directions of the network’s last layer; the "
    "directions of hidden names are predicted by the same ridge. Codes of rows with labels are "
    'learned with `effort="fast"`, all others with the default effort; *alone* means that no '
    "picture without a label is learned from."
)
RUNS = """
title = "Search by any name, with no label at all"
seeds = 5
quick_seeds = 1

[[parts]]  # each of 100 categories is hidden once, ten at a time
task = "any-name"
data = "features/tiny100_lite0_1280.npz"
method = "MTH"
groups = 10
n_labelled = 0

[parts.vary]
bits = [64, 128]

[[parts]]  # some labelled pictures: codes are learned anew for each group, so two groups are hidden
task = "any-name"
data = "features/tiny100_lite0_1280.npz"
method = "MTH"
parameters = { effort = "fast" }
groups = 10
turns = 2

[parts.vary]
n_labelled = [10, 100, 1000]

[[parts]]  # each of ten categories is hidden alone
task = "any-name"
data = "cifar10"
method = "MTH"
groups = 10
pool = 10_000
n_labelled = 0

[[parts]]  # the nine others are labelled; with a pool of 0, no hidden picture is learned from
task = "any-name"
data = "cifar10"
method = "MTH"
parameters = { effort = "fast" }
groups = 10
turns = 4
n_labelled = 10_000

[parts.vary]
pool = [0, 10_000]

[[quick]]
task = "any-name"
data = "features/tiny100_lite0_1280.npz"
method = "MTH"
parameters = { effort = "fast" }
groups = 10
turns = 1
pool = 1000

[quick.vary]
n_labelled = [0, 100]
"""


@dataclass(frozen=True, kw_only=True)
class AnyName(MethodTask):
    """Rank all pictures by the names of hidden categories and of known ones.

    Attributes
    ----------
    groups : int
        Number of groups that the categories are dealt into; each is hidden in its turn.
    turns : int or None
        How many groups are hidden, None for all.
    n_labelled : int
        Number of labelled pictures, none of a hidden category.
    pool : int or None
        Number of pictures, drawn from all, that are learned from without labels; None for all.
    k : int
        MAP counts the first `k` ranks.
    """

    groups: int
    turns: int | None = None
    n_labelled: int = 0
    pool: int | None = None
    k: int = 1000

    kind: ClassVar[str] = "any-name"

    @property
    def label(self) -> str:
        """Bits and labelled pictures."""
        return f"{self.method}, {self.bits} bits, {self.n_labelled} labelled, pool {self.pool}"

    def dataset(self, sources: Sources) -> Dataset:
        """The data that is searched, with all categories."""
        return half_precision(self.data, self.extractor, sources)

    def rehearse(self, sources: Sources) -> str:
        """Look at the data and its categories; returns the checksum."""
        dataset = self.dataset(sources)
        if dataset.labels is None or dataset.labels.ndim != 1:
            raise DataError("categories can be hidden only where each picture has exactly one")
        if not 2 <= self.groups <= len(dataset.names):
            raise DataError(
                f"{len(dataset.names)} categories can not be dealt into {self.groups} groups"
            )
        if not self.n_labelled and self.pool == 0:
            raise DataError("without labels and without a pool, there is nothing to learn from")
        synsets(dataset)
        return checksum(dataset, ())

    def run(self, seed: int, sources: Sources) -> Record:
        """Scores of hidden and known names, on codes and on features."""
        start = perf_counter()
        codes: Features | None = None
        turns = []
        for case in self.cases(seed, sources):
            if codes is None or len(case.labelled):  # without labels, all cases share their codes
                codes = learned_codes(case)
            turns.append(turn(case, codes))
        return {"seed": seed} | merged(turns) | {"seconds": round(perf_counter() - start, 1)}

    def cases(self, seed: int, sources: Sources) -> Iterator[Case]:
        """The cases of one seed: a group of hidden categories each."""
        dataset = self.dataset(sources)
        rows, rng = np.arange(len(dataset)), np.random.RandomState(seed)
        pool = rows[:0] if self.pool == 0 else draw_training(rows, self.pool, rng)
        dealt = deal(dataset, np.arange(len(dataset.names)), self.groups, self.n_labelled, seed)
        for labelled, seen, hidden in islice(dealt, self.turns):
            yield Case(
                dataset=dataset,
                labelled=labelled,
                seen=seen,
                hidden=hidden,
                sources=("wordnet",),
                k=self.k,
                seed=seed,
                bits=self.bits,
                method=self.method,
                parameters=self.parameters,
                pool=pool,
            )


def turn(case: Case, codes: Features) -> Record:
    """All scores of one case: on codes, on decoded codes and on features; and the forecasts."""
    known, features = learn(case, codes), whitened(case)
    return {
        **_ranked(case, known, codes),
        **_outlook(case, known, codes),
        **_named(_decoded(case, known, codes), "_decoded"),
        **_named(_ranked(case, learn(case, features), features), "_features"),
    }


def merged(turns: Sequence[Record]) -> Record:
    """Scores of all cases together: means of numbers, and all names of tables."""
    record: Record = {}
    for key, first in turns[0].items():
        own = [part[key] for part in turns]
        if isinstance(first, Mapping):
            record[key] = {name: value for table in own for name, value in table.items()}
        else:
            record[key] = float(np.mean(own))
    return record


def _ranked(case: Case, known: Knowledge, places: Features) -> Record:
    """Scores of the shipped rule, on codes or on features instead of codes."""
    ids = synsets(case.dataset)

    def rank(numbers: Integers) -> Floats:
        return scores_of(directions(known, [ids[number] for number in numbers]), places)

    others = _known(known, ids, case.seen)
    return _scores(case, rank(case.hidden), rank(others), others)


def _scores(case: Case, hidden: Floats, known: Floats, others: Integers) -> Record:
    """MAP of hidden and of known names, and how often the right one of the hidden is taken."""
    assert case.dataset.labels is not None
    return {
        "map": float(np.mean(_precisions(case, hidden, case.hidden))),
        "accuracy": accuracy(hidden.astype(np.float64), case.hidden, case.dataset.labels),
        "map_known": float(np.mean(_precisions(case, known, others))),
    }


def _decoded(case: Case, known: Knowledge, codes: Features) -> Record:
    """Scores of decoded codes, for comparison."""
    ids = synsets(case.dataset)
    others = _known(known, ids, case.seen)
    scores = decoded_scores(case, codes, [ids[number] for number in [*case.hidden, *others]])
    n = len(case.hidden)
    return _scores(case, scores[:n], scores[n:], others)


def _outlook(case: Case, known: Knowledge, codes: Features) -> Record:
    """Average precision of each hidden name, and what was forecast for it."""
    ids = synsets(case.dataset)
    asked = directions(known, [ids[number] for number in case.hidden])
    precisions = _precisions(case, scores_of(asked, codes), case.hidden)
    names = [case.dataset.names[number] for number in case.hidden]
    forecasts = [round(known.prominence(own), 6) for own in asked]
    return {
        "found": dict(zip(names, np.round(precisions, 6).tolist(), strict=True)),
        "forecast": dict(zip(names, forecasts, strict=True)),
    }


def _known(known: Knowledge, ids: Sequence[str], seen: Integers) -> Integers:
    """Categories that the network was trained with, or that are labelled."""
    return np.array([number for number in seen if known.known.below(ids[number])], dtype=np.int64)


def _precisions(case: Case, scores: Floats, names: Integers) -> NDArray[np.float64]:
    assert case.dataset.labels is not None
    relevance = metrics.same_label(names, case.dataset.labels)
    return metrics.average_precision(*metrics.real_histograms(scores, relevance), case.k)


def _named(record: Record, ending: str) -> Record:
    return {key + ending: value for key, value in record.items()}


EXPERIMENT = About(
    name="any-name",
    runs=RUNS,
    introduction=INTRODUCTION,
    show=show,
    kinds=(AnyName,),
)
