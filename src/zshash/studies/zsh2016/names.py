"""Search by the name of a category that nobody labelled, without any picture."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zshash import metrics
from zshash.datasets import DataError, Dataset, Split
from zshash.evaluation.protocol import fit_setup
from zshash.evaluation.report.document import Bars, Block, Plot, Table, Text
from zshash.evaluation.statistics import shown
from zshash.evaluation.tasks import Record
from zshash.hashing.hasher import Hasher
from zshash.learning.name_rule import cosines, products, standing_of
from zshash.learning.targets import label_vectors
from zshash.studies.data import Sources
from zshash.studies.experiments import About
from zshash.studies.findings import Findings
from zshash.studies.tasks import ZeroShot, chance
from zshash.studies.zsh2016.labels import source_name

WAYS = {"centred": "b·A(y − ȳ)", "cosine": "cosine of bA and y", "hamming": "Hamming distance"}
Scores = NDArray[np.float64]
INTRODUCTION = (
    "Beyond the paper: rank pictures by the *name* of an unseen category, with no picture to "
    "search with. A maps codes to label vectors, y is the vector of the name, ȳ the mean of "
    "the seen ones; `zshash search --name` takes the second way, less a part of the cosine of "
    "the best seen category."
)
RUNS = """
title = "Search by the name of an unseen category"
seeds = 5
quick_seeds = 2

[[parts]]
task = "naming"
data = "features/tiny100_lite0_pca256.npz"
unseen = 10
n_train = 10_000
n_queries = 500
k = 1000

[parts.vary]
labels = [
    ["wordnet"], ["words/glove6b_100d_nouns.txt.gz"],
    ["wordnet", "words/glove6b_100d_nouns.txt.gz"],
]

[[parts]]
task = "naming"
data = "features/cifar10_lite0_pca256.npz"
n_train = 10_000
n_queries = 1000
k = 1000

[parts.vary]
labels = [
    ["wordnet"], ["words/huang2012_50d.txt"], ["words/glove6b_100d_nouns.txt.gz"],
    ["wordnet", "words/glove6b_100d_nouns.txt.gz"],
]
unseen = [
    ["airplane"], ["automobile"], ["bird"], ["cat"], ["deer"], ["dog"], ["frog"], ["horse"],
    ["ship"], ["truck"],
]

[[quick]]
task = "naming"
data = "digits"
unseen = 2
bits = 32
n_train = 600
n_queries = 60
k = 100
labels = ["wordnet"]
"""


@dataclass(frozen=True, kw_only=True)
class Naming(ZeroShot):
    """Rank all pictures of the database by the name of each unseen category."""

    kind: ClassVar[str] = "naming"

    def rehearse(self, sources: Sources) -> str:
        """Check the data as always, and that label sources know the meanings of names."""
        if not self.has_vectors:
            raise DataError("searching by name needs label sources that know the meanings of names")
        return super().rehearse(sources)

    def run(self, seed: int, sources: Sources) -> Record:
        """MAP of the unseen names, and the share of unseen pictures that get the right name."""
        dataset = self.dataset(sources)
        split = self.protocol(dataset).split(dataset, seed)
        hasher, seconds = fit_setup(dataset, self.setup(), split, seed)
        assert dataset.labels is not None
        found = dataset.labels[split.database]
        relevance = metrics.same_label(split.unseen, found)
        record: Record = {"seed": seed}
        for way, scores in self._rankings(dataset, hasher, split).items():
            relevant, total = metrics.real_histograms(scores, relevance)
            record[f"map_{way}"] = metrics.mean_average_precision(relevant, total, self.k)
            record[f"accuracy_{way}"] = accuracy(scores, split.unseen, found)
        return record | {
            "chance": chance(relevant, total, self.k),
            "unseen": [dataset.names[number] for number in split.unseen],
            "fit_seconds": seconds,
        }

    def _rankings(self, dataset: Dataset, hasher: Hasher, split: Split) -> dict[str, Scores]:
        """Scores (names, database) of the three ways to rank."""
        labels = self.setup().labels
        seen = label_vectors(dataset, split.seen, labels)
        names = label_vectors(dataset, split.unseen, labels, split.seen)
        codes = hasher.encode(dataset.X[split.database])
        standing = standing_of(hasher, codes, seen.astype(np.float64))
        centred = hasher.directions(names, seen.mean(axis=0))
        ways = {
            "centred": [products(codes, direction) for direction in centred],
            "cosine": [cosines(hasher, codes, name, standing) for name in names],
            "hamming": [products(codes, np.where(own > 0, 1.0, -1.0)) for own in centred],
        }
        return {way: np.stack(rows) for way, rows in ways.items()}


def accuracy(scores: Scores, names: NDArray[Any], found: NDArray[Any]) -> float:
    """Share of unseen pictures for which the right name has the highest score.

    >>> scores = np.array([[2.0, 1.0, 9.0], [1.0, 3.0, 0.0]])
    >>> accuracy(scores, names=np.array([5, 7]), found=np.array([5, 5, 1]))
    0.5
    """
    unseen = np.isin(found, names)
    return float((names[scores[:, unseen].argmax(axis=0)] == found[unseen]).mean())


def show(found: Findings) -> list[Block]:
    """Tables of MAP and accuracy of unseen names, by label source and way of ranking."""
    blocks: list[Block] = []
    for data in found.along("data"):
        own = found.where(data=data)
        hidden = len(own.runs[0]["unseen"]) if own.runs else 1
        rows = []
        for labels in own.along("labels"):
            cells = [shown(own.values(f"map_{way}", labels=labels)) for way in WAYS]
            told = shown(own.values("accuracy_cosine", labels=labels))
            rows.append([source_name(labels), *cells, *([told] if hidden > 1 else [])])
        heads = [Path(data).stem, *(f"MAP, {text}" for text in WAYS.values())]
        heads += ["right one of the unseen names, by cosine"] if hidden > 1 else []
        blocks += [Table(heads, rows), Text(_chance(own, hidden))]
    return [*blocks, *_names_by_category(found)]


def _chance(own: Findings, hidden: int) -> str:
    chance = own.mean("chance")
    if chance is None:
        return "There are no results."
    right = f", right name {1 / hidden:.2f}" if hidden > 1 else ""
    over = "" if hidden > 1 else " Deviations are over categories and seeds."
    return f"Chance: MAP {chance:.3f}{right}.{over}"


def _names_by_category(found: Findings) -> list[Block]:
    """A plot for categories hidden one by one: a bar for each category and label source."""
    own = [result for result in found.results if isinstance(result.task.facts()["unseen"], list)]
    if not own:
        return []
    part = Findings(found.experiment, own)
    groups = part.along("unseen")
    series = [
        part.series(source_name(labels), "map_centred", "unseen", labels=labels)
        for labels in part.along("labels")
    ]
    panel = Bars("MAP of a search by name", "", [", ".join(unseen) for unseen in groups], series)
    return [Plot(found.experiment.name, [panel], "MAP of searching each unseen category by name")]


EXPERIMENT = About(
    name="names",
    runs=RUNS,
    introduction=INTRODUCTION,
    show=show,
    kinds=(Naming,),
)
