"""Kernel features: similarity to a set of anchors.

φ(x) = [exp(−‖x − a₁‖²/δ), …, exp(−‖x − a_m‖²/δ), 1]
"""

import threading

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import gen_batches

from zshash._threads import add_up, map_blocks, run_blocks
from zshash._warnings import warn_user
from zshash.hashing.steps.mersenne import choose
from zshash.hashing.steps.rows import BLOCK_ROWS, as_rows

FAR = 1e30  # squared distance in units of δ beyond which nothing is computed
PIECE_ROWS = BLOCK_ROWS // 4  # rows of φ computed at a time: they stay in the cache for exp
ROWS_PER_CENTER = 256  # rows drawn for each centre, where not all are used: more change little


def choose_anchors(X, n_anchors, *, method, rng):
    """Pick `n_anchors` rows of X at random, or the centres of as many clusters.

    X is an array or `Rows`.

    Returns
    -------
    anchors : ndarray of shape (min(n_anchors, n), d), float32
        Fewer centres where samples coincide.
    """
    if n_anchors > len(X):
        warn_user(
            f"n_anchors={n_anchors} is larger than the number of samples: using {len(X)} anchors"
        )
        n_anchors = len(X)
    rows = as_rows(X)
    if method == "random":
        return rows.take(np.sort(choose(len(rows), n_anchors, rng)))
    X = rows.draw(ROWS_PER_CENTER * n_anchors, rng)
    clusters = MiniBatchKMeans(
        n_anchors,
        n_init=1,
        batch_size=max(1024, 3 * n_anchors),
        compute_labels=False,
        reassignment_ratio=0,  # else small clusters are moved onto the centres of others
        random_state=rng,
    )
    mean = X.mean(axis=0)  # around which float32 is most exact
    return _distinct(clusters.fit(X - mean).cluster_centers_) + mean


def _distinct(centers):
    """Centres, without repetitions of an earlier one."""
    typical = np.median(np.square(centers).sum(axis=1))
    near = euclidean_distances(centers, squared=True) <= 1e-6 * typical
    return centers[near.argmax(axis=1) == np.arange(len(centers))]


def mean_squared_distance(X, anchors):
    """Mean of ‖x − a‖² over all pairs, in O((n + m) d).

    With both measured from the mean of the anchors, the products x·a cancel in the mean.
    """
    center = anchors.mean(axis=0, dtype=np.float64)
    squares = as_rows(X).squares_from(center)
    return squares / len(X) + np.square(anchors - center).sum() / len(anchors)


class AnchorKernel:
    """φ for given anchors (m, d) and bandwidth δ.

    The exponents of a block come out of one matrix product: with c the mean of the anchors,
    u = (x − c)/√δ and v = (a − c)/√δ, [u, ‖u‖², 1] · [2v, −1, −‖v‖²] = −‖x − a‖²/δ, and a row
    of zeros on the right gives the bias, exp(0) = 1.
    """

    def __init__(self, anchors, bandwidth):
        self.anchors, self.bandwidth = anchors, bandwidth
        self._scale = 1 / np.sqrt(bandwidth)
        self._center = anchors.mean(axis=0, dtype=np.float64).astype(np.float32)
        offsets = (anchors - self._center) * self._scale
        squares = np.square(offsets).sum(axis=1)
        if squares.max() > FAR:
            raise ValueError(
                f"bandwidth={bandwidth:g} is far below the distances between samples: "
                "choose a larger one"
            )
        m, d = anchors.shape
        self._right = np.zeros((d + 2, m + 1), dtype=np.float32)
        self._right[:d, :m] = 2 * offsets.T
        self._right[d, :m] = -1
        self._right[d + 1, :m] = -squares

    @property
    def dimension(self):
        """Number of kernel features, the bias included."""
        return self._right.shape[1]

    def __call__(self, X, out=None):
        """φ(X) (n, m + 1) float32."""
        n, d = X.shape
        left = _room(n, d + 2) if n <= PIECE_ROWS else np.empty((n, d + 2), dtype=np.float32)
        offsets = left[:, :d]
        np.subtract(X, self._center, out=offsets)
        offsets *= np.float32(self._scale)
        squares = np.einsum("ij,ij->i", offsets, offsets)
        far = ~(squares < FAR)
        if far.any():  # from every anchor: the similarity is 0, without a sum that overflows
            offsets[far], squares[far] = 0, FAR
        left[:, d], left[:, d + 1] = squares, 1
        exponents = np.matmul(left, self._right, out=out)
        np.minimum(exponents, 0, out=exponents)  # rounding must not lift a similarity above 1
        return np.exp(exponents, out=exponents)


_own = threading.local()


def _room(n, d):
    """A work array (n, d) of the calling thread, valid until the thread asks for the next one.

    Workers of Dask return freed memory to the system at once. If every block allocated its own
    memory, they would spend a third of their time on that.
    """
    if getattr(_own, "room", np.empty(0)).size < n * d:
        _own.room = np.empty(n * d, dtype=np.float32)
    return _own.room[: n * d].reshape(n, d)


class KernelFeatures:
    """φ(X) of the training samples, block by block.

    φ(X) is held whole if `keep` is set and it fits in scikit-learn's ``working_memory`` (1 GiB
    unless configured); else each block is computed when it is asked for. Without `keep`, a block
    is valid until its thread asks for the next one: threads reuse their memory, because allocating
    it for each block would take as long as the work in some processes.
    """

    def __init__(self, X, kernel, *, keep=True):
        self._X = X
        self._kernel = kernel
        self._whole = None
        self._room = None if keep else threading.local()
        budget = get_config()["working_memory"] * 2**20
        if keep and 4 * len(X) * kernel.dimension <= budget:
            whole = np.empty((len(X), kernel.dimension), dtype=np.float32)
            run_blocks(lambda part: kernel(X[part], whole[part]), gen_batches(len(X), PIECE_ROWS))
            self._whole = whole

    def __len__(self):
        return len(self._X)

    @property
    def dimension(self):
        """Number of columns of φ."""
        return self._kernel.dimension

    def parts(self):
        """Slices that cover the samples in order."""
        return gen_batches(len(self._X), BLOCK_ROWS)

    def __getitem__(self, part):
        """φ of some samples: a slice or an array of row numbers."""
        if self._whole is not None:
            return self._whole[part]
        return self._compute(self._X[part])

    def gram(self, dtype=np.float32):
        """ΦᵀΦ: products of blocks in `dtype`, added up in float64."""
        return self.total(product_of_features, dtype)

    def total(self, step, *args):
        """The sum of ``step(block of X, block of Φ, *args)`` over blocks of rows, in float64."""
        return add_up(
            map_blocks(lambda part: step(*self.blocks(part), *args), self.parts()),
        )

    def blocks(self, part):
        """X and Φ of some samples."""
        X = self._X[part]
        return X, self._compute(X) if self._whole is None else self._whole[part]

    def _compute(self, X):
        """φ of a block, in the same pieces as when φ is held whole, so that it rounds the same."""
        Phi = self._space(len(X))
        for part in gen_batches(len(X), PIECE_ROWS):
            self._kernel(X[part], Phi[part])
        return Phi

    def _space(self, n):
        if self._room is None or n > BLOCK_ROWS:
            return np.empty((n, self.dimension), dtype=np.float32)
        if not hasattr(self._room, "Phi"):
            self._room.Phi = np.empty((BLOCK_ROWS, self.dimension), dtype=np.float32)
        return self._room.Phi[:n]

    def mix(self, weights):
        """weights Φ for a sparse matrix of weights (b, n): each result mixes a few samples."""
        if self._whole is not None:
            return weights @ self._whole
        used, columns = np.unique(weights.indices, return_inverse=True)
        compact = sparse.csr_array(
            (weights.data, columns, weights.indptr), shape=(weights.shape[0], len(used))
        )
        return compact @ self[used]


def product_of_features(_, Phi, dtype):
    """ΦᵀΦ of a block, in `dtype`."""
    Phi = Phi.astype(dtype, copy=False)
    return Phi.T @ Phi
