"""Product quantisation: vectors in a few bytes, each of which chooses one of 256 parts.

A vector is rotated and divided into parts of equal width. Byte b of its code says which of 256
centres is nearest to part b, so a code stands for a vector y of the centres that its bytes choose.
Rotation R and centres C are learned in turn, so that less is lost (optimised product quantisation,
Ge et al. 2013):

    minimise ‖XR − Y‖² over Y: a step of k-means in each part;  over R: Procrustes, R = UVᵀ of XᵀY

At first, R is made of the main axes of X, dealt out so that no part has much more to tell than
another. Only the axes with the largest squares are kept, at most `MOST_AXES`, and fewer of few
vectors.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg
from sklearn.utils import gen_batches

from zshash._threads import run_blocks
from zshash.hashing.steps.imagination import category_means
from zshash.hashing.steps.rotations import procrustes
from zshash.hashing.steps.rows import BLOCK_ROWS

N_VALUES = 256  # of a byte
MOST_AXES = 256  # that vectors keep, unless they have more bytes than that
ROWS_PER_AXIS = 16  # fewer vectors keep fewer axes: centres would follow single vectors
MOST_ROWS = 20_000  # that rotation and centres are learned from
ROUNDS, LAST_STEPS = 20, 10  # with a rotation in each; steps of k-means at the end


class Products(NamedTuple):
    """A rotation, and the centres of each part.

    Attributes
    ----------
    rotation : ndarray of shape (d, n_bytes · width), float32
    centres : ndarray of shape (n_bytes, 256, width), float32
    """

    rotation: np.ndarray
    centres: np.ndarray

    def encode(self, Y):
        """Codes (n, n_bytes) of rotated vectors Y (n, n_bytes · width)."""
        codes = np.empty((len(Y), len(self.centres)), dtype=np.uint8)

        def fill(rows):
            for part, centres in enumerate(self.centres):
                codes[rows, part] = nearest(parts_of(Y[rows], part, centres.shape[1]), centres)

        run_blocks(fill, gen_batches(len(Y), BLOCK_ROWS))
        return codes

    def decode(self, codes):
        """Rotated vectors (n, n_bytes · width) that codes (n, n_bytes) stand for."""
        chosen = [centres[codes[:, part]] for part, centres in enumerate(self.centres)]
        return np.hstack(chosen)


def learn_products(X, n_bytes, rng):
    """Learn rotation and centres from vectors X (n, d), at least 256 of them."""
    X = X[np.sort(rng.permutation(len(X))[:MOST_ROWS])]
    rotation = first_rotation(X, n_bytes)
    Y = X @ rotation
    width = Y.shape[1] // n_bytes
    starts = rng.permutation(len(X))[:N_VALUES]
    centres = np.stack([parts_of(Y[starts], part, width) for part in range(n_bytes)])
    for _ in range(ROUNDS):
        centres, decoded = improved(Y, centres, rng)
        rotation = procrustes(X.T @ decoded).astype(np.float32)
        Y = X @ rotation
    for _ in range(LAST_STEPS):
        centres, _ = improved(Y, centres, rng)
    return Products(rotation, centres)


def first_rotation(X, n_bytes):
    """Main axes of X (d, n_bytes · width), dealt out to the parts by turns there and back.

    Where there are fewer axes than places, columns of zeros fill up the last ones.
    """
    n_axes = min(X.shape[1], max(min(MOST_AXES, len(X) // ROWS_PER_AXIS), n_bytes))
    width = -(-n_axes // n_bytes)
    axes = linalg.eigh((X.T @ X).astype(np.float64))[1]
    axes = axes[:, ::-1][:, :n_axes].astype(np.float32)
    rotation = np.zeros((X.shape[1], n_bytes * width), dtype=np.float32)
    turns = np.arange(n_bytes * width).reshape(width, n_bytes)
    turns[1::2] = turns[1::2, ::-1]
    places = turns.T.ravel()  # number of the axis at each place
    known = places < n_axes
    rotation[:, known] = axes[:, places[known]]
    return rotation


def improved(Y, centres, rng):
    """Centres after a step of k-means in each part of Y, and what they make of Y.

    A centre that is nearest to nothing moves to a random vector.
    """
    decoded = np.empty_like(Y)
    better = np.empty_like(centres)
    width = centres.shape[2]
    fresh = rng.randint(len(Y), size=centres.shape[:2])

    def fill(part):
        own = np.ascontiguousarray(parts_of(Y, part, width))
        chosen = nearest(own, centres[part])
        means = category_means(own, chosen)
        better[part] = own[fresh[part]]
        used = np.flatnonzero(np.bincount(chosen, minlength=N_VALUES))
        better[part, used] = means[used]
        decoded[:, part * width : (part + 1) * width] = better[part][chosen]

    run_blocks(fill, range(len(centres)))
    return better, decoded


def parts_of(Y, part, width):
    """One part of each vector (n, width)."""
    return Y[:, part * width : (part + 1) * width]


def nearest(Y, centres):
    """Number of the nearest centre of each row."""
    lengths = np.square(centres).sum(axis=1) / 2
    return (Y @ centres.T - lengths).argmax(axis=1)
