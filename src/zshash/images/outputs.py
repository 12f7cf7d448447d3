"""Outputs of a network, reduced to one vector for each picture."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash._extras import needs
from zshash.images.extractor import Extractor

with needs("images"):
    from PIL import Image

__all__ = ["check_pool", "pooled", "try_out"]

POOLS = ("mean", "first")


def pooled(values: Any, pool: str | None = None) -> NDArray[np.float32]:
    """Reduce an output to one vector for each picture.

    Parameters
    ----------
    values : ndarray of shape (n, d), (n, d, side, side), (n, side, side, d) or (n, tokens, d)
        A map of side × side places is averaged over the places.
    pool : {"mean", "first"}, optional
        How to reduce tokens: their mean, or the first token, which stands for the whole picture
        in some networks.

    Returns
    -------
    ndarray of shape (n, d), float32

    Examples
    --------
    >>> maps = np.arange(8).reshape(1, 2, 2, 2)
    >>> pooled(maps)
    array([[1.5, 5.5]], dtype=float32)
    """
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiu":
        raise ValueError("its output is no table of numbers; choose another layer or output")
    if values.ndim == 4:
        values = values.mean(axis=_places(values.shape), dtype=np.float32)
    elif values.ndim == 3:
        values = _merge(values, pool)
    elif values.ndim != 2:
        raise ValueError(f"its output has the shape {values.shape}; choose another layer or output")
    return np.ascontiguousarray(values, dtype=np.float32)


def check_pool(pool: Any) -> None:
    """Raise ValueError unless `pool` is None or a way to reduce tokens."""
    if pool is not None and pool not in POOLS:
        raise ValueError(f"pool must be one of {', '.join(POOLS)}, got {pool!r}")


def _places(shape: tuple[int, ...]) -> tuple[int, int]:
    """Axes of height and width: the two equal ones, as the prepared picture is a square."""
    if shape[2] == shape[3]:
        return 2, 3
    if shape[1] == shape[2]:
        return 1, 2
    raise ValueError(
        f"its output of shape {shape} is no map of a square; choose another layer or output"
    )


def _merge(tokens: NDArray[Any], pool: str | None) -> NDArray[Any]:
    if pool == "mean":
        return np.asarray(tokens.mean(axis=1, dtype=np.float32))
    if pool == "first":
        return tokens[:, 0]
    raise ValueError(
        f"its output has {tokens.shape[1]} vectors for each picture; choose another layer or "
        "output, or pool='mean' or pool='first'"
    )


def try_out(extractor: Extractor) -> int:
    """Dimension of the features, found with a black picture."""
    features = extractor.run(extractor.prepare(Image.new("RGB", (1, 1)))[np.newaxis])
    if not features.size or not np.isfinite(features).all():
        raise ValueError("the features of a black picture are empty or not finite")
    return int(features.shape[1])
