"""Facts about a model, a feature file or the installation."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from zshash._threads import all_cores
from zshash.datasets import DataError, Dataset, load_features
from zshash.experiments.protocol import versions
from zshash.experiments.training import ONE_HOT, WORDNET, label_vectors
from zshash.hashing import methods, read_header
from zshash.hashing.registry import LABEL, PAIRWISE, SEMANTIC, UNSUPERVISED
from zshash.semantics import average_similarity

__all__ = ["describe", "of_methods", "similarity"]


KINDS = {
    SEMANTIC: "learns from what the names of categories mean",
    LABEL: "learns from labels, one or several for each sample",
    PAIRWISE: "learns from which samples share a label",
    UNSUPERVISED: "learns from features alone",
}


def describe(path: Path | None) -> dict[str, Any]:
    """What a file holds, or which versions are installed."""
    if path is None:
        with all_cores() as (_, n_threads):
            return versions() | {"cores": os.cpu_count(), "threads": n_threads}
    if path.suffix in (".npy", ".npz"):
        return _describe_features(path)
    header = read_header(path)
    return {
        "method": header["method"],
        "bits": header["parameters"].get("n_bits"),
        "dimension": header["values"].get("n_features_in_"),
        "parameters": header["parameters"],
        **header["notes"],
    }


def _describe_features(path: Path) -> dict[str, Any]:
    dataset = load_features(path)
    facts: dict[str, Any] = {"samples": len(dataset), "dimension": dataset.X.shape[1]}
    if dataset.labels is not None:
        counts = np.bincount(dataset.labels, minlength=len(dataset.names))
        facts["categories"] = len(dataset.names)
        facts["samples each"] = {
            name: int(count) for name, count in zip(dataset.names, counts, strict=True)
        }
    return facts


def of_methods() -> dict[str, dict[str, Any]]:
    """What there is to know about each hashing method, ready for JSON."""
    return {
        name: {
            "year": method.year,
            "kind": method.kind,
            "citation": method.citation,
            "parameters": method.parameters,
            "grid": {key: list(values) for key, values in method.grid.items()},
        }
        for name, method in methods().items()
    }


def similarity(path: Path | None, names: Sequence[str], labels: Sequence[str]) -> dict[str, float]:
    """Average cosine of each category's vector to those of all others."""
    if ONE_HOT in labels:
        raise DataError("one-hot labels are all equally far apart: choose --labels wordnet or FILE")
    empty = np.empty((0, 0), dtype=np.float32)
    dataset = load_features(path) if path else Dataset(empty, names=tuple(names))
    if len(dataset.names) < 2:
        raise DataError(
            "similarity needs two categories: give a feature file with names, or --name twice"
        )
    sources = labels or [WORDNET]
    values = average_similarity(label_vectors(dataset, np.arange(len(dataset.names)), sources))
    return {name: float(value) for name, value in zip(dataset.names, values, strict=True)}
