"""Search by any name, with no label or with some: the rule that zshash ships."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from zshash import metrics
from zshash.datasets import DataError, Dataset
from zshash.datasets.splits import draw_training
from zshash.evaluation.protocol import checksum
from zshash.evaluation.report.document import Block, Table, Text
from zshash.evaluation.tasks import Record
from zshash.learning.knowledge import Knowledge
from zshash.studies.data import Sources
from zshash.studies.experiments import About
from zshash.studies.findings import Findings
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
from zshash.studies.names2026.tables import over_splits
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


def show(found: Findings) -> list[Block]:
    """A table for each data set, the hidden names of small ones, and the check of forecasts."""
    blocks: list[Block] = []
    for data in found.along("data"):
        blocks += _of_data(found.where(data=data))
    return blocks


HEADS = {"": "codes", "_decoded": "decoded", "_features": "features"}
SCORES = {"map": "hidden", "accuracy": "right name", "map_known": "known"}
MANY = 10  # hidden names that a rank correlation needs


def _of_data(own: Findings) -> list[Block]:
    found = [(result.task, _finished(result.runs)) for result in own.results]
    found = sorted(((task, runs) for task, runs in found if runs), key=lambda pair: _size(pair[0]))
    if not found:
        return []
    title = Path(found[0][0].data).stem
    # of one hidden name, every picture gets the right one
    scores = [key for key in SCORES if any(run[key] < 1 for _, runs in found for run in runs)]
    heads = [f"{SCORES[key]}, {head}" for key in scores for head in HEADS.values()]
    rows = [
        [_what(task), *_cells(runs, scores), _paired(task, runs, found)] for task, runs in found
    ]
    caption = f"{title}: MAP of names, and the right one of the hidden"
    table = Table([title, *heads, "same hidden names, no label"], rows, caption)
    return [table, *_by_name(found), Text(_forecasts(found))]


Runs = Sequence[Record]


def _finished(runs: Runs) -> list[Record]:
    return [run for run in runs if "error" not in run]


def _cells(runs: Runs, scores: Sequence[str]) -> list[str]:
    return [over_splits([run[key + end] for run in runs]) for key in scores for end in HEADS]


def _paired(task: Any, runs: Runs, found: Sequence[tuple[Any, Runs]]) -> str:
    """MAP of the hidden names of some runs with labels, in the runs without labels."""
    plain = [own for other, own in found if not other.n_labelled and other.bits == task.bits]
    if not task.n_labelled or not plain:
        return "–"
    without = {run["seed"]: run["found"] for run in plain[0]}
    pairs = [(run["found"], without[run["seed"]]) for run in runs if run["seed"] in without]
    pairs = [(own, other) for own, other in pairs if set(own) <= set(other)]
    return over_splits([float(np.mean([other[name] for name in own])) for own, other in pairs])


def _size(task: Any) -> tuple[int, int, int]:
    return task.bits, task.n_labelled, -1 if task.pool is None else task.pool


def _what(task: Any) -> str:
    labelled = f"{task.n_labelled:,} labelled" if task.n_labelled else "no label"
    alone = " alone" if task.pool == 0 else ""
    return f"{task.bits} bits, {labelled}{alone}"


def _forecasts(found: Sequence[tuple[Any, Runs]]) -> str:
    """Rank correlations of forecast and average precision over the hidden names of each run."""
    parts = []
    for task, runs in found:
        pairs = [(list(run["forecast"].values()), list(run["found"].values())) for run in runs]
        own = [float(spearmanr(*pair)[0]) for pair in pairs if len(pair[0]) >= MANY]
        parts += [f"{_what(task)} {over_splits(own)}"] if own else []
    told = "Rank correlation of forecast and average precision, hidden names: "
    return told + ("; ".join(parts) or "too few names") + "."


def _by_name(found: Sequence[tuple[Any, Runs]]) -> list[Block]:
    """A row for each hidden name, where there are few."""
    names = sorted({name for _, runs in found for run in runs for name in run["found"]})
    if len(names) > MANY:
        return []
    rows = []
    for name in names:
        values = [[run["found"][name] for run in runs if name in run["found"]] for _, runs in found]
        rows.append([name, *map(over_splits, values)])
    heads = ["hidden name", *(_what(task) for task, _ in found)]
    return [Table(heads, rows, "Each name, codes: MAP")]


EXPERIMENT = About(
    name="any-name",
    runs=RUNS,
    introduction=INTRODUCTION,
    show=show,
    kinds=(AnyName,),
)
