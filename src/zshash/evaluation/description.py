"""Facts about a model, pictures, features or the installation."""

import os
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from zshash._threads import all_cores
from zshash.collection import Collection, is_collection
from zshash.datasets import DataError, Dataset, Pictures
from zshash.datasets.opening import is_data
from zshash.evaluation.protocol import versions
from zshash.hashing import methods, read_header
from zshash.hashing.registry import LABEL, PAIRWISE, SEMANTIC, UNSUPERVISED
from zshash.images import PictureReader
from zshash.images.reading import described
from zshash.learning.categories import sample_counts
from zshash.learning.targets import ONE_HOT, WORDNET, label_vectors
from zshash.semantics import average_similarity, open_source

__all__ = ["describe", "of_methods", "similarity"]


KINDS = {
    SEMANTIC: "learns from what the names of categories mean",
    LABEL: "learns from labels, one or several for each sample",
    PAIRWISE: "learns from which samples share a label",
    UNSUPERVISED: "learns from features alone",
}


def describe(source: str | None, reader: PictureReader) -> dict[str, Any]:
    """Facts about a file or folder; for None, the installed versions."""
    if source is None:
        with all_cores() as (_, n_threads):
            facts = versions() | _optional_versions()
            return facts | {"cores": os.cpu_count(), "threads": n_threads}
    path = Path(source)
    if is_collection(path):
        with Collection.open(path) as collection:
            return {key: value for key, value in collection.info().items() if value is not None}
    if path.is_file() and not is_data(path):
        return _describe_model(path)
    return _describe_data(reader.open(source))


def _optional_versions() -> dict[str, str]:
    """Versions of the installed packages that read pictures."""
    found = {}
    for name in ("pillow", "onnxruntime", "onnx", "pyarrow", "torch", "torchvision", "timm"):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _describe_model(path: Path) -> dict[str, Any]:
    header = read_header(path)
    facts = {
        "method": header["method"],
        "bits": header["parameters"].get("n_bits"),
        "dimension": header["values"].get("n_features_in_"),
        "parameters": header["parameters"],
        **header["notes"],
    }
    extractor = facts.get("extractor")
    if isinstance(extractor, dict) and isinstance(extractor.get("options"), dict):
        facts["extractor"] = described(str(extractor.get("name")), extractor["options"])
    return facts


def _describe_data(data: Dataset | Pictures) -> dict[str, Any]:
    facts: dict[str, Any] = {"pictures" if isinstance(data, Pictures) else "samples": len(data)}
    if isinstance(data, Dataset):
        facts["dimension"] = data.X.shape[1]
    if data.labels is not None:
        pairs = zip(data.names, sample_counts(data).tolist(), strict=True)
        facts |= {"categories": len(data.names), "samples each": dict(pairs)}
    return facts


def of_methods() -> dict[str, dict[str, Any]]:
    """Year, kind, citation, extra, parameters and grid of each hashing method, ready for JSON."""
    return {
        name: {
            "year": method.year,
            "kind": method.kind,
            "citation": method.citation,
            "extra": method.extra,
            "parameters": method.parameters,
            "grid": {key: list(values) for key, values in method.grid.items()},
        }
        for name, method in methods().items()
    }


def similarity(
    source: str | None, names: Sequence[str], labels: Sequence[str], reader: PictureReader
) -> dict[str, float]:
    """Average cosine between the vector of each category and the vectors of all others."""
    if ONE_HOT in labels:
        raise DataError(
            "one-hot labels are all equally far apart: choose WordNet or a file of word vectors as "
            "the source of the labels' meanings"
        )
    empty = np.empty((0, 0), dtype=np.float32)
    dataset = reader.open(source) if source else Dataset(empty, names=tuple(names))
    if len(dataset.names) < 2:
        raise DataError("similarity needs two categories: give labelled data, or two names")
    sources = labels or [WORDNET]
    if not source:  # a name that somebody writes may be misspelled
        open_source(sources, only=names).embed(names)
    values = average_similarity(label_vectors(dataset, np.arange(len(dataset.names)), sources))
    return {name: float(value) for name, value in zip(dataset.names, values, strict=True)}
