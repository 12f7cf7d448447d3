"""Greedy hash: the true signs in training, not a relaxation.

Shupeng Su, Chao Zhang, Kai Han and Yonghong Tian: *Greedy Hash: Towards Fast Optimization for
Accurate Hash Coding in CNN*, NeurIPS 2018.

Minimise, over the head and, with labels, over the weights C of a classifier,

    L(B) + α ‖|H| − 1‖³₃ / size,   B = sgn(H),   H = u(X)

The loss sees the signs, and its gradient by B is taken as its gradient by H; the second term keeps
H near to B, where the two gradients agree. L is the cross-entropy of a softmax of BC. Without
labels, it is the mean of [cos(x, x′) − cos(b, b′)]² over pairs of samples.

======  ==================================================  ============================
symbol  meaning, rows are samples of a batch                 here
======  ==================================================  ============================
H       outputs of the head (b, l)                           ``h``
B       signs (b, l)                                         ``signs``
C       classifier (l, c), no part of the hash function      ``classifier``
α       weight of the penalty                                ``alpha``
======  ==================================================  ============================
"""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from zshash.hashing.hasher import SupervisedHasher, check_choice, check_number
from zshash.hashing.steps.centers import class_labels
from zshash.hashing.steps.heads import (
    HeadHasher,
    cosine_gap,
    cross_entropy,
    shares,
    tensor,
    through,
)
from zshash.hashing.steps.samples import Samples
from zshash.hashing.steps.targets import Targets


class GreedyHash(HeadHasher, SupervisedHasher):
    """Codes that a classifier reads, by gradients that pass the signs. A fit needs PyTorch.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024.
    supervised : bool, default True
        Learn from labels; otherwise cosines of codes learn to be those of features, and all
        samples are learned from.
    alpha : float, default 1
        α.
    n_units : int, default 0
        Units of a hidden layer (ReLU) beside the linear map; 0 is a linear head, as in the paper.
    n_steps : int, default 300
        Steps of the training, each on a batch.
    batch_size : int, default 256
        Samples of a batch, at least; all samples where there are fewer.
    rate : float, default 1e-3
        Size of the largest step of Adam; steps grow at first and end at nothing.
    weight_decay : float, default 5e-4
        Share of the weights that is added to their gradients.
    normalize : bool, default True
        Bring every row of X to unit length first, in training and afterwards.
    random_state : int, RandomState or None
        Same seed, same codes, on any number of threads.

    Attributes
    ----------
    linear_, bias_, units_, unit_bias_, outputs_ : ndarray
        The head: u(x) = x linear + bias + max(0, x units + unit_bias) outputs.
    loss_ : ndarray of shape (n_steps,)
        The loss of a batch before each step.
    classes_ : ndarray
        The labels in order, where y held class labels.
    """

    def __init__(
        self,
        n_bits=64,
        *,
        supervised=True,
        alpha=1.0,
        n_units=0,
        n_steps=300,
        batch_size=256,
        rate=1e-3,
        weight_decay=5e-4,
        normalize=True,
        random_state=None,
    ) -> None:
        self.n_bits = n_bits
        self.supervised = supervised
        self.alpha = alpha
        self.n_units = n_units
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.rate = rate
        self.weight_decay = weight_decay
        self.normalize = normalize
        self.random_state = random_state

    @property
    def needs_labels(self) -> bool:  # type: ignore[override]
        """Whether the method can not learn where no sample has a label."""
        return bool(self.supervised)

    @property
    def learns_unlabelled(self) -> bool:  # type: ignore[override]
        """Whether the method learns from samples without a label."""
        return not self.supervised

    def read_targets(self, y: Any, n_samples: int) -> Targets | None:  # type: ignore[override]
        """Read labels y of `n_samples` samples; the form without labels does not look at them."""
        if self.supervised:
            return super().read_targets(y, n_samples)
        self.forget_classes()
        return None

    def usable_samples(self, features: Any, targets: Targets | None) -> Samples:
        """The labelled samples, or all in the form without labels."""
        if targets is None:
            return Samples(features, None)
        return super().usable_samples(features, targets)

    def learn(self, samples: Samples) -> None:
        """Train the head, with a classifier where there are labels."""
        rng = check_random_state(self.random_state)
        own, others = self._reading(samples, rng)

        def loss(h, rows, *classifier):
            return own(through(h, signs(h)), rows, *classifier) + self.alpha * penalty(h)

        self._keep(self.train(samples.X, loss, rng, others=others))

    def _reading(self, samples, rng):
        """L as a function of a batch, and the weights that it has."""
        if samples.targets is None:
            X, mean = tensor(samples.X), tensor(samples.X.mean(axis=0))
            return lambda b, rows: cosine_gap(X[rows] - mean, b), ()
        sets, groups = class_labels(samples.targets)
        wanted, groups = shares(sets), tensor(groups)
        classifier = rng.standard_normal((self.n_bits, sets.shape[1])) / np.sqrt(self.n_bits)

        def classification(b, rows, classifier):
            return cross_entropy(b @ classifier, wanted[groups[rows]])

        return classification, (classifier.astype(np.float32),)

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        check_choice(self, "supervised", (True, False))
        check_number(self, "alpha", Real, minimum=0)


def signs(h):
    """B: 1 where h is 0 or more, else −1."""
    return (h >= 0).to(h.dtype) * 2 - 1


def penalty(h):
    """Mean of ||h| − 1|³."""
    return (h.abs() - 1).abs().pow(3).mean()
