"""Targets of the samples in each shard."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash.datasets import DataError
from zshash.datasets.data import Labels
from zshash.datasets.tables import load_labels, read_numpy
from zshash.hashing.hasher import SupervisedHasher
from zshash.hashing.steps.targets import Targets, matrix_targets
from zshash.scale.shards import Shard, labels_file
from zshash.scale.tables import ShardError, as_array, is_tensor

__all__ = ["KnownLabels", "all_targets", "combine", "known_labels", "read_targets", "targets_of"]


@dataclass(frozen=True)
class KnownLabels:
    """Labels and other facts about the rows of a shard, as in `zshash.datasets.Dataset`."""

    labels: Labels | None
    names: tuple[str, ...]
    synsets: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    extractor: dict[str, Any] | None = None


def known_labels(shard: Shard) -> KnownLabels:
    """Read the labels in a shard's file, or in the one beside a ``.npy`` file."""
    if isinstance(shard.source, np.ndarray):
        return KnownLabels(None, ())
    assert shard.shape is not None
    with shard.explaining():
        if shard.source.suffix.lower() == ".npy":
            return _labels_beside(shard, shard.source)
        return KnownLabels(**load_labels(shard.source, shard.shape[0], shard.group))


def _labels_beside(shard: Shard, path: Path) -> KnownLabels:
    if not (beside := labels_file(path)).is_file():
        return KnownLabels(None, ())
    y = read_numpy(beside)["X"]
    assert shard.shape is not None
    if y.shape != shard.shape[:1] or y.dtype.kind not in "iuU":
        raise ShardError(
            f"{beside.name} must hold {shard.shape[0]} whole numbers or words, got shape {y.shape} "
            f"of {y.dtype}"
        )
    names, labels = np.unique(y, return_inverse=True)
    return KnownLabels(labels.astype(np.int64), tuple(map(str, names)))


def combine(
    known: Sequence[KnownLabels],
) -> tuple[list[Labels], tuple[str, ...], tuple[str, ...]]:
    """Labels of all shards in one numbering, the names these stand for, and their WordNet ids.

    If the labels of one shard are a 0/1 matrix, the labels of all shards are. Names keep their
    order if it is the same in all shards; else they are sorted, by number if all are numbers.

    Raises
    ------
    DataError
        If some shards have labels and others have none, or ids contradict each other.
    """
    ids: dict[str, str] = {}
    for own in known:
        for name, synset in zip(own.names, own.synsets, strict=False):
            if ids.setdefault(name, synset) != synset:
                raise DataError(f"the category {name!r} has another WordNet id in another shard")
    names = _all_names(known)
    places = {name: number for number, name in enumerate(names)}
    several = any(own.labels is not None and own.labels.ndim == 2 for own in known)
    labels = [_renumbered(own, places, several) for own in known]
    synsets = tuple(ids[name] for name in names) if len(ids) == len(names) else ()
    return labels, tuple(names), synsets


def _all_names(known: Sequence[KnownLabels]) -> list[str]:
    first = known[0].names
    if all(own.names == first for own in known):
        return list(first)
    names = {name for own in known for name in own.names}
    are_numbers = all(name.isdecimal() for name in names)
    return sorted(names, key=int) if are_numbers else sorted(names)


def _renumbered(own: KnownLabels, places: dict[str, int], several: bool) -> Labels:
    if own.labels is None:
        raise DataError("some shards have no labels: give targets, or labels for all of them")
    numbers = np.array([places[name] for name in own.names], dtype=np.int64)
    if not several:
        return numbers[own.labels]
    matrix = np.zeros((len(own.labels), len(places)), dtype=np.bool_)
    if own.labels.ndim == 2:
        matrix[:, numbers] = own.labels
    else:
        matrix[np.arange(len(matrix)), numbers[own.labels]] = True
    return matrix


def read_targets(
    hasher: SupervisedHasher,
    shards: Sequence[Shard],
    targets: Any,
    vectors: ArrayLike | None,
) -> tuple[list[Any], NDArray[np.float64] | None]:
    """Targets of each shard's samples, and the vectors that samples share.

    Returns
    -------
    own : list
        For each shard the places of its samples among the vectors; where no vectors are shared,
        its matrix, or the file that holds it.
    vectors : ndarray of shape (c, p), or None
    """
    parts = _split(shards, targets)
    hasher.forget_classes()
    if vectors is not None:
        return _places(parts, _numbers(vectors))
    if all(map(_is_column, parts)):
        read = hasher.read_targets(np.concatenate(parts), sum(map(len, parts)))
        if not hasher.learns_unlabelled and not read.is_labelled.all():
            raise ValueError(
                f"{(~read.is_labelled).sum()} samples have no label (-1, None or an empty word), "
                f"and {type(hasher).__name__} can not use them: leave them out of the shards"
            )
        edges = np.cumsum([len(part) for part in parts])[:-1]
        return list(np.split(read.rows.astype(np.int32), edges)), read.vectors
    return parts, None


def targets_of(own: Any, vectors: NDArray[np.float64] | None) -> Targets:
    """The targets of a shard, from what `read_targets` returned for it."""
    if vectors is not None:
        return Targets(vectors, np.asarray(own, dtype=np.intp))
    matrix = read_numpy(own)["X"] if isinstance(own, Path) else np.asarray(own)
    targets: Targets = matrix_targets(matrix)
    return targets


def all_targets(own: Sequence[Any], vectors: NDArray[np.float64] | None) -> Targets:
    """The targets of all shards at once."""
    if vectors is not None:
        return targets_of(np.concatenate(own), vectors)
    parts = [targets_of(part, None) for part in own]
    return targets_of(np.concatenate([part.vectors[part.rows] for part in parts]), None)


def _split(shards: Sequence[Shard], targets: Any) -> list[Any]:
    """Targets shard by shard, from one array for all or a list of one for each."""
    sizes = [shard.shape[0] for shard in shards if shard.shape]
    if _is_list_of_parts(targets):
        if len(targets) != len(shards):
            raise ValueError(
                f"there are {len(shards)} shards, and targets for {len(targets)}: give targets "
                "for each shard"
            )
        arrays = [_array(part) for part in targets]
        for shard, array in zip(shards, arrays, strict=True):
            _check_part(shard, array, arrays[0])
        return [_kept(*each) for each in zip(targets, arrays, strict=True)]
    whole = _array(targets)
    if whole.ndim not in (1, 2) or len(whole) != sum(sizes):
        raise ValueError(
            f"the shards have {sum(sizes)} rows in all, and targets have the shape {whole.shape}: "
            "give one for each row"
        )
    return np.split(whole, np.cumsum(sizes)[:-1])


def _is_list_of_parts(targets: Any) -> bool:
    if not isinstance(targets, list | tuple) or not targets:
        return False
    first = targets[0]
    is_file = isinstance(first, os.PathLike) or (isinstance(first, str) and first.endswith(".npy"))
    is_array = isinstance(first, np.ndarray | list | tuple) or is_tensor(first)
    return is_file or (is_array and np.ndim(first) > 0)


def _is_column(part: Any) -> bool:
    """Whether the targets of a shard are one column, which may hold class labels."""
    return isinstance(part, np.ndarray) and (part.ndim == 1 or part.shape[1:] == (1,))


def _check_part(shard: Shard, array: NDArray[Any], first: NDArray[Any]) -> None:
    assert shard.shape is not None
    if array.ndim not in (1, 2) or len(array) != shard.shape[0]:
        raise ValueError(
            f"{shard.name}: it has {shard.shape[0]} rows, and its targets the shape {array.shape}"
        )
    if array.shape[1:] != first.shape[1:]:
        raise ValueError(
            f"{shard.name}: its targets have the shape {array.shape}, and those of the first shard "
            f"{first.shape}: give all shards the same kind of targets"
        )


def _kept(part: Any, array: NDArray[Any]) -> Any:
    """The targets of one shard: labels are read now, and matrices where they are needed."""
    is_file = isinstance(part, str | os.PathLike) and not _is_column(array)
    return Path(part).absolute() if is_file else array


def _array(targets: Any) -> NDArray[Any]:
    return _loaded(targets) if isinstance(targets, str | os.PathLike) else as_array(targets)


def _loaded(path: str | os.PathLike[str]) -> NDArray[Any]:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ShardError(f"{os.fspath(path)}: no .npy file of targets ({error})") from error
    return np.array(array) if _is_column(array) else array


def _numbers(vectors: Any) -> NDArray[np.float64]:
    try:
        return as_array(vectors).astype(np.float64)
    except ValueError as error:
        raise ValueError(f"vectors must be numbers (c, p) ({error})") from error


def _places(
    parts: Sequence[Any], vectors: NDArray[np.float64]
) -> tuple[list[Any], NDArray[np.float64]]:
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise ValueError(f"vectors must be finite numbers (c, p), got the shape {vectors.shape}")
    for part in parts:
        is_good = isinstance(part, np.ndarray) and part.ndim == 1 and part.dtype.kind in "iu"
        if not is_good or (part.size and not 0 <= part.min() <= part.max() < len(vectors)):
            raise ValueError(
                "with vectors (c, p), targets are the row number of each sample's vector, from "
                f"0 to {len(vectors) - 1}"
            )
    return [part.astype(np.int32) for part in parts], vectors
