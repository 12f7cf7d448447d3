"""Label sources side by side: WordNet, word vectors, both, and 0/1 labels."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zshash.evaluation.report.document import (
    Block,
    Table,
    Text,
)
from zshash.evaluation.statistics import shown
from zshash.studies.experiments import About
from zshash.studies.findings import Findings

SCORES = {
    "map": "MAP",
    "precision": "precision, radius 2",
    "map_related": "MAP_related",
    "precision_related": "precision_related",
}
WIDTHS = (
    "The width of ZSH's random start was chosen with word vectors, so here are others, for 0/1 "
    "labels, too:"
)
INTRODUCTION = (
    "Beyond the paper: where label vectors come from, all else equal. Several sources are "
    "put side by side at equal weight."
)
RUNS = """
title = "Label sources side by side"
seeds = 5
quick_seeds = 2

[[parts]]
task = "retrieval"
data = "features/cifar10_lite0_pca256.npz"
unseen = ["truck"]
n_train = 10_000
n_queries = 1000
k = 5000

[parts.vary]
labels = [
    ["wordnet"], ["words/huang2012_50d.txt"], ["words/glove6b_100d_nouns.txt.gz"],
    ["wordnet", "words/glove6b_100d_nouns.txt.gz"], ["onehot"],
]

[[parts]]
task = "retrieval"
data = "features/tiny100_lite0_pca256.npz"
categories = 100
known_to = ["wordnet"]
unseen = 10
n_train = 10_000
n_queries = 500
k = 1000
related_hops = 5
related_k = 5000

[parts.vary]
labels = [
    ["wordnet"], ["words/glove6b_100d_nouns.txt.gz"],
    ["wordnet", "words/glove6b_100d_nouns.txt.gz"], ["onehot"],
]

[[parts]]
task = "retrieval"
data = "features/cifar10_lite0_pca256.npz"
unseen = ["truck"]
n_train = 10_000
n_queries = 1000
k = 5000

[parts.vary]
labels = [["words/huang2012_50d.txt"], ["onehot"]]
parameters = [{ init_scale = 18 }, { init_scale = 57 }]

[[parts]]
task = "retrieval"
data = "features/tiny100_lite0_pca256.npz"
categories = 100
known_to = ["wordnet"]
unseen = 10
n_train = 10_000
n_queries = 500
k = 1000
related_hops = 5
related_k = 5000

[parts.vary]
labels = [["wordnet"], ["onehot"]]
parameters = [{ init_scale = 18 }, { init_scale = 57 }]

[[quick]]
task = "retrieval"
data = "digits"
unseen = 2
bits = 32
n_train = 600
n_queries = 60
k = 100
related_hops = 5

[quick.vary]
labels = [["wordnet"], ["onehot"]]
"""


def show(found: Findings) -> list[Block]:
    """Tables of every label source on every data set."""
    blocks: list[Block] = []
    for data in found.along("data"):
        own = found.where(data=data)
        keys = [key for key in SCORES if own.values(key)]
        heads = [Path(data).stem, *(SCORES[key] for key in keys)]
        blocks.append(Table(heads, _by_source(own, {}, keys)))
        widths = [parameters for parameters in own.along("parameters") if parameters]
        rows = [row for parameters in widths for row in _by_source(own, parameters, keys)]
        blocks += [Text(WIDTHS), Table(heads, rows)] if rows else []
    return blocks


def _by_source(
    own: Findings, parameters: Mapping[str, Any], keys: Sequence[str]
) -> list[list[str]]:
    """A row for each label source that was run with these parameters."""
    part = own.where(parameters=parameters)
    varied = "".join(f", {name} {value}" for name, value in parameters.items())
    return [
        [source_name(labels) + varied, *(shown(part.values(key, labels=labels)) for key in keys)]
        for labels in part.along("labels")
    ]


def source_name(labels: Sequence[str]) -> str:
    """Label sources as a text for a person."""
    return " + ".join(Path(spec).name for spec in labels) or "the method's own"


EXPERIMENT = About(
    name="labels",
    runs=RUNS,
    introduction=INTRODUCTION,
    show=show,
)
