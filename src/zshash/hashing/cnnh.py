"""Hashing by a network that learns the codes of a factorised similarity matrix.

Rongkai Xia, Yan Pan, Hanjiang Lai, Cong Liu and Shuicheng Yan: *Supervised Hashing for Image
Retrieval via Image Representation Learning*, AAAI 2014.

First stage: minimise, over H in [−1, 1],

    ‖S − HHᵀ/q‖²,   S_ij = 1 if i and j share a label, else −1;  S_ii = 1

one entry at a time, in random order. With E = HHᵀ − qS, a step δ from H_ij = x adds 4/q² times

    eδ + κδ²/2 + xδ³ + δ⁴/4,   e = (EH)_ij,   κ = Σₖ H_kj² + x² + E_ii

to the objective, and δ minimises the first two terms, so that x + δ stays in [−1, 1]. The codes
are B = sgn(H).

Second stage: train a network u so that its soft bits tanh u follow the codes. CNNH+ trains outputs
v for the classes at the same time, and leaves them out afterwards:

    mean (tanh u − B)²   (CNNH+: + mean cross-entropy of softmax(v) with the labels)

======  ================================================  ============================
symbol  meaning, rows are samples                          here
======  ================================================  ============================
q       number of bits                                     ``n_bits``
S       similarities (n, n), never formed                  ``pairs``
H       relaxed codes (n, q)                               ``H``
HᵀH     products of columns of H (q, q)                    ``gram``
SH      2 × sums of similar rows of H − sum of all         ``shared``, ``total``
B       codes of the training samples (n, q)               ``B``, ``codes_`` (packed)
u, v    outputs of the network                             ``weights``, ``linear_``, …
======  ================================================  ============================

The network of the paper is convolutional and sees pixels. The network here is small and sees
features; `zshash reproduce cnnh-pixels` trains one on pixels.
"""

from numbers import Integral, Real

import numpy as np
from scipy import sparse, special
from sklearn.utils import check_random_state, gen_batches

from zshash import codes
from zshash._compiled import compiled
from zshash._threads import map_blocks
from zshash.hashing.hasher import SupervisedHasher, check_choice, check_number
from zshash.hashing.steps.distillation import pace, take_steps
from zshash.hashing.steps.kinds import NetworkHasher
from zshash.hashing.steps.linear import mean_row
from zshash.hashing.steps.networks import Adam, random_units
from zshash.hashing.steps.samples import Samples
from zshash.hashing.steps.similarity import similarity

BATCH, PART_ROWS = 256, 128  # rows of a training step, and rows worked on at a time
STILL = 1e-4  # a sweep that lowers the objective by a smaller share than this is the last one


class CNNH(NetworkHasher, SupervisedHasher):
    """A network taught the codes that factorise the similarities of samples.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024.
    classes : bool, default False
        Whether the network also learns to tell the classes apart, as CNNH+ does.
    max_iter : int, default 20
        Sweeps over all entries of H at most; the first stage stops before that when a sweep hardly
        lowers the objective.
    n_units : int, default 512
        Hidden units of the network.
    n_steps : int, default 500
        Steps of its training, with 256 samples each.
    rate : float, default 3e-3
        Size of the largest step.
    normalize : bool, default True
        Bring every row of X to unit length first, in training and afterwards.
    random_state : int, RandomState or None
        Same seed, same codes.

    Attributes
    ----------
    linear_, bias_, units_, unit_bias_, outputs_ : ndarray
        The network: u(x) = x linear + bias + max(0, x units + unit_bias) outputs.
    codes_ : ndarray of shape (n, ceil(n_bits / 8))
        B, the codes of the first stage for the training samples, packed. A database is hashed with
        ``encode``, its training samples too.
    objective_ : ndarray of shape (n_iter_,)
        ‖S − HHᵀ/q‖² after each sweep of the first stage; it never rises.
    loss_ : ndarray of shape (n_steps,)
        The loss of the second stage before each step.
    n_iter_ : int
        Sweeps of the first stage.
    classes_ : ndarray
        The labels in order, where y held class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import CNNH
    >>> X, y = load_digits(return_X_y=True)
    >>> CNNH(n_bits=16, n_steps=50, random_state=0).fit(X, y).encode(X[:3]).shape
    (3, 2)
    """

    def __init__(
        self,
        n_bits=64,
        *,
        classes=False,
        max_iter=20,
        n_units=512,
        n_steps=500,
        rate=3e-3,
        normalize=True,
        random_state=None,
    ) -> None:
        self.n_bits = n_bits
        self.classes = classes
        self.max_iter = max_iter
        self.n_units = n_units
        self.n_steps = n_steps
        self.rate = rate
        self.normalize = normalize
        self.random_state = random_state

    def learn(self, samples: Samples) -> None:
        """Find codes of the samples, then teach them to the network."""
        pairs = similarity(samples.targets, "CNNH")
        rng = check_random_state(self.random_state)
        H, self.objective_ = factorise(pairs, self.n_bits, self.max_iter, rng)
        self.n_iter_ = len(self.objective_)
        B = np.where(H >= 0, 1, -1).astype(np.float32)
        self.codes_ = codes.pack(B > 0)
        self._teach(samples, B, class_shares(pairs) if self.classes else None, rng)

    def _teach(self, samples, B, shares, rng):
        """The second stage, on features of mean zero and mean squared length 1."""
        mean = mean_row(samples)
        X = (samples.X - mean).astype(np.float32)
        scale = 1 / np.sqrt(np.square(X).sum(axis=1).mean())
        X *= np.float32(scale)
        n_outputs = self.n_bits + (0 if shares is None else shares.shape[1])
        weights = random_units(np.zeros((X.shape[1], n_outputs)), self.n_units, rng)
        self.loss_ = train(weights, X, B, shares, rng, rate=self.rate, n_steps=self.n_steps)
        kept = weights.first_outputs(self.n_bits)
        self._keep(kept.after(mean, np.float32(scale) * np.eye(len(mean), dtype=np.float32)))

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        check_choice(self, "classes", (True, False))
        for name in ("max_iter", "n_units", "n_steps"):
            check_number(self, name, Integral, minimum=1)
        check_number(self, "rate", Real, above=0)


def factorise(pairs, n_bits, max_iter, rng):
    """The first stage: H (n, q) float64, and the objective after each sweep."""
    H = rng.uniform(-1, 1, (len(pairs), n_bits))
    similar = sparse.csr_array(pairs.between_groups())
    values = []
    for _ in range(max_iter):
        gram, shared, total = H.T @ H, similar @ pairs.sum_by_group(H), H.sum(axis=0)
        order = rng.permutation(H.size)
        descend(H, order, gram, shared, total, pairs.groups, similar.indptr, similar.indices)
        values.append(objective(H, pairs, similar))
        if len(values) > 1 and values[-1] > (1 - STILL) * values[-2]:
            break
    return H, np.array(values)


@compiled
def descend(H, order, gram, shared, total, groups, starts, others):
    """Take a step along each entry of H in the given order; H and its sums change in place.

    Group a is similar to the groups ``others[starts[a]:starts[a + 1]]``. A step that raises the
    quartic, which can happen for very few samples only, is not taken.
    """
    q = H.shape[1]
    for place in order:
        i, j = place // q, place % q
        x, own = H[i, j], groups[i]
        e, diagonal = -q * (2 * shared[own, j] - total[j]), -float(q)
        for m in range(q):
            e += H[i, m] * gram[j, m]
            diagonal += H[i, m] * H[i, m]
        kappa = gram[j, j] + x * x + diagonal
        step = newton_step(x, e, kappa)
        if change(x, e, kappa, step) < 0:
            for m in range(q):
                gram[j, m] += step * H[i, m]
                gram[m, j] = gram[j, m]
            gram[j, j] += step * (x + step)
            total[j] += step
            for near in range(starts[own], starts[own + 1]):
                shared[others[near], j] += step
            H[i, j] = x + step


@compiled
def newton_step(x, e, kappa):
    """The δ with x + δ in [−1, 1] that minimises eδ + κδ²/2."""
    lowest, highest = -1 - x, 1 - x
    if kappa > 0:
        return min(max(-e / kappa, lowest), highest)
    at_lowest = e * lowest + kappa * lowest * lowest / 2
    return lowest if at_lowest < e * highest + kappa * highest * highest / 2 else highest


@compiled
def change(x, e, kappa, step):
    """What a step adds to ‖qS − HHᵀ‖²/4."""
    return step * (e + step * (kappa / 2 + step * (x + step / 4)))


def objective(H, pairs, similar):
    """‖S − HHᵀ/q‖² = n² − 2 tr(HᵀSH)/q + ‖HᵀH‖²/q², from sums over groups."""
    n, q = H.shape
    sums, total = pairs.sum_by_group(H), H.sum(axis=0)
    agreement = 2 * np.vdot(sums, similar @ sums) - total @ total
    return float(n) ** 2 - 2 * agreement / q + np.square(H.T @ H).sum() / q**2


def class_shares(pairs):
    """Labels of each sample (n, c), float32, with a sum of 1 for each sample."""
    return (pairs.labels / pairs.labels.sum(axis=1, keepdims=True))[pairs.groups]


def train(weights, X, B, shares, rng, *, rate, n_steps):
    """The second stage: train the network in place; returns the loss before each step."""
    adam = Adam(weights)

    def step(progress):
        rows = rng.randint(len(X), size=BATCH)

        def work(part):
            own = rows[part]
            return part_gradients(weights, X[own], B[own], None if shares is None else shares[own])

        parts = map_blocks(work, gen_batches(BATCH, PART_ROWS))
        loss, gradients = next(parts)
        for other, more in parts:
            loss += other
            gradients += more
        adam.step(gradients, rate * pace(progress, n_steps))
        return loss / BATCH

    return np.array(take_steps(step, n_steps))


def part_gradients(weights, X, B, shares):
    """Loss of some rows, added up, and its gradients by the weights, divided by the batch."""
    H = weights.hidden(X)
    loss, dU = code_loss(weights.outputs(X, H), B, shares)
    return loss, weights.gradients(X, H, dU / np.float32(BATCH))


def code_loss(U, B, shares=None):
    """Loss of outputs U (n, q + c), added up over rows, and its gradient by U.

    The first q outputs learn the codes B, the others the classes, where `shares` are given.
    """
    q = B.shape[1]
    V = np.tanh(U[:, :q])
    loss, dU = np.square(V - B).sum() / q, np.empty_like(U)
    dU[:, :q] = (V - B) * (1 - np.square(V)) * np.float32(2 / q)
    if shares is not None:
        logarithms = special.log_softmax(U[:, q:], axis=1)
        loss -= np.vdot(shares, logarithms)
        dU[:, q:] = np.exp(logarithms) - shares
    return float(loss), dU
