"""Codes of classes that are far from each other: what heads of deep hashing aim at."""

import numpy as np
from scipy import linalg

from zshash.hashing.steps.similarity import label_sets


def class_labels(targets):
    """The labels of each group of samples (g, c), and the group of each sample (n,).

    As `label_sets` returns them, without labels that no sample has.
    """
    sets, groups = label_sets(targets)
    return sets[:, sets[np.unique(groups)].any(axis=0)], groups


def hash_centers(n_classes, n_bits, rng):
    """A code of −1 and 1 for each class, far apart, (c, l) float32.

    Where n_bits is a power of two and there are enough of them, rows of a Hadamard matrix: half of
    the bits of two centres differ. Each row has a random sign, since otherwise all of them have the
    same first bit. For up to twice as many classes, all rows and their negatives: half of the bits
    differ, or all. Else random bits.
    """
    if n_bits & (n_bits - 1) or n_classes > 2 * n_bits:
        return random_bits((n_classes, n_bits), rng)
    rows = linalg.hadamard(n_bits).astype(np.float32)
    if n_classes > n_bits:
        return rng.permutation(np.vstack([rows, -rows]))[:n_classes]
    return rng.permutation(rows)[:n_classes] * random_bits((n_classes, 1), rng)


def random_bits(shape, rng):
    """Bits of −1 and 1, float32."""
    return rng.choice(np.array([-1, 1], dtype=np.float32), shape)


def centers_of_sets(sets, centers, ties):
    """The centre of each set of labels (g, l): what most of its centres say, bit by bit.

    `ties` (l,) says which bits break ties.
    """
    votes = sets @ centers
    return np.where(votes == 0, ties, np.sign(votes))
