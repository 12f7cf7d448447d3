"""Inductive manifold hashing.

Fumin Shen, Chunhua Shen, Qinfeng Shi, Anton van den Hengel and Zhenmin Tang: *Inductive Hashing
on Manifolds*, CVPR 2013; with Heng Tao Shen also IEEE Transactions on Image Processing 2015.

A few cluster centres, the base, are embedded with a method that keeps neighbours together. A
sample x then lies where it is nearest to the base samples around it,

    y(x) = argmin_y Σⱼ wⱼ(x)‖y − eⱼ‖² = z(x)E,    and its bits are sgn(y(x))

======  =======================================================  ===================
symbol  meaning, rows are samples                                 here
======  =======================================================  ===================
E       embedding of the base (m, r)                              ``E``, ``embedding_``
w(x)    weights exp(−‖x − a‖²/σ²) of the s nearest base samples   in ``strengths``
z(x)    w(x) divided by its sum (m,)
Z       z of the training samples (n, m)                          ``Z``
M       Laplacian of the neighbours within the base (m, m)        ``M``
T       Laplacian of the base linked by training samples (m, m)   ``T``
======  =======================================================  ===================
"""

from numbers import Real

import numpy as np
from sklearn.utils import check_random_state

from zshash.hashing.hasher import check_choice, check_number
from zshash.hashing.steps import tsne
from zshash.hashing.steps.anchor_graph import TINY, check_eigenvectors, nearest_anchors, width
from zshash.hashing.steps.graphs import nearest_neighbors
from zshash.hashing.steps.kinds import AnchorGraphHasher
from zshash.hashing.steps.linear import along, gram, mean_row, top_eigenvectors
from zshash.hashing.steps.samples import Samples

N_NEIGHBORS = 20  # of a base sample within the base
ALIKE = 1e-3  # eigenvectors up to this eigenvalue are constant on a component of the graph


class IMH(AnchorGraphHasher):
    """Inductive manifold hashing: signs of an embedding learned for a few base samples.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024.
    embedding : {"tsne", "le"}, default "tsne"
        How the base is embedded: by t-SNE, or by Laplacian eigenmaps, which also use the links
        between base samples through training samples.
    n_anchors : int, default 400
        Number of cluster centres that make the base; more than `n_bits` and `perplexity`.
    n_nearest : int, default 5
        Number of nearest base samples that place a sample.
    perplexity : float, default 10
        Approximate number of neighbours that t-SNE keeps near; lowered to a third of the base
        where few samples make a small base.
    normalize : bool, default True
        Bring every row of X to unit length first, in training and afterwards.
    random_state : int, RandomState or None
        Same seed, same codes.

    Attributes
    ----------
    anchors_ : ndarray of shape (m, d)
        The base.
    sigma_ : float
        Width of the weights on anchors: mean distance to the last anchor that a sample keeps.
    embedding_ : ndarray of shape (m, n_bits)
        E, with columns that sum to 0.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import IMH
    >>> X, _ = load_digits(return_X_y=True)
    >>> hasher = IMH(n_bits=32, embedding="le", n_anchors=100, random_state=0).fit(X)
    >>> hasher.encode(X[:3]).shape
    (3, 4)
    """

    def __init__(
        self,
        n_bits=64,
        *,
        embedding="tsne",
        n_anchors=400,
        n_nearest=5,
        perplexity=10.0,
        normalize=True,
        random_state=None,
    ) -> None:
        self.n_bits = n_bits
        self.embedding = embedding
        self.n_anchors = n_anchors
        self.n_nearest = n_nearest
        self.perplexity = perplexity
        self.normalize = normalize
        self.random_state = random_state

    def learn(self, samples: Samples) -> None:
        """Embed the base samples, which are the anchors of the graph."""
        rng = check_random_state(self.random_state)
        Z = self._fit_graph(samples.X, rng)
        check_base(len(self.anchors_), self.n_bits)
        if self.embedding == "tsne":
            E = neighbor_embedding(self.anchors_, self.n_bits, self.perplexity, rng)
        else:
            M = base_laplacian(self.anchors_)
            T = sample_laplacian(Z, self._strengths(samples.X))
            E = eigenmaps(M + 2 * T, self.n_bits)
        self.embedding_ = np.asarray(E - E.mean(axis=0), dtype=np.float32, order="C")

    def _strengths(self, X):
        """The sum of w(x) of each sample (n,)."""
        distances, _ = nearest_anchors(X, self.anchors_, self.n_nearest)
        return heat(distances, self.sigma_).sum(axis=1)

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        check_choice(self, "embedding", ("tsne", "le"))
        check_number(self, "perplexity", Real, above=0)
        check_base(self.n_anchors, self.n_bits)
        if self.embedding == "tsne" and self.n_anchors <= self.perplexity:
            raise ValueError(
                f"n_anchors={self.n_anchors} must be more than perplexity={self.perplexity}: "
                "use more anchors or a lower perplexity"
            )


def check_base(m, n_bits):
    """Refuse a base of too few samples."""
    if m <= n_bits:
        raise ValueError(
            f"a base of {m} anchors is too small for n_bits={n_bits}: use more anchors than bits "
            "(n_anchors), and more samples than anchors"
        )


def neighbor_embedding(base, r, perplexity, rng):
    """E by exact t-SNE, after a projection on the leading axes of the base."""
    axes = max(20, r)
    if base.shape[1] > axes:
        mean = mean_row(base)
        base = along(base, mean, top_eigenvectors(gram(base, mean), axes)[1])
    return tsne.embed(base, r, max(1.0, min(perplexity, (len(base) - 1) / 3)), rng)


def base_laplacian(base):
    """M = D − S of the base's own neighbours, with σ from their distances."""
    distances, indices = nearest_neighbors(base, min(N_NEIGHBORS, len(base) - 1))
    S = np.zeros((len(base), len(base)))
    np.put_along_axis(S, indices, heat(distances, width(distances)), axis=1)
    return laplacian(np.maximum(S, S.T))


def sample_laplacian(Z, strengths):
    """T = diag(Wᵀ1) − ZᵀW, where the weights W = diag(strengths) Z are not normalised."""
    exact = Z.astype(np.float64)
    return laplacian((exact.T @ (exact * strengths[:, None])).toarray())


def heat(distances, sigma):
    """Weights exp(−d²/σ²), from squared distances."""
    return np.exp(-distances.astype(np.float64) / max(sigma**2, TINY))


def laplacian(S):
    """diag(S1) − S."""
    return np.diag(S.sum(axis=1)) - S


def eigenmaps(L, r):
    """E: the eigenvectors of L (m, m) with the smallest eigenvalues that are not 0."""
    values, vectors = top_eigenvectors(-L, len(L))
    kept = np.flatnonzero(-values > ALIKE)[:r]
    check_eigenvectors(len(kept), r, len(L))
    return vectors[:, kept]
