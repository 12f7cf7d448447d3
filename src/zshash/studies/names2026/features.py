"""Features of a data set in half precision, and as every baseline takes them."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from zshash.datasets import Dataset
from zshash.studies.data import Sources, load
from zshash.studies.names2026.baselines.baseline import Integers

__all__ = ["half_precision", "prepared"]

N_COMPONENTS = 256
Features = NDArray[np.float32]


@lru_cache(maxsize=1)
def half_precision(name: str, extractor: str | None, sources: Sources) -> Dataset:
    """A data set with all categories, whose features are rounded as in files of features."""
    data = load(name, extractor, None, (), sources)
    return replace(data, X=data.X.astype(np.float16).astype(np.float32))


def prepared(
    X: Features, labelled: Integers, n_components: int = N_COMPONENTS
) -> NDArray[np.float32]:
    """Features of all pictures, centred and reduced by what the labelled ones say.

    Rows are scaled to unit length, the mean of the labelled rows is taken away, the rows are
    projected on the first principal components of the labelled ones, and scaled again. Features
    of no more than `n_components` dimensions are not projected.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    labelled : ndarray
        Rows of the labelled pictures.
    n_components : int
        Most dimensions of the result.

    Examples
    --------
    >>> prepared(np.array([[3.0, 0.0], [0.0, 2.0], [5.0, 5.0]]), np.array([0, 1]))
    array([[ 0.7071..., -0.7071...],
           [-0.7071...,  0.7071...],
           [ 0.7071...,  0.7071...]], dtype=float32)
    """
    X = _directions(np.asarray(X, dtype=np.float32))
    X = X - X[labelled].mean(axis=0)
    if X.shape[1] > n_components:
        own = X[labelled]
        _, components = np.linalg.eigh(own.T @ own)  # ascending
        X = X @ components[:, -n_components:]
    return _directions(X)


def _directions(X: Features) -> Features:
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return np.asarray(X / np.maximum(lengths, np.finfo(np.float32).tiny))
