"""Tables of features, with labels and category names, and the files they come in."""

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.datasets.data import DataError, Dataset, tell_apart

__all__ = ["load_features"]

FEATURE_KEYS = ("X", "features", "embeddings")
LABEL_KEYS = ("y", "labels")


def load_features(path: str | Path) -> Dataset:
    """Read a table of features.

    Parameters
    ----------
    path : path-like
        ``.npy``: one (n, d) array. ``.npz``: ``X`` (n, d); optionally ``y`` (n,), labels as
        words or numbers; ``names``, the categories, which numbers 0, 1, … stand for; and
        ``wnids``, the WordNet ids of the names.

    Raises
    ------
    DataError
        If the file is not such a table.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    arrays = _read_arrays(path)
    X = _features(path, arrays)
    labels, names = _labels(path, arrays, len(X))
    synsets = _synsets(path, arrays, len(names))
    return Dataset(X, labels, tell_apart(names, synsets, path), synsets)


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    if path.suffix not in (".npy", ".npz"):
        raise DataError(f"{path}: features are read from .npy and .npz files")
    try:
        with path.open("rb") as file:
            content = np.load(file, allow_pickle=False)
            if isinstance(content, np.ndarray):
                return {"X": content}
            return {key: content[key] for key in content.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError) as error:
        cause = (
            "it holds Python objects; save words as str" if "Object" in str(error) else "damaged"
        )
        raise DataError(f"{path}: not a plain NumPy file ({cause})") from error


def _features(path: Path, arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
    X = next((arrays[key] for key in FEATURE_KEYS if key in arrays), None)
    if X is None:
        found = ", ".join(arrays) or "nothing"
        raise DataError(f"{path}: no features under the name X (it holds {found})")
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
) -> tuple[NDArray[np.int64] | None, tuple[str, ...]]:
    y = next((arrays[key] for key in LABEL_KEYS if key in arrays), None)
    if y is None:
        return None, ()
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


def _number(path: Path, y: NDArray[Any], names: NDArray[Any]) -> NDArray[np.int64]:
    """Words as their places in `names`."""
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
