"""The retrieval protocol: hide categories, learn from the others, search for the hidden ones."""

import hashlib
import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone

import zshash
from zshash import metrics
from zshash.datasets import DataError, Dataset, Split, conventional_split, zero_shot_split
from zshash.datasets.data import bears
from zshash.evaluation.statistics import with_error
from zshash.hashing.hasher import Hasher, check_binary
from zshash.hashing.registry import METHODS, recorded_parameters
from zshash.learning.fitting import fit_timed
from zshash.learning.targets import label_names
from zshash.metrics.relevance import Relevance

__all__ = ["Protocol", "Setup", "checksum", "run", "summarize"]

Codes = NDArray[np.uint8]
Result = TypeVar("Result")
COMMON = ("n_bits", "normalize", "random_state")
"""Parameters of every method that the protocol or the seed decides."""
LATER = {"n_seen_queries": 0, "unlabelled": False}
"""Settings of a protocol that version 0.1.0 did not have, with their values there."""
OTHERS = ("map_alone", "map_real_alone", "map_seen", "map_real_seen")
"""MAP of hidden queries in a database of hidden categories alone, and of seen queries."""


@dataclass(frozen=True)
class Protocol:
    """Which categories are hidden, and how the search for them is scored.

    Attributes
    ----------
    unseen : list of category numbers, int or None
        The categories to hide, or the number of categories that each seed draws. With None, all
        categories are trained on and give queries, the conventional way to score hashing.
    n_train, n_queries : int or None
        As in `zero_shot_split`.
    k : int
        MAP counts the first `k` neighbours.
    radius : int
        Precision counts all neighbours up to this distance.
    n_seen_queries : int or None
        As in `zero_shot_split`.
    unlabelled : bool
        Whether methods that can also learn from samples without a label: from the database
        without the queries, where only the training samples are labelled.
    """

    unseen: Any
    n_train: int | None = None
    n_queries: int | None = None
    k: int = 5000
    radius: int = 2
    n_seen_queries: int | None = 0
    unlabelled: bool = False

    def split(self, dataset: Dataset, seed: int) -> Split:
        """The split of one seed."""
        if dataset.labels is None:
            raise DataError("the data has no labels, so there is nothing to score against")
        sizes = {"n_train": self.n_train, "n_queries": self.n_queries}
        if self.unseen is None:
            return conventional_split(dataset.labels, **sizes, random_state=seed)
        sizes["n_seen_queries"] = self.n_seen_queries
        return zero_shot_split(dataset.labels, self.unseen, **sizes, random_state=seed)

    def facts(self) -> dict[str, Any]:
        """All settings, ready for JSON; those that earlier versions did not have only if set."""
        facts = asdict(self) | {"unseen": np.asarray(self.unseen).tolist()}
        return {key: own for key, own in facts.items() if LATER.get(key, ...) != own}


@dataclass(frozen=True)
class Setup:
    """A method with its parameters, and the sources of its label vectors.

    Without `labels`, a semantic method uses WordNet, and other methods use class labels.
    """

    name: str
    hasher: Hasher
    labels: tuple[str, ...] = ()


def setup_name(hasher: Hasher) -> str:
    """A name for a setup that differs from others only in the method and the bits."""
    return f"{type(hasher).__name__}, {hasher.n_bits} bits"


def changed_parameters(method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters that differ from the defaults of the method, without the common ones."""
    defaults = METHODS[method].parameters
    return {
        key: value
        for key, value in parameters.items()
        if key not in COMMON and value != defaults[key]
    }


def run(
    dataset: Dataset, setups: Sequence[Setup], protocol: Protocol, seeds: Iterable[int]
) -> Iterator[dict[str, Any]]:
    """Score every setup on the split of every seed; yields one record each, ready for JSON."""
    for seed in seeds:
        split = protocol.split(dataset, seed)
        for setup in setups:
            yield run_setup(dataset, setup, split, protocol, seed)


def run_setup(
    dataset: Dataset, setup: Setup, split: Split, protocol: Protocol, seed: int
) -> dict[str, Any]:
    """Fit and score one setup on one split."""
    check_binary(setup.hasher, "a comparison")
    hasher, seconds = fit_setup(dataset, setup, split, seed, unlabelled=protocol.unlabelled)
    training = {
        "labels": label_names(hasher, setup.labels),
        "n_train": len(split.train),
        "fit_seconds": seconds,
    }
    return make_record(setup.name, hasher, training, dataset, split, protocol, seed)


def fit_setup(
    dataset: Dataset, setup: Setup, split: Split, seed: int, *, unlabelled: bool = False
) -> tuple[Any, float]:
    """Fit a copy of the setup's hasher with this seed; returns it and the seconds of the fit."""
    hasher = clone(setup.hasher).set_params(random_state=seed)
    known, rows = learned_from(hasher, dataset, split, unlabelled=unlabelled)
    return hasher, fit_timed(hasher, known, rows, split.seen, setup.labels)


def learned_from(
    hasher: Hasher, dataset: Dataset, split: Split, *, unlabelled: bool
) -> tuple[Dataset, NDArray[np.int64]]:
    """The data with the labels that a method may know, and the rows that it learns from.

    With `unlabelled`, a method that can use them also gets samples without a label.
    """
    if not unlabelled or not hasher.learns_unlabelled:
        return dataset, split.train
    assert dataset.labels is not None
    return replace(dataset, labels=split.known_labels(dataset.labels)), split.pool


def make_record(
    name: str,
    hasher: Hasher,
    training: dict[str, Any],
    dataset: Dataset,
    split: Split,
    protocol: Protocol,
    seed: int,
) -> dict[str, Any]:
    """Record of a fitted hasher: its scores, and all that they depend on."""
    return {
        "name": name,
        "method": type(hasher).__name__,
        "parameters": recorded_parameters(hasher),
        **training,
        "seed": seed,
        "unseen": [dataset.names[number] for number in split.unseen],
        **score(dataset, hasher, split, protocol),
        "protocol": protocol.facts(),
        "versions": versions(),
    }


def score(dataset: Dataset, hasher: Hasher, split: Split, protocol: Protocol) -> dict[str, Any]:
    """MAP and precision of the split's queries in its database, hashed by `hasher`.

    "map_real" is the MAP of real-valued queries (see `metrics.evaluate_real`). Scores of other
    kinds of queries have a suffix, as in "map_seen"; see `kinds`.
    """

    def score_kind(own: Split, database: Codes) -> dict[str, Any]:
        queries = query_codes(dataset, hasher, own, database)
        scores = score_codes(dataset, (queries, database), own, protocol)
        return scores | score_real(dataset, hasher, database, own, protocol)

    found = by_kind(dataset, hasher, split, score_kind)
    scores = found.pop("")
    for suffix, others in found.items():
        scores |= {key + suffix: others[key] for key in ("map", "map_real", "precision")}
    return scores | ({"n_seen_queries": len(split.seen_queries)} if len(split.seen_queries) else {})


def query_codes(dataset: Dataset, hasher: Hasher, split: Split, database: Codes) -> Codes:
    """Codes of the queries; those that are in the database have the codes that they have there.

    Hashed again in other company, a sample can get another bit: sums of floats depend on the shape
    of a block, and some projections are hardly different from zero.
    """
    if split.finds_itself:
        return database[np.searchsorted(split.database, split.queries)]
    return hasher.encode(dataset.X[split.queries])


def by_kind(
    dataset: Dataset, hasher: Hasher, split: Split, score_kind: Callable[[Split, Codes], Result]
) -> dict[str, Result]:
    """What `score_kind` gives for each kind of queries, with its split and its database's codes."""
    codes = hasher.encode(dataset.X[split.database])
    return {
        suffix: score_kind(own, codes[np.isin(split.database, own.database, assume_unique=True)])
        for suffix, own in kinds(dataset, split).items()
    }


def kinds(dataset: Dataset, split: Split) -> dict[str, Split]:
    """The kinds of queries of a split, each as a split, by the suffix of its scores.

    "": the split itself. "_alone": its queries in a database of hidden categories alone, where two
    or more are hidden. "_seen": queries of seen categories, where the split has them.
    """
    found = {"": split}
    if len(split.unseen) > 1:
        assert dataset.labels is not None
        is_hidden = bears(dataset.labels[split.database], split.unseen)
        found["_alone"] = replace(split, database=split.database[is_hidden])
    if len(split.seen_queries):
        found["_seen"] = replace(split, queries=split.seen_queries)
    return found


def encode_split(dataset: Dataset, hasher: Hasher, split: Split) -> tuple[Codes, Codes]:
    """Codes of the queries and of the database."""
    return hasher.encode(dataset.X[split.queries]), hasher.encode(dataset.X[split.database])


def score_codes(
    dataset: Dataset, codes: tuple[Codes, Codes], split: Split, protocol: Protocol
) -> dict[str, Any]:
    """MAP and precision of the split's queries in its database, given the codes of both."""
    return metrics.evaluate(
        *codes,
        relevance(dataset, split),
        k=protocol.k,
        radius=protocol.radius,
        itself=split.finds_itself,
    )


def score_real(
    dataset: Dataset, hasher: Hasher, database: Codes, split: Split, protocol: Protocol
) -> dict[str, Any]:
    """MAP of the split's queries as real values in a database of codes, as "map_real"."""
    queries = hasher.project(dataset.X[split.queries])
    shared = relevance(dataset, split)
    return metrics.evaluate_real(queries, database, shared, k=protocol.k, itself=split.finds_itself)


def relevance(dataset: Dataset, split: Split) -> Relevance:
    """Relevance of the split: an item is relevant to a query if they share a label."""
    assert dataset.labels is not None
    shared = metrics.same_label if dataset.labels.ndim == 1 else metrics.share_labels
    return shared(dataset.labels[split.queries], dataset.labels[split.database])


def summarize(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean and standard deviation over seeds, for each name in the order of appearance.

    The deviation of one seed is None. A score that some records lack is None: records of earlier
    versions have no "map_real". A score that all records of all names lack is left out.
    """
    rows = []
    keys = ["map", "map_real", *(key for key in OTHERS if any(key in r for r in records))]
    for name in dict.fromkeys(record["name"] for record in records):
        own = [record for record in records if record["name"] == name]
        row: dict[str, Any] = {"name": name, "n_seeds": len(own)}
        for key in (*keys, "precision", "fit_seconds"):
            row[key], row[f"{key}_deviation"] = _mean_and_deviation([r.get(key) for r in own])
        rows.append(row)
    return rows


def _mean_and_deviation(scores: Sequence[float | None]) -> tuple[float | None, float | None]:
    """Mean and deviation of the scores of several seeds; None and None if a score is missing."""
    values = [score for score in scores if score is not None]
    if len(values) < len(scores):
        return None, None
    # By NumPy, so that summaries equal those of earlier versions to the last digit.
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else None


def with_deviation(row: dict[str, Any], key: str) -> str:
    """Mean and deviation of a score as text, or a dash if the score is missing."""
    if row.get(key) is None:
        return "–"
    return with_error(f"{row[key]:.3f}", row[f"{key}_deviation"], 3)


def checksum(dataset: Dataset, labels: Sequence[str]) -> str:
    """Checksum of all that is read from files: samples, names and label sources."""
    digest = hashlib.sha256(np.ascontiguousarray(dataset.X).data)
    digest.update(json.dumps([dataset.names, dataset.synsets]).encode())
    if dataset.labels is not None:
        digest.update(np.ascontiguousarray(dataset.labels).data)
    for spec in labels:
        digest.update(Path(spec).read_bytes() if Path(spec).is_file() else spec.encode())
    return digest.hexdigest()[:16]


def versions() -> dict[str, str]:
    """Versions that a result depends on."""
    packages = (zshash, np, scipy, sklearn, numba)
    return {"python": platform.python_version()} | {p.__name__: p.__version__ for p in packages}
