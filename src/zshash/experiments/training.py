"""From a data set and the names of its categories to a fitted hash function."""

import io
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash._files import write_whole
from zshash.datasets import DataError, Dataset, load_features
from zshash.datasets.splits import draw_training
from zshash.hashing import load, methods, save
from zshash.hashing.registry import LABEL, PAIRWISE, SEMANTIC, UNSUPERVISED
from zshash.semantics import open_source
from zshash.semantics.names import near_misses, normalise, synonyms

__all__ = ["encode_file", "find_categories", "fit_model", "label_vectors", "make_targets"]

ONE_HOT, WORDNET = "onehot", "wordnet"
# What a kind of method learns from where nobody says.
OWN_LABELS = {UNSUPERVISED: [], PAIRWISE: [ONE_HOT], LABEL: [ONE_HOT], SEMANTIC: [WORDNET]}


def find_categories(dataset: Dataset, names: Sequence[str]) -> NDArray[np.int64]:
    """Numbers of the categories called `names`, by name, synonym or WordNet id.

    Raises
    ------
    DataError
        Lists all names that the data does not have.
    """
    if not names:
        return np.empty(0, dtype=np.int64)
    if dataset.labels is None:
        raise DataError("the data has no labels, so no category of it can be named")
    known = _spellings(dataset)
    missing = [name for name in names if normalise(name) not in known]
    if missing:
        raise DataError("; ".join(_no_category(name, known) for name in missing))
    return np.unique([known[normalise(name)] for name in names]).astype(np.int64)


def find_unseen(dataset: Dataset, names: Sequence[str]) -> Any:
    """Category numbers; or how many to draw, where a lone number is no category's name."""
    if len(names) == 1 and names[0].isdigit() and names[0] not in dataset.names:
        return int(names[0])
    return find_categories(dataset, names)


def _spellings(dataset: Dataset) -> dict[str, int]:
    """All that categories may be called; a synonym counts unless it is another one's name."""
    known = {normalise(synset): number for number, synset in enumerate(dataset.synsets)}
    for number, name in enumerate(dataset.names):
        known.setdefault(normalise(name), number)
    several = Counter(
        form for name in dataset.names for form in set(map(normalise, synonyms(name)))
    )
    for number, name in enumerate(dataset.names):
        for form in map(normalise, synonyms(name)):
            if several[form] == 1:
                known.setdefault(form, number)
    return known


def _no_category(name: str, known: dict[str, int]) -> str:
    near = near_misses(name, known)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "zshash info lists them"
    return f"the data has no category {name!r} ({hint})"


def label_vectors(
    dataset: Dataset, categories: NDArray[np.int64], labels: Sequence[str]
) -> NDArray[np.float32]:
    """Unit vectors (len(categories), p) of some categories, in the space the seen ones span.

    WordNet looks categories up by their ids where the data has them, other sources by name.
    """
    parts = []
    for spec in labels:
        called = dataset.synsets if spec == WORDNET and dataset.synsets else dataset.names
        names = [called[number] for number in categories]
        parts.append(open_source(spec, seen=names, only=names).embed(names))
    return np.hstack(parts) / np.float32(np.sqrt(len(parts)))


def label_sources(hasher: Any, labels: Sequence[str]) -> list[str]:
    """Where a method's label vectors come from: `labels`, or what its kind learns from.

    Raises
    ------
    DataError
        Where `labels` are given to a method that has no use for vectors.
    """
    name = type(hasher).__name__
    kind = methods()[name].kind
    if not labels:
        return list(OWN_LABELS[kind])
    if kind == UNSUPERVISED:
        raise DataError(f"{name} does not look at labels: leave --labels out")
    if kind == PAIRWISE and list(labels) != [ONE_HOT]:
        raise DataError(
            f"{name} learns which samples share a category, not what its name means: leave "
            "--labels out"
        )
    return list(labels)


def label_names(hasher: Any, labels: Sequence[str]) -> list[str]:
    """The label sources as they are recorded: without folders, none where none is looked at."""
    return [Path(spec).name for spec in label_sources(hasher, labels)]


def make_targets(
    hasher: Any,
    dataset: Dataset,
    rows: NDArray[np.int64],
    seen: NDArray[np.int64],
    labels: Sequence[str],
) -> NDArray[Any] | None:
    """What `hasher` learns from for the samples `rows`.

    Class labels where `labels` is ``["onehot"]``, the vectors of their names where it lists
    sources as in `open_source`, and nothing for a method that does not look at labels. Without
    `labels`, the method's kind decides, as in `label_sources`.
    """
    labels = label_sources(hasher, labels)
    if not labels:
        return None
    if dataset.labels is None:
        raise DataError("the data has no labels to learn from")
    own: NDArray[Any] = dataset.labels[rows]
    if list(labels) == [ONE_HOT]:
        return own
    if ONE_HOT in labels:
        raise DataError("onehot can not be combined with other label sources")
    return label_vectors(dataset, seen, labels)[np.searchsorted(seen, own)]


def fit_timed(
    hasher: Any,
    dataset: Dataset,
    rows: NDArray[np.int64],
    seen: NDArray[np.int64],
    labels: Sequence[str],
) -> float:
    """Fit `hasher` on the samples `rows` of the categories `seen`; the seconds it took."""
    targets = make_targets(hasher, dataset, rows, seen, labels)
    start = time.perf_counter()
    hasher.fit(dataset.X[rows], targets)
    return round(time.perf_counter() - start, 3)


def fit_model(
    hasher: Any,
    features: Path,
    output: Path,
    *,
    labels: Sequence[str],
    unseen: Sequence[str],
    n_train: int | None,
    seed: int,
) -> dict[str, Any]:
    """Fit `hasher` on the seen categories of a feature file and save it; returns its notes."""
    dataset = load_features(features)
    hidden = find_categories(dataset, unseen)
    rows, seen = _training_rows(dataset, hidden, n_train, seed)
    seconds = fit_timed(hasher, dataset, rows, seen, labels)
    notes = {
        "features": features.name,
        "labels": label_names(hasher, labels),
        "seen": [dataset.names[number] for number in seen],
        "unseen": [dataset.names[number] for number in hidden],
        "n_train": len(rows),
        "fit_seconds": seconds,
    }
    save(hasher, output, notes=notes)
    return notes


def _training_rows(
    dataset: Dataset, hidden: NDArray[np.int64], n_train: int | None, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows to train on and the categories they come from, none where there are no labels."""
    rng = np.random.RandomState(seed)
    if dataset.labels is None:
        return draw_training(np.arange(len(dataset)), n_train, rng), np.empty(0, np.int64)
    rows = np.flatnonzero(~np.isin(dataset.labels, hidden))
    if not rows.size:
        raise DataError("every category is unseen: nothing is left to train on")
    rows = draw_training(rows, n_train, rng)
    return rows, np.unique(dataset.labels[rows])


def encode_file(features: Path, model: Path, output: Path) -> dict[str, Any]:
    """Write the packed codes of a feature file as a NumPy array."""
    hasher = load(model)
    packed = hasher.encode(load_features(features).X)
    buffer = io.BytesIO()
    np.save(buffer, packed, allow_pickle=False)
    write_whole(output, buffer.getvalue())
    return {"n": len(packed), "bits": int(hasher.n_bits), "bytes": packed.nbytes}
