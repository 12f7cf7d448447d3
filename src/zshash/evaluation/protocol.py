"""The retrieval protocol: hide categories, learn from the others, search for the hidden ones."""

import hashlib
import json
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone

import zshash
from zshash import metrics
from zshash.datasets import DataError, Dataset, Split, conventional_split, zero_shot_split
from zshash.evaluation.statistics import with_error
from zshash.hashing.hasher import Hasher
from zshash.hashing.registry import METHODS
from zshash.learning.fitting import fit_timed
from zshash.learning.targets import label_names
from zshash.metrics.relevance import Relevance

__all__ = ["Protocol", "Setup", "checksum", "run", "summarize"]

Codes = NDArray[np.uint8]
COMMON = ("n_bits", "normalize", "random_state")
"""Parameters of every method that the protocol or the seed decides."""


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
    """

    unseen: Any
    n_train: int | None = None
    n_queries: int | None = None
    k: int = 5000
    radius: int = 2

    def split(self, dataset: Dataset, seed: int) -> Split:
        """The split of one seed."""
        if dataset.labels is None:
            raise DataError("the data has no labels, so there is nothing to score against")
        sizes = {"n_train": self.n_train, "n_queries": self.n_queries}
        if self.unseen is None:
            return conventional_split(dataset.labels, **sizes, random_state=seed)
        return zero_shot_split(dataset.labels, self.unseen, **sizes, random_state=seed)

    def facts(self) -> dict[str, Any]:
        """All settings, ready for JSON."""
        return asdict(self) | {"unseen": np.asarray(self.unseen).tolist()}


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
    hasher, seconds = fit_setup(dataset, setup, split, seed)
    training = {
        "labels": label_names(hasher, setup.labels),
        "n_train": len(split.train),
        "fit_seconds": seconds,
    }
    return make_record(setup.name, hasher, training, dataset, split, protocol, seed)


def fit_setup(dataset: Dataset, setup: Setup, split: Split, seed: int) -> tuple[Any, float]:
    """Fit a copy of the setup's hasher with this seed; returns it and the seconds of the fit."""
    hasher = clone(setup.hasher).set_params(random_state=seed)
    return hasher, fit_timed(hasher, dataset, split.train, split.seen, setup.labels)


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
        "parameters": hasher.get_params(),
        **training,
        "seed": seed,
        "unseen": [dataset.names[number] for number in split.unseen],
        **score(dataset, hasher, split, protocol),
        "protocol": protocol.facts(),
        "versions": versions(),
    }


def score(dataset: Dataset, hasher: Hasher, split: Split, protocol: Protocol) -> dict[str, Any]:
    """MAP and precision of the split's queries in its database, hashed by `hasher`.

    Also returns "map_real", the MAP of real-valued queries (see `metrics.evaluate_real`).
    """
    codes = encode_split(dataset, hasher, split)
    scores = score_codes(dataset, codes, split, protocol)
    return scores | score_real(dataset, hasher, codes[1], split, protocol)


def encode_split(dataset: Dataset, hasher: Hasher, split: Split) -> tuple[Codes, Codes]:
    """Codes of the queries and of the database."""
    return hasher.encode(dataset.X[split.queries]), hasher.encode(dataset.X[split.database])


def score_codes(
    dataset: Dataset, codes: tuple[Codes, Codes], split: Split, protocol: Protocol
) -> dict[str, Any]:
    """MAP and precision of the split's queries in its database, given the codes of both."""
    return metrics.evaluate(*codes, relevance(dataset, split), k=protocol.k, radius=protocol.radius)


def score_real(
    dataset: Dataset, hasher: Hasher, database: Codes, split: Split, protocol: Protocol
) -> dict[str, Any]:
    """MAP of the split's queries as real values in a database of codes, as "map_real"."""
    queries = hasher.project(dataset.X[split.queries])
    return metrics.evaluate_real(queries, database, relevance(dataset, split), k=protocol.k)


def relevance(dataset: Dataset, split: Split) -> Relevance:
    """Relevance of the split: an item is relevant to a query if they share a label."""
    assert dataset.labels is not None
    shared = metrics.same_label if dataset.labels.ndim == 1 else metrics.share_labels
    return shared(dataset.labels[split.queries], dataset.labels[split.database])


def summarize(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean and standard deviation over seeds, for each name in the order of appearance.

    The deviation of one seed is None. Records of earlier versions have no "map_real": a name with
    such a record has None there.
    """
    rows = []
    for name in dict.fromkeys(record["name"] for record in records):
        own = [record for record in records if record["name"] == name]
        row: dict[str, Any] = {"name": name, "n_seeds": len(own)}
        for key in ("map", "map_real", "precision", "fit_seconds"):
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
