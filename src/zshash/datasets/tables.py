"""Tables of features with labels and category names, in NumPy and Parquet files."""

import json
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.datasets.data import DataError, Dataset, Labels, as_labels
from zshash.datasets.parquet import column_names, read_columns, read_matrix
from zshash.datasets.synset_names import tell_apart

__all__ = ["as_arrays", "has_features", "known_rows", "load_features", "read_numpy"]

FEATURE_KEYS = ("X", "features", "embeddings")
LABEL_KEYS = ("y", "labels", "label")
PATH_KEYS = ("paths", "path")


def load_features(path: str | Path, group: int | None = None) -> Dataset:
    """Read a table of features.

    Parameters
    ----------
    path : path-like
        ``.npy``: one (n, d) array. ``.npz``: ``X`` (n, d); optionally ``y`` (n,), labels as
        words or numbers; ``names``, the categories, which numbers 0, 1, … stand for; ``wnids``,
        the WordNet ids of the names; and ``paths`` (n,), where the samples come from. Where a
        sample may have several labels, ``y`` is (n, c) of 0 and 1, a column for each name. A file
        that ``zshash extract`` wrote also has ``extractor``, the network as JSON.
        ``.parquet``: columns ``X``, lists of numbers; optionally ``y``, a label or a list of
        labels each; and ``path``.
    group : int, optional
        Only this row group of a Parquet file.

    Raises
    ------
    DataError
        If the file is not such a table.
    """
    path = Path(path)
    arrays = _read_arrays(path, group)
    X = _features(path, arrays)
    return Dataset(X, **known_rows(path, arrays, len(X)))


def load_labels(path: Path, n: int, group: int | None = None) -> dict[str, Any]:
    """Labels, names and paths of a table of n rows, as `known_rows` returns them, without X."""
    return known_rows(path, _read_arrays(path, group, with_features=False), n)


def known_rows(path: Path, arrays: Mapping[str, NDArray[Any]], n: int) -> dict[str, Any]:
    """Labels, names, synsets, paths and extractor of n rows, by their names in a `Dataset`."""
    labels, names = _labels(path, arrays, n)
    synsets = _synsets(path, arrays, len(names))
    return {
        "labels": labels,
        "names": tell_apart(names, synsets, path),
        "synsets": synsets,
        "paths": _paths(path, arrays, n),
        "extractor": _extractor(path, arrays),
    }


def as_arrays(dataset: Dataset) -> dict[str, Any]:
    """Labels, names, synsets, paths and extractor as arrays that `known_rows` understands."""
    arrays: dict[str, Any] = {}
    if dataset.paths:
        arrays["paths"] = np.array(dataset.paths)
    if dataset.labels is not None:
        arrays |= {"y": dataset.labels, "names": np.array(dataset.names)}
    if dataset.synsets:
        arrays["wnids"] = np.array(dataset.synsets)
    if dataset.extractor:
        arrays["extractor"] = np.array(json.dumps(dataset.extractor))
    return arrays


def has_features(path: Path) -> bool:
    """Whether a Parquet file has a column of features."""
    return _key(column_names(path), FEATURE_KEYS) is not None


def _key(found: Collection[str], keys: Sequence[str]) -> str | None:
    return next((key for key in keys if key in found), None)


def _read_arrays(
    path: Path, group: int | None = None, with_features: bool = True
) -> dict[str, NDArray[Any]]:
    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    suffix = path.suffix.lower()
    if suffix not in (".npy", ".npz", ".parquet"):
        raise DataError(f"{path}: features are read from .npy, .npz and .parquet files")
    if suffix == ".parquet":
        return _read_parquet(path, group, with_features)
    return read_numpy(path, without=() if with_features else FEATURE_KEYS)


def read_numpy(path: Path, without: Sequence[str] = ()) -> dict[str, NDArray[Any]]:
    """Arrays of a ``.npz`` file by name, except for `without`; the array of a ``.npy`` is X."""
    try:
        with path.open("rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about damaged headers, which are Python's source
            content = np.load(file, allow_pickle=False)
            if not isinstance(content, np.ndarray):
                return {key: content[key] for key in content.files if key not in without}
            if file.read(1):
                raise ValueError("bytes after the array")
            return {"X": content}
    except MemoryError as error:
        raise DataError(f"{path}: damaged, or larger than what fits into memory") from error
    except Exception as error:  # NumPy evaluates the header: a damaged one may raise anything
        cause = (
            "it holds Python objects; save words as str" if "Object" in str(error) else "damaged"
        )
        raise DataError(f"{path}: not a plain NumPy file ({cause})") from error


def _read_parquet(path: Path, group: int | None, with_features: bool) -> dict[str, NDArray[Any]]:
    """Columns of a Parquet file as arrays, under the names of a ``.npz`` file."""
    found = column_names(path)
    key, label, source = (_key(found, keys) for keys in (FEATURE_KEYS, LABEL_KEYS, PATH_KEYS))
    if key is None:
        raise _no_features(path, found)
    arrays = {"X": read_matrix(path, key, group)} if with_features else {}
    columns = read_columns(path, [name for name in (label, source) if name], group)
    if label:
        arrays |= _label_arrays(path, columns[label])
    if source:
        arrays["paths"] = np.array([cell or "" for cell in columns[source]])
    return arrays


def _label_arrays(path: Path, cells: list[Any]) -> dict[str, NDArray[Any]]:
    """Labels as one array where each sample has one label, else as a matrix with its names."""
    if all(type(cell) is int for cell in cells) or all(type(cell) is str for cell in cells):
        return {"y": np.array(cells)}
    own = [cell if isinstance(cell, list) else [] if cell is None else [cell] for cell in cells]
    if not all(type(label) in (int, str) for labels in own for label in labels):
        raise DataError(f"{path}: labels must be whole numbers or words, or lists of them")
    if not any(own):
        return {}
    labels, names = as_labels([list(map(str, labels)) for labels in own])
    return {"y": labels, "names": np.array(names, dtype=str)}


def _no_features(path: Path, found: Iterable[str]) -> DataError:
    holds = ", ".join(found) or "nothing"
    return DataError(f"{path}: no features under the name X (it holds {holds})")


def _features(path: Path, arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
    key = _key(arrays, FEATURE_KEYS)
    if key is None:
        raise _no_features(path, arrays)
    X = arrays[key]
    if X.ndim != 2 or X.dtype.kind not in "iuf" or 0 in X.shape:
        raise DataError(
            f"{path}: features must be a table of numbers (n, d), got shape {X.shape} of {X.dtype}"
        )
    with np.errstate(over="ignore"):
        X = X.astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(X).all(axis=1))
    if bad.size:
        raise DataError(
            f"{path}: {bad.size} of {len(X)} rows hold NaN, infinity or values too large for "
            f"float32, the first is row {bad[0]}; remove or repair them"
        )
    return X


def _labels(
    path: Path, arrays: Mapping[str, NDArray[Any]], n: int
) -> tuple[Labels | None, tuple[str, ...]]:
    key = _key(arrays, LABEL_KEYS)
    if key is None:
        return None, ()
    y = arrays[key]
    if y.ndim == 2:
        return _matrix(path, y, arrays.get("names"), n)
    if y.shape != (n,) or y.dtype.kind not in "iuU":
        raise DataError(
            f"{path}: labels must be {n} whole numbers or words, got shape {y.shape} of {y.dtype}"
        )
    names = arrays.get("names")
    if names is None:
        categories, numbers = np.unique(y, return_inverse=True)
        return numbers.astype(np.int64), tuple(map(str, categories))
    numbers = _number(path, y, names) if y.dtype.kind == "U" else y.astype(np.int64)
    if names.ndim != 1 or numbers.min() < 0 or numbers.max() >= len(names):
        raise DataError(
            f"{path}: labels run from {numbers.min()} to {numbers.max()}, "
            f"but there are {names.size} names"
        )
    return numbers, tuple(map(str, names))


def _matrix(
    path: Path, y: NDArray[Any], names: NDArray[Any] | None, n: int
) -> tuple[Labels, tuple[str, ...]]:
    """Labels as a boolean matrix, and the names of its columns."""
    if names is None:
        raise DataError(f"{path}: a matrix of labels needs names, one for each column")
    if y.shape != (n, names.size) or y.dtype.kind not in "biuf" or not np.isin(y, (0, 1)).all():
        raise DataError(
            f"{path}: a matrix of labels must be 0 and 1 of shape {n, names.size}, "
            f"got shape {y.shape} of {y.dtype}"
        )
    return y.astype(np.bool_), tuple(map(str, names.ravel()))


def _number(path: Path, y: NDArray[Any], names: NDArray[Any]) -> NDArray[np.int64]:
    """Number of each word: its place in `names`."""
    places = {str(name): number for number, name in enumerate(names.ravel())}
    unknown = sorted(set(map(str, y)) - set(places))
    if unknown:
        raise DataError(f"{path}: labels that are not among the names: {', '.join(unknown[:5])}")
    return np.array([places[str(word)] for word in y], dtype=np.int64)


def _synsets(path: Path, arrays: Mapping[str, NDArray[Any]], n_categories: int) -> tuple[str, ...]:
    wnids = arrays.get("wnids")
    if wnids is None:
        return ()
    if "names" not in arrays:
        raise DataError(f"{path}: wnids without names: nothing says which category each one is")
    if wnids.shape != (n_categories,):
        raise DataError(f"{path}: {wnids.size} wnids for {n_categories} categories")
    return tuple(map(str, wnids))


def _paths(path: Path, arrays: Mapping[str, NDArray[Any]], n: int) -> tuple[str, ...]:
    key = _key(arrays, PATH_KEYS)
    if key is None:
        return ()
    paths = arrays[key]
    if paths.shape != (n,) or paths.dtype.kind != "U":
        raise DataError(f"{path}: {key} must be {n} words, got {paths.shape} of {paths.dtype}")
    return tuple(paths.tolist())


def _extractor(path: Path, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any] | None:
    if "extractor" not in arrays:
        return None
    try:
        facts = json.loads(str(arrays["extractor"]))
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict) or not all(key in facts for key in ("name", "fingerprint")):
        raise DataError(f"{path}: its entry extractor makes no sense; leave the entry out")
    return facts
