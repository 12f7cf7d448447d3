"""From a data set and the names of its categories to a fitted hash function."""

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from zshash.datasets import DataError, Dataset
from zshash.datasets.data import Labels, bears
from zshash.datasets.splits import draw_training
from zshash.hashing import methods, save
from zshash.hashing.registry import LABEL, PAIRWISE, SEMANTIC, UNSUPERVISED
from zshash.images import PictureReader
from zshash.semantics import UnknownNames, open_source
from zshash.semantics.names import near_misses, normalise, synonyms, unit

__all__ = ["find_categories", "fit_model", "label_vectors", "make_targets"]

ONE_HOT, WORDNET = "onehot", "wordnet"
Data = TypeVar("Data", bound="Labelled")
# What a kind of method learns from where nobody says.
OWN_LABELS = {UNSUPERVISED: [], PAIRWISE: [ONE_HOT], LABEL: [ONE_HOT], SEMANTIC: [WORDNET]}


class Labelled(Protocol):
    """Samples and their labels, as `Dataset` and `Pictures` have them."""

    @property
    def labels(self) -> Labels | None:
        """Number of each sample's category, or which categories it belongs to."""

    @property
    def names(self) -> tuple[str, ...]:
        """Category names."""

    @property
    def synsets(self) -> tuple[str, ...]:
        """WordNet ids of the categories where the data has them, else empty."""

    def __len__(self) -> int: ...

    def select(self, rows: NDArray[np.int64]) -> Self:
        """Some of the samples, all categories."""


class LabelledFeatures(Labelled, Protocol):
    """Samples that are features already, wherever these are."""

    @property
    def extractor(self) -> dict[str, Any] | None:
        """The network that made them, where that is known."""


def find_categories(dataset: Labelled, names: Sequence[str]) -> NDArray[np.int64]:
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
    exact = {name: [number] for number, name in enumerate(dataset.names)}
    known = _spellings(dataset)
    found = [exact.get(name) or known.get(normalise(name), []) for name in names]
    wrong = [
        _several(name, [dataset.names[number] for number in numbers])
        if numbers
        else _no_category(name, known)
        for name, numbers in zip(names, found, strict=True)
        if len(numbers) != 1
    ]
    if wrong:
        raise DataError("; ".join(wrong))
    return np.unique(np.array(found)).astype(np.int64)


def find_unseen(dataset: Labelled, names: Sequence[str]) -> Any:
    """Category numbers; or how many to draw, where a lone number is no category's name."""
    if len(names) == 1 and names[0].isdigit() and names[0] not in dataset.names:
        return int(names[0])
    return find_categories(dataset, names)


def _spellings(dataset: Labelled) -> dict[str, list[int]]:
    """All that categories may be called; a synonym counts unless it is another one's name."""
    known: dict[str, list[int]] = {}
    for called in (dataset.synsets, dataset.names):
        for number, name in enumerate(called):
            numbers = known.setdefault(normalise(name), [])
            if number not in numbers:
                numbers.append(number)
    several = Counter(
        form for name in dataset.names for form in set(map(normalise, synonyms(name)))
    )
    for number, name in enumerate(dataset.names):
        for form in map(normalise, synonyms(name)):
            if several[form] == 1:
                known.setdefault(form, [number])
    return known


def _several(name: str, meant: Sequence[str]) -> str:
    return (
        f"{name!r} may be any of {' or '.join(map(repr, meant))}: write it as it is spelled there"
    )


def _no_category(name: str, known: Iterable[str]) -> str:
    near = near_misses(name, known)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "zshash info lists them"
    return f"the data has no category {name!r} ({hint})"


def called_by(dataset: Labelled, spec: str) -> tuple[str, ...]:
    """What a label source knows categories by: WordNet by ids where there are some, or names."""
    return dataset.synsets if spec == WORDNET and dataset.synsets else dataset.names


def label_vectors(
    dataset: Labelled,
    categories: NDArray[np.int64],
    labels: Sequence[str],
    seen: NDArray[np.int64] | None = None,
) -> NDArray[np.float32]:
    """Unit vectors (len(categories), p) of some categories, in the space the seen ones span.

    Without `seen`, these categories are the seen ones.
    """
    parts = []
    for spec in labels:
        called = called_by(dataset, spec)
        names = [called[number] for number in categories]
        basis = names if seen is None else [called[number] for number in seen]
        try:
            parts.append(open_source(spec, seen=basis, only=names).embed(names))
        except UnknownNames as error:
            raise DataError(
                f"{error}; rename what means nothing to it, or choose --labels onehot or a file of "
                "word vectors"
            ) from error
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


def usable_sources(hasher: Any, dataset: Labelled, labels: Sequence[str]) -> list[str]:
    """The sources that `label_sources` gives, if the data has labels where there are some."""
    sources = label_sources(hasher, labels)
    if sources and dataset.labels is None:
        raise DataError(
            "the data has no labels to learn from: put pictures into a folder for each category, "
            "or choose a method that does not look at labels, such as ITQ"
        )
    if ONE_HOT in sources and len(sources) > 1:
        raise DataError("onehot can not be combined with other label sources")
    return sources


def label_names(hasher: Any, labels: Sequence[str]) -> list[str]:
    """The label sources as they are recorded: without folders, none where none is looked at."""
    return [Path(spec).name for spec in label_sources(hasher, labels)]


def make_targets(
    hasher: Any,
    dataset: Dataset,
    rows: NDArray[np.int64] | slice,
    seen: NDArray[np.int64],
    labels: Sequence[str],
) -> NDArray[Any] | None:
    """What `hasher` learns from for the samples `rows`.

    Class labels where `labels` is ``["onehot"]``, the vectors of their names where it lists
    sources as in `open_source`, and nothing for a method that does not look at labels. Without
    `labels`, the method's kind decides, as in `label_sources`. A sample of several categories has
    a 0/1 row, or the mean direction of their vectors.
    """
    labels = usable_sources(hasher, dataset, labels)
    if not labels:
        return None
    assert dataset.labels is not None
    own: NDArray[Any] = dataset.labels[rows]
    if own.ndim == 2:
        own = own[:, seen]
    if ONE_HOT in labels:
        return own
    vectors = label_vectors(dataset, seen, labels)
    return vectors[np.searchsorted(seen, own)] if own.ndim == 1 else unit(own @ vectors)


def fit_timed(
    hasher: Any,
    dataset: Dataset,
    rows: NDArray[np.int64] | slice,
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
    source: str,
    output: Path,
    *,
    reader: PictureReader,
    labels: Sequence[str],
    unseen: Sequence[str],
    n_train: int | None,
    seed: int,
) -> dict[str, Any]:
    """Fit `hasher` on the seen categories of some data and save it; returns its notes.

    Of pictures, only those that are trained on are read.
    """
    data = reader.open(source)
    hidden = find_categories(data, unseen)
    chosen = training_part(hasher, data, hidden, labels, n_train, seed)
    dataset = reader.features(chosen)

    def fit(seen: NDArray[np.int64]) -> float:
        return fit_timed(hasher, dataset, slice(None), seen, labels)  # without another copy

    return save_fitted(hasher, dataset, source, output, fit, labels=labels, hidden=hidden)


def save_fitted(
    hasher: Any,
    data: LabelledFeatures,
    source: str,
    output: Path,
    fit: Callable[[NDArray[np.int64]], float],
    *,
    labels: Sequence[str],
    hidden: NDArray[np.int64],
    **more: Any,
) -> dict[str, Any]:
    """Fit `hasher` on all of the data and save it with its notes, which are returned.

    Parameters
    ----------
    fit : callable
        Fits the hasher, given the categories that the data has; returns the seconds it took.
    more
        What else is to be noted.
    """
    if len(data) < 2:
        raise DataError(f"{source}: one sample is not enough to learn from")
    seen = categories(data)
    seconds = fit(seen)
    notes = {
        "features": Path(source).name,
        **({"extractor": data.extractor} if data.extractor else {}),
        "labels": label_names(hasher, labels),
        "seen": [data.names[number] for number in seen],
        **({"synsets": [data.synsets[number] for number in seen]} if data.synsets else {}),
        "unseen": [data.names[number] for number in hidden],
        "n_train": len(data),
        "fit_seconds": seconds,
        **more,
    }
    save(hasher, output, notes=notes)
    return notes


def training_part(
    hasher: Any,
    data: Data,
    hidden: NDArray[np.int64],
    labels: Sequence[str],
    n_train: int | None,
    seed: int,
) -> Data:
    """The samples to train on: none of a hidden category, `n_train` of them at random."""
    needs_labels = bool(label_sources(hasher, labels))
    rows = _training_rows(data, hidden, needs_labels, n_train, seed)
    return data if len(rows) == len(data) else data.select(rows)


def _training_rows(
    data: Labelled,
    hidden: NDArray[np.int64],
    needs_labels: bool,
    n_train: int | None,
    seed: int,
) -> NDArray[np.int64]:
    """Rows to train on: none of a hidden category, and with labels where a method needs them."""
    rng = np.random.RandomState(seed)
    if data.labels is None:
        return draw_training(np.arange(len(data)), n_train, rng)
    is_good = ~bears(data.labels, hidden)
    labelled = bears(data.labels, categories(data))
    if needs_labels and not labelled.all():
        lost = int((~labelled).sum())
        message = f"{lost} of {len(data)} samples have no label and are not trained on"
        warnings.warn(message, UserWarning, stacklevel=4)
        is_good &= labelled
    rows = np.flatnonzero(is_good)
    if not rows.size:
        raise DataError("every category is unseen: nothing is left to train on")
    return draw_training(rows, n_train, rng)


def categories(data: Labelled) -> NDArray[np.int64]:
    """Numbers of the categories that some sample belongs to, none where there are no labels."""
    if data.labels is None:
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(sample_counts(data))


def sample_counts(data: Labelled) -> NDArray[np.int64]:
    """How many samples each category has."""
    assert data.labels is not None
    if data.labels.ndim == 2:
        return np.asarray(data.labels.sum(axis=0), dtype=np.int64)
    return np.bincount(data.labels, minlength=len(data.names)).astype(np.int64)
