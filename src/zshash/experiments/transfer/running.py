"""Run cells: fit a setup on a split, search, and note the scores."""

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash import metrics, scale
from zshash.codes import unpack
from zshash.datasets import Dataset, Split
from zshash.experiments.protocol import Protocol, encode_split, relevance, score_codes
from zshash.experiments.reproduction.tasks.retrieval import relation
from zshash.experiments.training import WORDNET, called_by, make_targets
from zshash.experiments.transfer.naming import score_names
from zshash.experiments.transfer.parts import Cell, Study
from zshash.experiments.transfer.records import Record, Records
from zshash.experiments.transfer.setups import WITHIN
from zshash.experiments.transfer.splits import label_path
from zshash.hashing.base import unit_rows
from zshash.hashing.imagination import category_means
from zshash.hashing.registry import METHODS
from zshash.hashing.rows import Rows
from zshash.hashing.whitening import whiten

__all__ = ["run"]

RELATED_HOPS, RELATED_K = 5, 5000
SHRINKAGE = METHODS["MTH"].parameters["shrinkage"]
LAST_STEPS = 20  # of a training in random batches, whose mean tells how it ended
COMMON = ("n_bits", "normalize", "random_state")  # parameters that records tell otherwise
Features = NDArray[np.float32]


def run(
    cells: Sequence[Cell], records: Records, study: Study, device: str | None = None
) -> Iterator[Record]:
    """Run cells and keep their records; yields each. An interruption loses none of them."""
    try:
        for cell in cells:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # fits on their own tell nothing new
                record = run_cell(cell, study, device)
            records.add(record)
            yield record
    finally:
        records.save()


def run_cell(cell: Cell, study: Study, device: str | None = None) -> Record:
    """The record of one cell; only MTH is trained on the device."""
    protocol = cell.source.protocol(cell.split, cell.n_train)
    dataset = cell.source.load()
    split = protocol.split(dataset, cell.seed)
    if cell.setup.centred:
        dataset = replace(dataset, X=dataset.X - dataset.X[split.train].mean(axis=0))
    if cell.setup.among_hidden:
        split = among_hidden(dataset, split)
    if cell.setup.whitening is not None:
        dataset = whitened(dataset, split, cell.setup.whitening, cell.setup.shrinkage)
    if cell.bits is None:
        return _head(cell, {}) | _rounded({"map": cosine_map(dataset, split, protocol)})
    hashers = [
        cell.setup.hasher(cell.bits, cell.n_train, study.smaller).set_params(random_state=seed)
        for seed in range(cell.seed, cell.seed + cell.setup.n_fits)
    ]
    labels = study.name_sources[cell.names] if cell.names else cell.setup.labels(cell.source)
    labels = tuple(map(label_path, labels))
    used = device if cell.setup.method == "MTH" else None
    seconds = sum(fit(hasher, dataset, split, labels, used) for hasher in hashers)
    hasher = best(hashers)
    if cell.names:
        meanings = database_meanings(hasher, dataset, split)
        scores = score_names(dataset, split, meanings, labels, protocol.k)
    else:
        scores = score(hasher, dataset, split, protocol, cell.source.knows_related)
    where = "CPU" if used in (None, "cpu") else "GPU"
    time_and_place = {"fit_seconds": round(seconds, 3), "trained_on": where}
    return _head(cell, changed_parameters(hasher)) | _rounded(scores) | time_and_place


def _head(cell: Cell, parameters: dict[str, Any]) -> Record:
    """What a record has beside its scores."""
    return {
        "data": cell.source.name,
        "split": cell.split,
        "seed": cell.seed,
        "n_train": "all" if cell.n_train is None else cell.n_train,
        "setup": cell.setup.name,
        "method": cell.setup.method,
        "parameters": parameters,
        "bits": cell.bits,
    } | ({"names": cell.names} if cell.names else {})


def fit(
    hasher: Any, dataset: Dataset, split: Split, labels: tuple[str, ...], device: str | None
) -> float:
    """Fit to the training samples of a split; the seconds it took."""
    targets = make_targets(hasher, dataset, split.train, split.seen, labels)
    X = dataset.X[split.train]
    start = time.perf_counter()
    if device is None:
        hasher.fit(X, targets)
    else:
        scale.fit(hasher, X, targets, device=device)
    return time.perf_counter() - start


def best(hashers: Sequence[Any]) -> Any:
    """Of several fits of ZSH or MTH that whose objective ended lowest; of one, this one."""
    return hashers[0] if len(hashers) == 1 else min(hashers, key=objective)


def objective(hasher: Any) -> float:
    """Where a fit ended."""
    values = hasher.loss_[-LAST_STEPS:] if hasattr(hasher, "loss_") else hasher.objective_[-1:]
    return float(np.mean(values))


def score(
    hasher: Any, dataset: Dataset, split: Split, protocol: Protocol, with_related: bool
) -> dict[str, float]:
    """MAP, precision, MAP by asymmetric distance, and mean precision of related categories."""
    codes = encode_split(dataset, hasher, split)
    found = score_codes(dataset, codes, split, protocol)
    found |= metrics.evaluate_asymmetric(
        hasher.project(dataset.X[split.queries]), codes[1], relevance(dataset, split), k=protocol.k
    )
    scores = {key: found[key] for key in ("map", "precision", "map_asymmetric")}
    if with_related:
        assert dataset.labels is not None
        related = metrics.related_labels(
            dataset.labels[split.queries],
            dataset.labels[split.database],
            relation(called_by(dataset, WORDNET), RELATED_HOPS),
        )
        k = min(RELATED_K, len(split.database))
        scores["map_related"] = metrics.mean_precision(*metrics.histograms(*codes, related), k)
    return scores


def database_meanings(hasher: Any, dataset: Dataset, split: Split) -> NDArray[np.float64]:
    """Where the codes of the database stand among label vectors."""
    bits = unpack(hasher.encode(dataset.X[split.database]), hasher.n_bits)
    meanings: NDArray[np.float64] = hasher.meanings(2.0 * bits - 1.0)
    return meanings


def cosine_map(dataset: Dataset, split: Split, protocol: Protocol) -> float:
    """MAP of the features themselves, ranked by cosine: what codes can hardly surpass."""
    X = unit_rows(dataset.X)
    found = metrics.scored(X[split.queries] @ X[split.database].T, relevance(dataset, split))
    return metrics.mean_average_precision(*found, protocol.k)


def among_hidden(dataset: Dataset, split: Split) -> Split:
    """The same with a database of hidden categories alone."""
    assert dataset.labels is not None
    is_hidden = np.isin(dataset.labels[split.database], split.unseen)
    return replace(split, database=split.database[is_hidden])


def whitened(dataset: Dataset, split: Split, of: str, shrinkage: float | None = None) -> Dataset:
    """Features in the metric that MTH learns from a split's training samples.

    `shrinkage` is its ε, by default that of MTH. With `of` "within categories", it is learned from
    what sets these apart from the means of their categories.
    """
    X: Features = unit_rows(dataset.X)
    train = X[split.train]
    mean = train.mean(axis=0)
    if of == WITHIN:
        assert dataset.labels is not None
        rows = np.searchsorted(split.seen, dataset.labels[split.train])
        train = train - category_means(train, rows)[rows]
    metric = whiten(Rows(train), SHRINKAGE if shrinkage is None else shrinkage).T.astype(np.float32)
    return replace(dataset, X=(X - mean) @ metric)


def changed_parameters(hasher: Any) -> dict[str, Any]:
    """Parameters that are not the defaults of a method."""
    defaults = METHODS[type(hasher).__name__].parameters
    own = hasher.get_params()
    return {key: own[key] for key in own if key not in COMMON and own[key] != defaults[key]}


def _rounded(scores: Mapping[str, float]) -> dict[str, float]:
    return {key: round(float(value), 6) for key, value in scores.items()}
