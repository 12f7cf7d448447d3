"""Semi-supervised hashing, and its sequential form.

Jun Wang, Sanjiv Kumar and Shih-Fu Chang: *Semi-Supervised Hashing for Large-Scale Search*, IEEE
Transactions on Pattern Analysis and Machine Intelligence 34 (12), 2012.

Maximise tr(WᵀMW), where the adjusted covariance

    M = X_lᵀSX_l / l² + η XᵀX / n

rewards directions along which labelled pairs fall on the right sides (first term) and all samples
spread (second term).

======  ==================================================  ======================
symbol  meaning, rows are samples                           here
======  ==================================================  ======================
X       features, centred (n, d)                            ``X - mean``
X_l     features of the labelled samples, centred (l, d)    ``X[rows] - mean``
S       1 similar, −1 dissimilar, 0 on the diagonal (l, l)  ``S``
C       XᵀX / n, less the directions already found (d, d)   ``C``
W       hash function: bits are sgn((x − mean) W), (d, r)   ``W``, ``projection_``
======  ==================================================  ======================

The sequential form finds one direction w at a time, as the top eigenvector of M. Then it weighs
the pairs that w gets wrong more, S ← S − αS̃ where S̃ and S differ in sign, with S̃ = (X_l w)(X_l w)ᵀ,
and takes w out of the covariance.
"""

from numbers import Integral, Real

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state, gen_batches

from zshash._compiled import compiled
from zshash._threads import add_up, map_blocks
from zshash.hashing.hasher import SumHasher, SupervisedHasher, check_choice, check_number
from zshash.hashing.steps.kinds import LinearHasher
from zshash.hashing.steps.linear import gram, mean_row, top_eigenvectors
from zshash.hashing.steps.rows import BLOCK_ROWS
from zshash.hashing.steps.samples import SampleSource
from zshash.hashing.steps.similarity import draw_rows, similarity

PAIR_ROWS = 128  # rows of S handled at a time


class SSH(SumHasher, LinearHasher, SupervisedHasher):
    """Semi-supervised hashing: few labels say what is similar, all samples spread the bits.

    Samples without a label (−1, None, "", rows of zeros) spread the bits like all others.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024. Only the sequential form gives more bits than X has
        dimensions.
    variant : {"sequential", "orthogonal", "nonorthogonal"}, default "sequential"
        "sequential" finds one direction after the other, each to correct the pairs that the last
        one got wrong; the authors found it strongest. "orthogonal" takes the top eigenvectors of M
        at once. "nonorthogonal" scales these to solve the problem without the constraint WᵀW = I,
        which does not change the bits.
    n_labeled : int or None, default 1000
        Samples whose labels are used, drawn at random; all others count as unlabelled. Where
        there are fewer, all are used. None takes all, except for the sequential form, which holds
        a matrix of all labelled pairs.
    eta : float, default 3
        η, weight of the spread of all samples. Each term is a mean, the first over pairs, the
        second over samples, so that η does not depend on their numbers. The default is for 64
        bits of the sequential form; fewer bits are better with less, 0.3 at 16.
    alpha : float, default 1
        α, how much more a wrong pair weighs for the next direction (sequential form). S̃ is scaled
        to entries of about 1, as those of S are, whatever the scale of X.
    normalize : bool, default True
        Bring every row of X to unit length first, in training and afterwards.
    random_state : int, RandomState or None
        Same seed, same codes.

    Attributes
    ----------
    mean_ : ndarray of shape (d,)
    projection_ : ndarray of shape (d, n_bits)
        W.
    classes_ : ndarray
        The labels in order, where y held class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import SSH
    >>> X, y = load_digits(return_X_y=True)
    >>> SSH(n_bits=16, n_labeled=200, random_state=0).fit(X, y).encode(X[:3]).shape
    (3, 2)
    """

    learns_unlabelled = True

    def __init__(
        self,
        n_bits=64,
        *,
        variant="sequential",
        n_labeled=1000,
        eta=3.0,
        alpha=1.0,
        normalize=True,
        random_state=None,
    ) -> None:
        self.n_bits = n_bits
        self.variant = variant
        self.n_labeled = n_labeled
        self.eta = eta
        self.alpha = alpha
        self.normalize = normalize
        self.random_state = random_state

    def learn(self, samples: SampleSource) -> None:
        """Learn directions from the labelled rows and the covariance of all rows."""
        if self.variant != "sequential":
            self._check_axes(samples.n_features, 'variant="sequential"')
        pairs = similarity(samples.targets, "SSH")
        rows = labeled_rows(pairs, self.n_labeled, check_random_state(self.random_state))
        X, mean = samples.take(rows), mean_row(samples)
        C = gram(samples, mean) / len(samples)
        if self.variant == "sequential":
            W = one_by_one(X - mean, pairs[rows], C, self.n_bits, self.eta, self.alpha)
        else:
            M = pair_term(X, mean, pairs[rows]) + self.eta * C
            values, W = top_eigenvectors(M, self.n_bits)
            if self.variant == "nonorthogonal":
                W = W * lengths(values, M)
        self._keep(mean, W)

    def check_sums(self) -> None:
        """Raise ValueError if a parameter needs all rows in memory."""
        if self.n_labeled is None:
            raise ValueError("n_labeled=None takes all rows into memory: give a number")

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        check_choice(self, "variant", ("sequential", "orthogonal", "nonorthogonal"))
        if self.n_labeled is not None:
            check_number(self, "n_labeled", Integral, minimum=2)
        elif self.variant == "sequential":
            raise ValueError(
                'n_labeled=None takes all labels, and variant="sequential" holds a matrix of all '
                'labelled pairs: give a number, or use variant="orthogonal"'
            )
        for name in ("eta", "alpha"):
            check_number(self, name, Real, minimum=0)


def labeled_rows(pairs, n_labeled, rng):
    """Row numbers of the samples whose labels are used, in order."""
    rows = np.flatnonzero(pairs.labels.any(axis=1)[pairs.groups])
    if len(rows) == 0:
        raise ValueError("no row of y holds a label: SSH needs some labelled samples")
    return rows if n_labeled is None else draw_rows(rows, n_labeled, rng)


def pair_term(X, mean, pairs):
    """X_lᵀSX_l / l², without S: samples of a group share their row of it.

    With G the sums of the groups' samples and S' the signs between groups, 1 on the diagonal,
    X_lᵀSX_l = GᵀS'G − X_lᵀX_l.
    """
    G = np.zeros((len(pairs.labels), X.shape[1]))
    for part in gen_batches(len(X), BLOCK_ROWS):
        np.add.at(G, pairs.groups[part], X[part] - mean)

    def product(part):
        shared = pairs.labels[part] @ pairs.labels.T
        return G[part].T @ (np.where(shared > 0, 1.0, -1.0) @ G)

    between = add_up(map_blocks(product, gen_batches(len(G), BLOCK_ROWS)))
    return (between - gram(X, mean)) / len(X) ** 2


def lengths(values, M):
    """√(1 + λ/κ), the lengths at which eigenvectors U solve (I + M/κ)W = WWᵀW.

    Any κ above −λ_min is valid; here it is twice the norm of M.
    """
    kappa = 2 * linalg.norm(M) or 1.0
    return np.sqrt(1 + values / kappa)


def one_by_one(X, pairs, C, n_bits, eta, alpha):
    """Directions W (d, r) of the sequential form, from centred labelled samples X (l, d).

    Only C is deflated. X_l keeps all its directions, so that a good one can be used again; once C
    is used up, the weights of the pairs alone tell the next direction from the last ones.
    """
    rows = np.arange(len(X))
    S = np.where(pairs.block(rows, rows), np.float32(1), np.float32(-1))
    np.fill_diagonal(S, 0)
    W = np.empty((X.shape[1], n_bits))
    p = np.zeros(len(X), dtype=np.float32)
    for k in range(n_bits):
        M = weigh_pairs(S, X, p, alpha) / len(X) ** 2 + eta * C
        W[:, k] = w = top_eigenvectors(M, 1)[1][:, 0]
        p = unit_scale(X @ w.astype(np.float32))
        C = deflate(C, w)
    return W


def weigh_pairs(S, X, p, alpha):
    """Subtract αppᵀ from S, in place, where they differ in sign; return X_lᵀSX_l.

    S is symmetric, so only its blocks on and above the diagonal are kept up: with T the sum over
    these, with the blocks on the diagonal halved, X_lᵀSX_l = T + Tᵀ.
    """

    def product(part):
        rest = slice(part.start, len(X))
        boost(S[part], p[part], p, np.float32(alpha), part.start)
        halved = S[part, rest] @ X[rest] - S[part, part] @ X[part] / 2
        return X[part].T @ halved

    T = add_up(map_blocks(product, gen_batches(len(X), PAIR_ROWS)))
    return T + T.T


@compiled
def boost(S, left, right, alpha, start):
    """S ← S − αS̃ in place where S̃ = left rightᵀ and S differ in sign, from column `start` on."""
    for i in range(S.shape[0]):
        for j in range(start, S.shape[1]):
            guess = left[i] * right[j]
            S[i, j] -= alpha * guess if guess * S[i, j] < 0 else np.float32(0)


def unit_scale(p):
    """p scaled to a mean square of 1, so that the entries of ppᵀ are comparable to signs."""
    size = np.sqrt(np.mean(np.square(p), dtype=np.float64))
    return p if size == 0 else p / np.float32(size)


def deflate(C, w):
    """(I − wwᵀ)C(I − wwᵀ): the covariance of X − Xwwᵀ, for a w of length 1."""
    Cw = C @ w
    return C - np.outer(Cw, w) - np.outer(w, Cw) + (w @ Cw) * np.outer(w, w)
