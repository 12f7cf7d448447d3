"""Minimal loss hashing.

Mohammad Norouzi and David Fleet: *Minimal Loss Hashing for Compact Binary Codes*, ICML 2011,
with the scaling of the loss and the training of the authors' later program for *Hamming Distance
Metric Learning*, NIPS 2012.

Similar samples should differ in fewer than ρ bits, others in more than ρ. The loss of a pair
whose codes differ in m bits is

    ℓ(m) = max(m − ρ + 1, 0)/(r − ρ + 1)  if similar,   max(ρ − m + 1, 0)/(ρ + 1)  if not.

Minimise over W the mean over pairs of a bound on it, and a penalty on W:

    max_{g, g'} [ℓ(g, g') + g·a + g'·a'] − max_h h·a − max_h' h'·a' + w/2 ‖W‖²,   a = xW, a' = x'W

======  ================================================  ==========================
symbol  meaning                                            here
======  ================================================  ==========================
r       number of bits                                     ``n_bits``
x       features, centred, over one scale, and a one       ``Z`` (n, d + 1)
W       hash function: bits are sgn(xW), (d + 1, r)        ``W``; ``projection_``, ``bias_``
h       codes sgn(a)                                       ``h``
g       codes that have a large loss and agree with a      ``g``
ρ       the number of bits that may differ                 ``rho``, ``rho_``
λ       share of similar pairs in a batch                  ``similar_share``
w       weight decay                                       ``weight_decay``
======  ================================================  ==========================
"""

import math
from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.metrics import label_ranking_average_precision_score
from sklearn.utils import check_random_state, gen_batches

from zshash import codes
from zshash._compiled import compiled
from zshash.hashing.hasher import Projector, SupervisedHasher, check_choice, check_number
from zshash.hashing.steps.kinds import LinearHasher
from zshash.hashing.steps.linear import mean_row
from zshash.hashing.steps.rows import BLOCK_ROWS
from zshash.hashing.steps.samples import Samples
from zshash.hashing.steps.similarity import similarity

UPDATES_DRAWN = 100  # batches of pairs that are drawn at once
MAX_BATCH = 10_000  # pairs; a hundred such batches are drawn at once
MAX_DRAWS = 20  # tries to find dissimilar pairs; there may be none
MAX_QUERIES, MAX_DATABASE = 500, 5000  # samples that compare values of ρ


class MLH(LinearHasher, SupervisedHasher):
    """Minimal loss hashing: a linear hash function from a hinge loss on Hamming distances.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024.
    rho : int, "validate" or None, default None
        ρ, 1 to n_bits; None takes 0.35 n_bits. "validate" tries this and n_bits/16 less and
        more, and takes the value whose codes retrieve best for held-out training samples (a fifth
        of them, 500 at most), at four times the cost.
    loss_scale : float, default 1.0
        Factor of the loss. The bound compares the loss with the lengths of W and x, so this is
        also a factor of W.
    similar_share : float, default 0.5
        λ, between 0 and 1.
    balance : bool, default True
        Also pull every bit's mean over the batch towards zero.
    normalize : bool, default True
        Bring every row of X to unit length first, in training and afterwards.
    batch_size : int, default 100
        Pairs in an update.
    learning_rate : float, default 0.03
        Learning rate of the first update; it falls linearly to zero.
    momentum : float, default 0.9
        Share of an update that carries over to the next one.
    weight_decay : float, default 1e-2
        w.
    max_iter : int, default 4000
        Number of updates.
    random_state : int, RandomState or None
        Same seed, same codes.

    Attributes
    ----------
    mean_ : ndarray of shape (d,)
    projection_ : ndarray of shape (d, n_bits)
        W without its last row, over the scale of the features.
    bias_ : ndarray of shape (n_bits,)
        The last row of W.
    rho_ : int
    objective_ : ndarray of shape (n_iter_,)
        The mean bound of the pairs of each update, before it.
    n_iter_ : int
    classes_ : ndarray
        The labels in order, where y held class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import MLH
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = MLH(n_bits=16, max_iter=200, random_state=0).fit(X, y)
    >>> hasher.encode(X[:3]).shape
    (3, 2)
    """

    def __init__(
        self,
        n_bits=64,
        *,
        rho=None,
        loss_scale=1.0,
        similar_share=0.5,
        balance=True,
        normalize=True,
        batch_size=100,
        learning_rate=0.03,
        momentum=0.9,
        weight_decay=1e-2,
        max_iter=4000,
        random_state=None,
    ) -> None:
        self.n_bits = n_bits
        self.rho = rho
        self.loss_scale = loss_scale
        self.similar_share = similar_share
        self.balance = balance
        self.normalize = normalize
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.max_iter = max_iter
        self.random_state = random_state

    def learn(self, samples: Samples) -> None:
        """Minimise the bound by gradient steps on batches of pairs."""
        pairs, X = similarity(samples.targets, "MLH"), samples.X
        rng, mean = check_random_state(self.random_state), mean_row(X)
        scale = mean_length(X, mean)
        Z = append_one((X - mean) / np.float32(scale))
        self.rho_ = self._choose_rho(Z, pairs, rng)
        W, self.objective_ = self._descend(Z, pairs, self.rho_, rng)
        self._keep(mean, W[:-1] / scale)
        self.bias_, self.n_iter_ = W[-1].copy(), len(self.objective_)

    def projector(self) -> Projector:
        """The function from a block of prepared features to its projections."""
        return lambda X: (X - self.mean_) @ self.projection_ + self.bias_

    def _choose_rho(self, Z, pairs, rng):
        """ρ as it is given, or the best of three on held-out training samples."""
        usual = max(1, round(0.35 * self.n_bits))
        if self.rho != "validate":
            return usual if self.rho is None else int(self.rho)
        if len(Z) < 5:  # too few to hold any out
            return usual
        rows = rng.permutation(len(Z))
        held, rest = np.split(rows, [min(MAX_QUERIES, math.ceil(len(Z) / 5))])
        seed, scores = rng.randint(2**31), {}
        for step in (0, -1, 1):
            rho = min(max(1, usual + step * math.ceil(self.n_bits / 16)), self.n_bits)
            W, _ = self._descend(Z[rest], pairs[rest], rho, np.random.RandomState(seed))
            scores[rho] = find(Z, pairs, W, held, rest[:MAX_DATABASE])
        return max(scores, key=lambda rho: scores[rho])

    def _descend(self, Z, pairs, rho, rng):
        """W, and the mean bound of each update."""
        W = initialize(Z, self.n_bits, rng)
        draw = PairDraw(pairs, self.batch_size, self.similar_share, rng)
        offsets, slopes = hinge(draw.similar, self.n_bits, rho, self.loss_scale)
        velocity, bounds = np.zeros_like(W), np.empty(self.max_iter)
        away = np.empty((2 * self.batch_size, self.n_bits), dtype=np.float32)
        for step in range(self.max_iter):
            if step % UPDATES_DRAWN == 0:
                batches = draw(UPDATES_DRAWN, rng)
            x = Z[batches[step % UPDATES_DRAWN]]
            a = x @ W
            bounds[step] = augment(a, offsets, slopes, away)
            if self.balance:
                away -= np.clip(a.mean(axis=0), -0.5, 0.5)
            rate = self.learning_rate * (1 - step / self.max_iter)
            velocity *= self.momentum
            velocity += rate * (x.T @ away / self.batch_size - self.weight_decay * W)
            W += velocity
        return W, bounds

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        if self.rho is not None and self.rho != "validate":
            check_number(self, "rho", Integral, minimum=1, maximum=self.n_bits)
        for name in ("loss_scale", "learning_rate"):
            check_number(self, name, Real, above=0)
        check_number(self, "similar_share", Real, minimum=0, maximum=1)
        check_choice(self, "balance", (True, False))
        check_number(self, "batch_size", Integral, minimum=1, maximum=MAX_BATCH)
        check_number(self, "max_iter", Integral, minimum=1)
        check_number(self, "momentum", Real, minimum=0, maximum=0.999)
        check_number(self, "weight_decay", Real, minimum=0)


def mean_length(X, mean):
    """Root mean square length of x − mean."""
    parts = gen_batches(len(X), BLOCK_ROWS)
    squares = (np.square(X[part] - mean, dtype=np.float64).sum() for part in parts)
    return math.sqrt(sum(squares) / len(X))


def append_one(X):
    """X with a last column of ones."""
    return np.hstack([X, np.ones((len(X), 1), dtype=X.dtype)])


def initialize(Z, n_bits, rng):
    """A small Gaussian W, float32, with a bias that makes every bit's median zero."""
    W = (0.1 * rng.standard_normal((Z.shape[1], n_bits))).astype(np.float32)
    W[-1] = -np.median(Z[:, :-1] @ W[:-1], axis=0)
    return W


class PairDraw:
    """Draws batches of pairs; ``similar`` says which pairs of a batch are similar.

    Never looks at all pairs: a similar pair is a sample, one of its labels, and a sample with
    this label; a dissimilar pair is two random samples that share no label. If all pairs are
    similar, or none is, so are the pairs of a batch.
    """

    def __init__(self, pairs, batch_size, similar_share, rng) -> None:
        self._pairs = pairs
        by_label = sparse.csr_array(pairs.labels)[pairs.groups].tocsc()
        self._members, self._starts = by_label.indices, by_label.indptr
        n_similar = round(similar_share * batch_size)
        if not self._dissimilar(batch_size, rng).size:
            n_similar = batch_size
        elif not self._members.size:
            n_similar = 0
        self.similar = np.arange(batch_size) < n_similar

    def __call__(self, n_batches, rng):
        """Rows of samples (n_batches, 2 · batch_size): the first of all pairs, then the second."""
        n_similar = np.count_nonzero(self.similar)
        n_dissimilar = len(self.similar) - n_similar
        batches = [
            draw(n_batches * count, rng).reshape(2, n_batches, count)
            for draw, count in ((self._similar, n_similar), (self._dissimilar, n_dissimilar))
            if count
        ]
        return np.concatenate(batches, axis=2).transpose(1, 0, 2).reshape(n_batches, -1)

    def _similar(self, count, rng):
        """Pairs (2, count) that share a label; a label's only sample is paired with itself."""
        first = rng.randint(len(self._members), size=count)
        label = np.searchsorted(self._starts, first, side="right") - 1
        start, others = self._starts[label], self._starts[label + 1] - self._starts[label] - 1
        second = start + (rng.uniform(size=count) * others).astype(np.intp)
        second += (second >= first) & (others > 0)  # all but the first one itself
        return self._members[np.stack([first, second])]

    def _dissimilar(self, count, rng):
        """Pairs (2, count) that share no label, repeated where few are found; empty if none is."""
        found = np.empty((2, 0), dtype=np.intp)
        labels, groups = self._pairs.labels, self._pairs.groups
        for _ in range(MAX_DRAWS):
            drawn = rng.randint(len(groups), size=(2, count))
            first, second = labels[groups[drawn]]
            apart = (np.einsum("ij,ij->i", first, second) == 0) & (drawn[0] != drawn[1])
            found = np.hstack([found, drawn[:, apart]])
            if found.shape[1] >= count:
                return found[:, :count]
        return found[:, np.arange(count) % found.shape[1]] if found.size else found


def hinge(similar, n_bits, rho, scale):
    """ℓ(m) = max(offset + slope · m, 0) of each pair, float32."""
    near, far = scale / (n_bits - rho + 1), scale / (rho + 1)
    offsets = np.where(similar, near * (1 - rho), far * (rho + 1))
    return offsets.astype(np.float32), np.where(similar, near, -far).astype(np.float32)


@compiled
def augment(a, offsets, slopes, away):
    """Loss-augmented inference: h − g (2b, r) into `away`; returns the mean bound.

    `a` (2b, r) holds the projections of the first samples of b pairs, then of the second ones.
    Letting bit k differ instead of agree changes g·a + g'·a' by Δ = |a − a'| − |a + a'|. A hinge
    is the larger of zero and a line, so the maximum over g is the larger of two sums over bits:
    Σ max(Δ, 0), where g = h, and offset + Σ max(Δ + slope, 0).
    """
    n_pairs, total = len(offsets), 0.0
    for i in range(n_pairs):
        first, second, slope = a[i], a[n_pairs + i], slopes[i]
        excess = offsets[i]
        for k in range(len(first)):
            delta = abs(first[k] - second[k]) - abs(first[k] + second[k])
            excess += max(delta + slope, 0) - max(delta, 0)
        total += max(excess, 0)
        for k in range(len(first)):
            p, q = first[k], second[k]
            if excess <= 0:
                away[i, k] = away[n_pairs + i, k] = 0
                continue
            differs = abs(p - q) - abs(p + q) + slope > 0
            g = (p - q >= 0) if differs else (p + q >= 0)
            away[i, k] = 2 * (int(p >= 0) - int(g))
            away[n_pairs + i, k] = 2 * (int(q >= 0) - int(g != differs))
    return total / n_pairs


def find(Z, pairs, W, queries, database):
    """Mean average precision of the queries' similar samples by Hamming distance."""
    distances = codes.hamming(codes.pack(Z[queries] @ W >= 0), codes.pack(Z[database] @ W >= 0))
    nearness = W.shape[1] - distances.astype(np.int32)
    return label_ranking_average_precision_score(pairs.block(queries, database), nearness)
