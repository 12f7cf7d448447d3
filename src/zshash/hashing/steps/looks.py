"""How the teacher of metric-transfer hashing sees samples, kept in parts of vectors, not in bits.

The teacher compares looks by their inner product: whitened features of unit length, averaged with
their neighbours as far as there are samples without a label (`pool`), and a number for novelty
(`imagination`). A product quantiser (`products`) keeps a look in one byte for each part.

A sample that was not trained on has the same whitened features and novelty. It is averaged half as
far with its neighbours, which are some of the training samples, as their codes tell them.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from zshash.codes import unpack
from zshash.hashing.hasher import Hasher, check_choice
from zshash.hashing.steps import pool
from zshash.hashing.steps.imagination import Novelty, category_means
from zshash.hashing.steps.products import N_VALUES, Products, learn_products
from zshash.hashing.steps.rows import unit_rows

BITS, PRODUCTS = "bits", "pq"
MOST_REFERENCES = 10_000  # training samples among which neighbours are looked for
PIECE_ROWS = 512  # that are compared with all references at a time: 20 MB


@dataclass(frozen=True)
class Looks:
    """What is learned, as arrays; `names` are those of the fitted state of a hasher.

    Attributes
    ----------
    mean, whitening : ndarray of shape (d,) and (d, d), float32
    familiar : ndarray of shape (c, d), float32
        Means that novelty compares with.
    novelty : ndarray of shape (3,), float32
        Weight of novelty, and centre and spread of what it is before.
    rotation, centres : ndarray, float32
        See `Products`.
    references : ndarray of shape (m, n_bytes), uint8
        Codes of samples that may be neighbours; none without averages.
    averaging : float
        Weight of the averages.
    """

    mean: np.ndarray
    whitening: np.ndarray
    familiar: np.ndarray
    novelty: np.ndarray
    rotation: np.ndarray
    centres: np.ndarray
    references: np.ndarray
    averaging: float

    @property
    def products(self):
        """The product quantiser."""
        return Products(self.rotation, self.centres)

    def function(self):
        """The function from features (n, d) to rotated looks (n, n_bytes · width)."""
        weight, scale = np.float32(self.averaging / 2), self.novelty[0]
        novelty = Novelty.of(self.familiar, *self.novelty[1:])
        references = self.products.decode(self.references)
        k = pool.n_neighbors(len(references)) if len(references) else 0

        def look(X):
            Z = (X - self.mean) @ self.whitening
            V = np.hstack([unit_rows(Z), scale * novelty(Z)[:, None]]) @ self.rotation
            if weight:
                for rows in gen_batches(len(V), PIECE_ROWS):
                    V[rows] = averaged(V[rows], references, k, weight)
            return V

        return look


def averaged(V, references, k, weight):
    """Rows V (n, d), averaged with the k references (m, d) next to each by this weight."""
    near = V @ references.T
    best = np.argpartition(-near, k, axis=1)[:, :k]
    means = unit_rows(V + references[best].sum(axis=1))
    return unit_rows((1 - weight) * V + weight * means)


def learn_looks(Z, categories, whitening, lessons, weight, n_bytes, rng):
    """Learn from whitened samples; returns `Looks`, and the codes of the samples (n, n_bytes).

    Parameters
    ----------
    Z : ndarray of shape (n, d)
    categories : ndarray of shape (n,)
        Category of each sample, −1 if nobody labelled it.
    whitening : Whitening
    lessons : Lessons
    weight : float
        Weight of novelty in squared distances.
    n_bytes : int
    rng : RandomState
    """
    if len(Z) < N_VALUES:
        raise ValueError(
            f"codes='pq' learns {N_VALUES} centres for each byte from as many samples, and there "
            f"are {len(Z)}: give more samples, or use codes='bits'"
        )
    labelled = np.flatnonzero(categories >= 0)
    own = categories[labelled]
    novelty = Novelty(Z, own, category_means(Z[labelled], own))
    scale = np.float32(np.sqrt(weight))
    looks = unit_rows(Z)
    if lessons.averaging:
        looks = pool.teacher(Z, categories, lessons.averaging, lessons.n_neighbors)
    stored = np.hstack([looks, scale * novelty(Z)[:, None]])
    products = learn_products(stored, n_bytes, rng)
    codes = products.encode(stored @ products.rotation)
    n_references = min(len(codes), MOST_REFERENCES) if lessons.averaging else 0
    some = np.sort(rng.permutation(len(codes))[:n_references])
    learned = Looks(
        whitening.mean,
        whitening.T.astype(np.float32),
        novelty.means,
        np.array([scale, novelty.centre, novelty.spread], dtype=np.float32),
        products.rotation,
        products.centres,
        codes[some],
        lessons.averaging,
    )
    return learned, codes


FIELDS = tuple(field.name for field in fields(Looks) if field.name != "averaging")


class LooksHasher(Hasher):
    """A method that keeps bits, or with ``codes="pq"`` the looks of its teacher in parts.

    A fit with ``codes="pq"`` ends in the arrays of `Looks`, ``averaging_``, and ``codes_``.
    """

    codes: str
    novelty: float
    averaging_: float
    centres_: NDArray[np.float32]
    codes_: NDArray[np.uint8]

    @property
    def is_binary(self) -> bool:
        """Whether codes are bits, compared by their Hamming distance."""
        return bool(self.codes == BITS)

    @property
    def n_outputs(self) -> int:
        """Number of columns of what `project` returns."""
        return super().n_outputs if self.is_binary else len(self.centres_) * self.centres_.shape[2]

    def quantize(self, projections: NDArray[np.floating[Any]]) -> NDArray[np.uint8]:
        """Packed codes of samples from their projections, as `encode` returns them."""
        if self.is_binary:
            return super().quantize(projections)
        codes: NDArray[np.uint8] = self._looks().products.encode(projections)
        return codes

    def decode(self, codes: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Vectors (n, n_outputs) that packed codes stand for: bits are 1 and −1."""
        check_is_fitted(self)
        if self.is_binary:
            return np.where(unpack(codes, self.n_bits), np.float32(1), np.float32(-1))
        vectors: NDArray[np.float32] = self._looks().products.decode(codes)
        return vectors

    def transform(self, X: ArrayLike) -> NDArray[np.uint8]:
        """Bits (n, n_bits) uint8, 0 or 1, of the codes."""
        return super().transform(X) if self.is_binary else unpack(self.encode(X), self.n_bits)

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        check_choice(self, "codes", (BITS, PRODUCTS))
        if self.is_binary:
            return
        if self.n_bits % 8:
            raise ValueError(
                f"codes='pq' fills whole bytes: n_bits must be a multiple of 8, got {self.n_bits}"
            )
        for name in ("lookup", "semantics"):
            if getattr(self, name, 0):
                raise ValueError(
                    f"{name} changes bits, and codes='pq' has none: leave {name} at 0, or use "
                    "codes='bits'"
                )

    def _keep_looks(self, Z, categories, whitening, lessons, rng):
        """Set the fitted state of codes of parts."""
        weight = self.novelty * lessons.certainty
        n_bytes = self.n_bits // 8
        looks, self.codes_ = learn_looks(Z, categories, whitening, lessons, weight, n_bytes, rng)
        for name in FIELDS:
            setattr(self, f"{name}_", getattr(looks, name))

    def _looks(self):
        known = {name: getattr(self, f"{name}_") for name in FIELDS}
        return Looks(**known, averaging=self.averaging_)
