"""Cut-outs of grey pictures that are laid over other pictures, many at a time.

A cut-out is given by its left, top, right and bottom edge, in parts of the picture. The edges that
make it most like another picture are found by least squares: `steps` are those of Gauss and Newton,
with a gain and an offset of the shades beside the four edges.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["correlations", "cuts", "steps"]

Pixels = NDArray[np.float32]
Edges = NDArray[np.float64]

LONGEST_STEP = 0.03
LEAST_GAIN = 0.5


def cuts(before: ArrayLike, after: ArrayLike, n: int, m: int) -> Pixels:
    """Matrices (k, m, n) that cut a part out of `n` pixels in a row and stretch it to `m`.

    Parameters
    ----------
    before, after : array-like of shape (k,)
        Where the parts begin and end, between 0 and 1.
    n, m : int

    Examples
    --------
    >>> (cuts([0.25], [1.0], 4, 2)[0] @ np.arange(4)).round(3).tolist()
    [1.333, 2.667]
    """
    first, last = np.asarray(before)[..., None], np.asarray(after)[..., None]
    edges = n * (first + (last - first) * np.arange(m + 1) / m)
    pixels = np.arange(n)
    ends = np.minimum(edges[..., 1:, None], pixels + 1)
    overlap = np.maximum(ends - np.maximum(edges[..., :-1, None], pixels), 0)
    parts: Pixels = (overlap / overlap.sum(axis=-1, keepdims=True)).astype(np.float32)
    return parts


def steps(wanted: Pixels, own: Pixels, edges: Edges) -> Edges:
    """Steps (k, 4) of the edges of cut-outs towards the pictures that they should be like.

    Parameters
    ----------
    wanted, own : ndarray of shape (k, height, width), float32
        The pictures, and the cut-outs.
    edges : ndarray of shape (k, 4)
    """
    columns = _columns(own, edges)
    products = (columns @ columns.swapaxes(1, 2)).astype(np.float64)
    # a little ridge: edges that a picture does not tell anything about stay where they are
    diagonal = products[:, range(6), range(6)]
    weights = diagonal[:, 2:]
    diagonal[:, :2] += 1
    diagonal[:, 2:] += 0.01 * weights + 0.001 * weights.mean(axis=1, keepdims=True) + 1
    products[:, range(6), range(6)] = diagonal
    pixels = wanted.reshape(len(wanted), columns.shape[2], 1)
    solved = np.linalg.solve(products, columns @ pixels)[..., 0]
    gain = np.maximum(solved[:, :1], LEAST_GAIN)
    step: Edges = np.clip(solved[:, 2:] / gain, -LONGEST_STEP, LONGEST_STEP)
    return step


def _columns(own: Pixels, edges: Edges) -> Pixels:
    """What the shades change by (k, 6, pixels): gain, offset, and a shift of each edge."""
    height, width = own.shape[1:]
    right = ((np.arange(width) + 0.5) / width).astype(np.float32)
    bottom = ((np.arange(height) + 0.5) / height).astype(np.float32)[:, None]
    sizes = (edges[:, 2:] - edges[:, :2]).astype(np.float32)[..., None, None]
    down, across = np.gradient(own, axis=(1, 2))
    across *= width / sizes[:, 0]
    down *= height / sizes[:, 1]
    changes = (across * (1 - right), down * (1 - bottom), across * right, down * bottom)
    columns = np.stack([own, np.ones_like(own), *changes], axis=1)
    return columns.reshape(len(own), 6, height * width)


def correlations(ones: Pixels, others: Pixels) -> NDArray[np.float32]:
    """Correlation (k,) of the shades of each two pictures; 0 where one of them is flat.

    >>> row = np.array([[[1, 2, 4]]], dtype=np.float32)
    >>> correlations(row, 3 - 2 * row).round(3).tolist()
    [-1.0]
    """
    ones = ones - ones.mean(axis=(1, 2), keepdims=True)
    others = others - others.mean(axis=(1, 2), keepdims=True)
    norms = np.linalg.norm(ones, axis=(1, 2)) * np.linalg.norm(others, axis=(1, 2))
    products = np.einsum("kij,kij->k", ones, others)
    found: NDArray[np.float32] = products / np.maximum(norms, 1e-6)
    return found
