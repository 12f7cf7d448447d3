from typing import NamedTuple

import numpy as np
import pytest


class World(NamedTuple):
    """Clusters of samples whose centres follow from the vectors of their categories."""

    X: np.ndarray
    y: np.ndarray
    vectors: np.ndarray
    names: np.ndarray
    hidden: np.ndarray
    hidden_y: np.ndarray


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="session")
def world():
    """Sixteen seen categories, two hidden ones between them."""
    rng = np.random.RandomState(0)
    bits = rng.rand(18, 6) > 0.5
    bits[:, 0] = ~bits[:, 1:].any(axis=1) | bits[:, 0]  # no row of zeros
    directions = rng.randn(6, 12)
    y = np.repeat(np.arange(18), 20)
    X = unit((bits - 0.5)[y] @ directions + 0.3 * rng.randn(len(y), 12))
    vectors, seen = unit(bits.astype(float)), y < 16
    return World(X[seen], y[seen], vectors[:16], vectors[16:], X[~seen], y[~seen] - 16)


@pytest.fixture
def slope():
    """Gradients by central differences."""

    def slope(function, point, step=1e-6):
        flat = np.zeros(point.size)
        for i in range(point.size):
            move = np.zeros(point.size)
            move[i] = step
            move = move.reshape(point.shape)
            flat[i] = (function(point + move) - function(point - move)) / (2 * step)
        return flat.reshape(point.shape)

    return slope
