"""Features with their labels and category names, and the files they come in."""

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DataError", "Dataset", "load_features"]

FEATURE_KEYS = ("X", "features", "embeddings")
LABEL_KEYS = ("y", "labels")


class DataError(ValueError):
    """A data file that can not be used; the message says why and what to do."""


@dataclass(frozen=True)
class Dataset:
    """Features and what is known about them.

    Attributes
    ----------
    X : ndarray of shape (n, d), float32
    labels : ndarray of shape (n,), int, or None
        Number of each sample's category in `names`.
    names : tuple of str
        Category names.
    synsets : tuple of str
        WordNet ids of the categories ("n02123045") where the file has them, else empty.
    images : ndarray of shape (n, height, width), uint8, or None
    """

    X: NDArray[np.float32]
    labels: NDArray[np.int64] | None = None
    names: tuple[str, ...] = ()
    synsets: tuple[str, ...] = ()
    images: NDArray[np.uint8] | None = None

    def __len__(self) -> int:
        return len(self.X)


def load_features(path: str | Path) -> Dataset:
    """Read a table of features.

    Parameters
    ----------
    path : path-like
        ``.npy``: one (n, d) array. ``.npz``: ``X`` (n, d); optionally ``y`` (n,), labels as
        words or numbers; ``names``, the categories that number 0, 1, … stand for; and ``wnids``,
        their WordNet ids.

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
    return Dataset(X, labels, names, _synsets(path, arrays, len(names)))


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    if path.suffix not in (".npy", ".npz"):
        raise DataError(f"{path}: features are read from .npy and .npz files")
    try:
        with path.open("rb") as file:
            content = np.load(file, allow_pickle=False)
            if isinstance(content, np.ndarray):
                return {"X": content}
            return {key: content[key] for key in content.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: not a NumPy file, or damaged ({error})") from error


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
            f"{path}: {bad.size} of {len(X)} rows hold NaN or infinity, the first is row "
            f"{bad[0]}; remove or repair them"
        )
    return X


def _labels(
    path: Path, arrays: Mapping[str, NDArray[Any]], n: int
) -> tuple[NDArray[np.int64] | None, tuple[str, ...]]:
    y = next((arrays[key] for key in LABEL_KEYS if key in arrays), None)
    if y is None:
        return None, ()
    if y.shape != (n,) or y.dtype.kind not in "iuU":
        raise DataError(f"{path}: labels must be {n} whole numbers or words, got shape {y.shape}")
    if y.dtype.kind == "U":
        names, numbers = np.unique(y, return_inverse=True)
        return numbers.astype(np.int64), tuple(map(str, names))
    names = arrays.get("names", np.arange(int(y.max()) + 1).astype(str))
    if names.ndim != 1 or y.min() < 0 or y.max() >= len(names):
        raise DataError(
            f"{path}: labels run from {y.min()} to {y.max()}, but there are {names.size} names"
        )
    return y.astype(np.int64), tuple(map(str, names))


def _synsets(path: Path, arrays: Mapping[str, NDArray[Any]], n_categories: int) -> tuple[str, ...]:
    wnids = arrays.get("wnids")
    if wnids is None:
        return ()
    if wnids.shape != (n_categories,):
        raise DataError(f"{path}: {wnids.size} wnids for {n_categories} categories")
    return tuple(map(str, wnids))
