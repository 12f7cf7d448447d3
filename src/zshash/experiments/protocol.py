"""Retrieval, scored: hide categories, learn from the others, search for the hidden."""

import hashlib
import json
import platform
from collections.abc import Iterable, Iterator, Sequence
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
from zshash.experiments.training import fit_timed, label_names
from zshash.metrics.relevance import Relevance

__all__ = ["Protocol", "Setup", "checksum", "run", "summarize"]

Codes = NDArray[np.uint8]


@dataclass(frozen=True)
class Protocol:
    """What is hidden and what is scored.

    Attributes
    ----------
    unseen : list of category numbers, int or None
        The categories to hide, how many of them to draw anew for each seed, or none: then all
        categories are trained on and give queries, as hashing is conventionally scored.
    n_train, n_queries : int or None
        As in `zero_shot_split`.
    k : int
        MAP looks at the first `k` neighbours.
    radius : int
        Precision looks at all neighbours up to this distance.
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
        """All of it, ready for JSON."""
        return asdict(self) | {"unseen": np.asarray(self.unseen).tolist()}


@dataclass(frozen=True)
class Setup:
    """A method with its parameters, and where its label vectors come from.

    Without `labels`, the method's kind decides: WordNet for a semantic one, else class labels.
    """

    name: str
    hasher: Any
    labels: tuple[str, ...] = ()


def setup_name(hasher: Any) -> str:
    """The name of a setup in which nothing but the method and the bits matter."""
    return f"{type(hasher).__name__}, {hasher.n_bits} bits"


def run(
    dataset: Dataset, setups: Sequence[Setup], protocol: Protocol, seeds: Iterable[int]
) -> Iterator[dict[str, Any]]:
    """Score every setup on the split of every seed; yields a record for each, ready for JSON."""
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
    """Fit a fresh copy of the setup's hasher with this seed; also the seconds it took."""
    hasher = clone(setup.hasher).set_params(random_state=seed)
    return hasher, fit_timed(hasher, dataset, split.train, split.seen, setup.labels)


def make_record(
    name: str,
    hasher: Any,
    training: dict[str, Any],
    dataset: Dataset,
    split: Split,
    protocol: Protocol,
    seed: int,
) -> dict[str, Any]:
    """Scores of a fitted hasher, with all that they depend on."""
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


def score(dataset: Dataset, hasher: Any, split: Split, protocol: Protocol) -> dict[str, Any]:
    """MAP and precision of the split's queries in its database, all hashed by `hasher`.

    Also "map_asymmetric", the MAP by asymmetric distance, see `metrics.evaluate_asymmetric`.
    """
    queries = hasher.project(dataset.X[split.queries])
    codes = hasher.quantize(queries), hasher.encode(dataset.X[split.database])
    scores = score_codes(dataset, codes, split, protocol)
    return scores | metrics.evaluate_asymmetric(
        queries, codes[1], relevance(dataset, split), k=protocol.k
    )


def encode_split(dataset: Dataset, hasher: Any, split: Split) -> tuple[Codes, Codes]:
    """Codes of the queries and of the database."""
    return hasher.encode(dataset.X[split.queries]), hasher.encode(dataset.X[split.database])


def score_codes(
    dataset: Dataset, codes: tuple[Codes, Codes], split: Split, protocol: Protocol
) -> dict[str, Any]:
    """MAP and precision of the split's queries in its database, as they are hashed."""
    return metrics.evaluate(*codes, relevance(dataset, split), k=protocol.k, radius=protocol.radius)


def relevance(dataset: Dataset, split: Split) -> Relevance:
    """Which items of the split's database share a label with which of its queries."""
    assert dataset.labels is not None
    shared = metrics.same_label if dataset.labels.ndim == 1 else metrics.share_labels
    return shared(dataset.labels[split.queries], dataset.labels[split.database])


def summarize(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean and standard deviation over seeds, for each name in the order of appearance.

    One seed alone has no deviation: None. Records of earlier versions have no "map_asymmetric";
    where one of a name's records has none, nor has the name.
    """
    rows = []
    for name in dict.fromkeys(record["name"] for record in records):
        own = [record for record in records if record["name"] == name]
        row: dict[str, Any] = {"name": name, "n_seeds": len(own)}
        for key in ("map", "map_asymmetric", "precision", "fit_seconds"):
            row[key], row[f"{key}_deviation"] = _mean_and_deviation([r.get(key) for r in own])
        rows.append(row)
    return rows


def _mean_and_deviation(scores: Sequence[float | None]) -> tuple[float | None, float | None]:
    """What there is to say of the scores of several seeds; nothing if one of them is missing."""
    values = [score for score in scores if score is not None]
    if len(values) < len(scores):
        return None, None
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else None


def with_deviation(row: dict[str, Any], key: str) -> str:
    """Mean and deviation of a score as they are printed, a dash where it is missing."""
    if row.get(key) is None:
        return "–"
    deviation = row[f"{key}_deviation"]
    return f"{row[key]:.3f}" + ("" if deviation is None else f" ± {deviation:.3f}")


def checksum(dataset: Dataset, labels: Sequence[str]) -> str:
    """Of all that is read from files: samples, names and label sources."""
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
