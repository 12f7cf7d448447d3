"""Quantisers of today at a fixed number of bytes a vector, through faiss.

A quantiser learns from vectors (n, d), stores any vector in `n_bytes`, and compares real-valued
queries with what is stored. faiss works with one thread, so that the same seed always gives the
same codes.

==========  ====================================================================================
class       what a code says
==========  ====================================================================================
`PQ`        the nearest of 256 centres in each of `n_bytes` parts of the vector
`OPQ`       the same after a rotation that is learned for it
`LSQ`       one of 256 vectors of each of `n_bytes` lists, whose sum is nearest to the vector
`RaBitQ`    signs after a random rotation, and two numbers that undo what signs lose
`PCASigns`  signs along the axes in which the vectors vary most
==========  ====================================================================================
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ortho_group
from threadpoolctl import threadpool_limits

from zshash import codes
from zshash._extras import needs
from zshash.hashing.steps.linear import along, spectrum
from zshash.hashing.steps.rows import Rows

__all__ = ["LSQ", "OPQ", "PQ", "QUANTISERS", "PCASigns", "Quantiser", "RaBitQ"]

Codes = NDArray[np.uint8]
Vectors = NDArray[np.float32]

N_CENTRES = 256  # a byte tells them apart
FACTOR_BYTES = 8  # two float32 numbers beside the bits of a RaBitQ code


@contextmanager
def open_faiss() -> Iterator[Any]:
    """Context with the package faiss and one thread; an error where faiss is not installed."""
    with needs("dev"):
        import faiss
    with threadpool_limits(1):  # of OpenMP, too: libraries count that are loaded by now
        yield faiss


@dataclass
class Quantiser(ABC):
    """A way to store vectors in a few bytes.

    Parameters
    ----------
    n_bytes : int
        Bytes of a stored vector, all that it needs counted.

    Attributes
    ----------
    is_binary : bool
        Whether codes are compared by their Hamming distance, too: any database can do that, and a
        hash table can look them up.
    """

    n_bytes: int
    is_binary: ClassVar[bool] = False

    def __post_init__(self) -> None:
        codes.check_integer("n_bytes", self.n_bytes, 1)

    def fit(self, X: Vectors, seed: int) -> Self:
        """Learn from vectors X (n, d)."""
        X = _as_vectors(X)
        self.check_shape(*X.shape)
        self.learn(X, seed)
        return self

    def encode(self, X: Vectors) -> Codes:
        """Codes (n, n_bytes) of vectors X (n, d)."""
        return self.store(_as_vectors(X))

    def similarities(self, queries: Vectors, stored: Codes) -> Vectors:
        """Similarity (q, n) of real-valued queries (q, d) to codes (n, n_bytes): higher is better.

        Equal codes always tie: sums of floats depend on the place of a column, so each code is
        compared once.
        """
        different, places = np.unique(stored, axis=0, return_inverse=True)
        return self.compare(_as_vectors(queries), different)[:, places.ravel()]

    @abstractmethod
    def check_shape(self, n: int, d: int) -> None:
        """Raise ValueError if `n` vectors of `d` numbers can not be stored in `n_bytes`."""

    @abstractmethod
    def learn(self, X: Vectors, seed: int) -> None:
        """Set the fitted state from vectors that are checked."""

    @abstractmethod
    def store(self, X: Vectors) -> Codes:
        """Codes of vectors."""

    @abstractmethod
    def compare(self, queries: Vectors, stored: Codes) -> Vectors:
        """Similarity of queries to codes, all of which differ."""


class DecodedQuantiser(Quantiser):
    """A quantiser whose codes stand for vectors: similar is what is near to such a vector.

    A dimension that the number of parts does not divide is filled up with zeros.
    """

    def learn(self, X: Vectors, seed: int) -> None:
        """Train an index of faiss that codes come from."""
        X = self._filled_up(X)
        with open_faiss() as faiss:
            self.index_ = self.make_index(faiss, X.shape[1], seed)
            self.index_.train(X)

    def store(self, X: Vectors) -> Codes:
        """Codes of vectors, as faiss makes them."""
        with open_faiss():
            stored: Codes = self.index_.sa_encode(self._filled_up(X))
        return stored

    def compare(self, queries: Vectors, stored: Codes) -> Vectors:
        """Negative squared distances of queries to the decoded vectors."""
        return -_squared_distances(self._filled_up(queries), self.index_.sa_decode(stored))

    def check_shape(self, n: int, d: int) -> None:
        """Refuse fewer vectors than centres, and parts without a number."""
        if n < N_CENTRES:
            raise ValueError(
                f"{type(self).__name__} learns {N_CENTRES} centres and has {n} vectors: give at "
                f"least {N_CENTRES}"
            )
        if self.n_bytes > d:
            raise ValueError(
                f"{type(self).__name__} divides a vector into {self.n_bytes} parts, one for each "
                f"byte, and vectors have {d} numbers: take at most {d} bytes"
            )

    @abstractmethod
    def make_index(self, faiss: Any, d: int, seed: int) -> Any:
        """An index of faiss for vectors of d numbers, which are divided into `n_bytes` parts."""

    def _filled_up(self, X: Vectors) -> Vectors:
        missing = -X.shape[1] % self.n_bytes
        return np.pad(X, ((0, 0), (0, missing))) if missing else X


class PQ(DecodedQuantiser):
    """Product quantisation: the nearest of 256 centres in each part of the vector."""

    def make_index(self, faiss: Any, d: int, seed: int) -> Any:
        """An index of `n_bytes` parts of 8 bits."""
        index = faiss.IndexPQ(d, self.n_bytes, 8)
        _sow(index.pq, seed)
        return index


@dataclass
class OPQ(DecodedQuantiser):
    """Optimised product quantisation: the vector is rotated so that its parts lose least.

    The search for the rotation starts from the same random one for every seed, a habit of faiss.

    Parameters
    ----------
    n_bytes : int
    n_rounds : int
        Rounds of the search for the rotation, as many as in faiss.
    """

    n_rounds: int = 50

    def check_shape(self, n: int, d: int) -> None:
        """Refuse fewer vectors than numbers, too: faiss writes beyond its memory then."""
        super().check_shape(n, d)
        if n < d:
            raise ValueError(
                f"OPQ learns a rotation of {d} numbers from at least as many vectors, and has {n}"
            )

    def make_index(self, faiss: Any, d: int, seed: int) -> Any:
        """A rotation, and an index of `n_bytes` parts of 8 bits after it."""
        self._helper = faiss.ProductQuantizer(
            d, self.n_bytes, 8
        )  # kept, as faiss only points at it
        index, rotation = faiss.IndexPQ(d, self.n_bytes, 8), faiss.OPQMatrix(d, self.n_bytes)
        for quantizer in (self._helper, index.pq):
            _sow(quantizer, seed)
        rotation.pq, rotation.niter = self._helper, self.n_rounds
        return faiss.IndexPreTransform(rotation, index)


@dataclass
class LSQ(DecodedQuantiser):
    """Local search quantisation: a sum of vectors, one out of each of `n_bytes` lists.

    Distances to the decoded sums are compared, so a code needs no byte for its length.

    Parameters
    ----------
    n_bytes : int
    n_rounds : int
        Rounds of the training; 25 in faiss.
    n_searches : int
        Steps of the local search for each code; 8 in the training and 16 afterwards in faiss.
    """

    n_rounds: int = 10
    n_searches: int = 8

    def make_index(self, faiss: Any, d: int, seed: int) -> Any:
        """An index of `n_bytes` lists of 256 vectors."""
        decoding = faiss.AdditiveQuantizer.ST_decompress
        index = faiss.IndexLocalSearchQuantizer(d, self.n_bytes, 8, faiss.METRIC_L2, decoding)
        index.lsq.random_seed = seed
        index.lsq.train_iters = self.n_rounds
        index.lsq.train_ils_iters = index.lsq.encode_ils_iters = self.n_searches
        return index


class RaBitQ(Quantiser):
    """Signs after principal axes and a random rotation, with two float32 numbers for each vector.

    The numbers take 8 bytes, so each byte above 8 stores 8 dimensions. A query is not rounded.
    """

    def check_shape(self, n: int, d: int) -> None:  # noqa: ARG002
        """Refuse bytes that hold nothing but the two numbers, or more bits than dimensions."""
        if self.n_bytes <= FACTOR_BYTES:
            raise ValueError(
                f"a code of RaBitQ takes {FACTOR_BYTES} bytes for two numbers beside its bits, so "
                f"{self.n_bytes} bytes leave none for bits: take at least {FACTOR_BYTES + 1}"
            )
        _check_bits(self, self._n_dimensions, d)

    def learn(self, X: Vectors, seed: int) -> None:
        """Learn the principal axes, and draw the rotation."""
        d = self._n_dimensions
        found = spectrum(Rows(X))
        rotation = ortho_group.rvs(d, random_state=seed)
        self.mean_, self.axes_ = found.mean, found.axes[:, :d] @ rotation
        with open_faiss() as faiss:
            self.index_ = faiss.IndexRaBitQ(d, faiss.METRIC_L2)
            self.index_.qb = 0  # queries stay as they are
            self.index_.train(self.turned(X))

    def turned(self, X: Vectors) -> Vectors:
        """Vectors along the rotated axes (n, d'), of which signs are taken."""
        return np.ascontiguousarray(along(X, self.mean_, self.axes_))

    def store(self, X: Vectors) -> Codes:
        """Codes of vectors, as faiss makes them."""
        with open_faiss():
            stored: Codes = self.index_.sa_encode(self.turned(X))
        return stored

    def compare(self, queries: Vectors, stored: Codes) -> Vectors:
        """Negative estimates |x|² + |q|² − 2⟨q, x⟩ of squared distances, as faiss makes them.

        |x|² is the first number of a code, the signs stand for x in the last term, and the second
        number brings them to their length. Estimates below 0, which faiss takes for 0, stay.
        """
        numbers = np.ascontiguousarray(stored[:, -FACTOR_BYTES:]).view(np.float32)
        decoded = self.index_.sa_decode(stored)
        queries = self.turned(queries)
        near: Vectors = 2 * queries @ decoded.T - numbers[:, 0] - _squares(queries)[:, None]
        return near

    @property
    def _n_dimensions(self) -> int:
        return 8 * (self.n_bytes - FACTOR_BYTES)


class PCASigns(Quantiser):
    """Signs along principal axes: a plain hash function, with real-valued queries."""

    is_binary: ClassVar[bool] = True

    def check_shape(self, n: int, d: int) -> None:  # noqa: ARG002
        """Refuse more bits than dimensions."""
        _check_bits(self, 8 * self.n_bytes, d)

    def learn(self, X: Vectors, seed: int) -> None:  # noqa: ARG002
        """Learn the axes; nothing is drawn."""
        found = spectrum(Rows(X))
        self.mean_, self.axes_ = found.mean, found.axes[:, : 8 * self.n_bytes]

    def project(self, X: Vectors) -> Vectors:
        """Places of vectors along the axes (n, bits), whose signs are the bits."""
        places: Vectors = along(X, self.mean_, self.axes_)
        return places

    def store(self, X: Vectors) -> Codes:
        """Packed signs of vectors."""
        return codes.pack(self.project(X) >= 0)

    def compare(self, queries: Vectors, stored: Codes) -> Vectors:
        """Sums Σ uₖbₖ of places u of a query and bits b, which count as 1 and −1."""
        signs = 2 * codes.unpack(stored, 8 * self.n_bytes).astype(np.float32) - 1
        return self.project(queries) @ signs.T


QUANTISERS: dict[str, type[Quantiser]] = {
    "PQ": PQ,
    "OPQ": OPQ,
    "LSQ": LSQ,
    "RaBitQ": RaBitQ,
    "PCA signs": PCASigns,
}
"""Quantisers by the names that tables show."""


def _as_vectors(X: Any) -> Vectors:
    return np.ascontiguousarray(X, dtype=np.float32)


def _sow(quantizer: Any, seed: int) -> None:
    """Set the seed of a product quantizer; a few vectors for each centre are no reason to warn."""
    quantizer.cp.seed = seed
    quantizer.cp.min_points_per_centroid = 1


def _check_bits(quantiser: Quantiser, n_bits: int, d: int) -> None:
    if n_bits > d:
        raise ValueError(
            f"{type(quantiser).__name__} of {quantiser.n_bytes} bytes needs {n_bits} dimensions, "
            f"one for each bit, and vectors have {d}: take fewer bytes"
        )


def _squared_distances(queries: Vectors, vectors: Vectors) -> Vectors:
    return _squares(queries)[:, None] + _squares(vectors) - 2 * queries @ vectors.T


def _squares(X: Vectors) -> Vectors:
    squares: Vectors = np.einsum("ij,ij->i", X, X)
    return squares
