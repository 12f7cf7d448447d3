"""Handwritten digits that come with scikit-learn: small, real, and always at hand."""

import numpy as np
from sklearn.datasets import load_digits

from zshash.datasets.data import Dataset

__all__ = ["digits"]

NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def digits() -> Dataset:
    """The 1,797 digits of 8 × 8 pixels, pixels as features.

    >>> digits().X.shape, digits().names[3]
    ((1797, 64), 'three')
    """
    bunch = load_digits()
    return Dataset(
        X=bunch.data.astype(np.float32),
        labels=bunch.target.astype(np.int64),
        names=NAMES,
        images=(bunch.images * (255 / 16)).round().astype(np.uint8),
    )
