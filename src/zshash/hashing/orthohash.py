"""One loss for all: one cosine between a code and the target of its class.

Jiun Tian Hoe, Kam Woh Ng, Tianyu Zhang, Chee Seng Chan, Yi-Zhe Song and Tao Xiang: *One Loss for
All: Deep Hashing with a Single Cosine Similarity based Learning Objective*, NeurIPS 2021.

Minimise, over the head, the cross-entropy of a softmax over classes c of

    s (cos(v, o_c) − m [c is a label of the sample])

for fixed targets o_c in {−1, 1} that are orthogonal to each other. A large cosine with signs also
means that v loses little as signs, so that no other term is needed. Batch normalisation gives every
bit the same share of the cosine, and both values.

======  ==================================================  ============================
symbol  meaning                                              here
======  ==================================================  ============================
u       outputs of the head for a batch (b, l)               ``outputs``
v       (u − mean) / deviation · gain + shift (b, l)         ``normalised``
o       targets (c, l)                                       ``targets_``
s, m    scale of cosines, margin                             ``scale``, ``margin``
======  ==================================================  ============================
"""

from numbers import Real

import numpy as np
from sklearn.utils import check_random_state

from zshash.hashing.hasher import SupervisedHasher, check_number
from zshash.hashing.steps.centers import class_labels, hash_centers
from zshash.hashing.steps.heads import HeadHasher, cross_entropy, shares, tensor
from zshash.hashing.steps.samples import Samples

TINY = 1e-5  # added to variances, so that a bit that never changes is not divided by zero


class OrthoHash(HeadHasher, SupervisedHasher):
    """Codes near to orthogonal targets of classes, by their cosines. A fit needs PyTorch.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024. With a power of two, the targets of as many classes are
        exactly orthogonal; otherwise they are random.
    scale : float, default 8
        s.
    margin : float, default 0.2
        m, by which the cosine with the target of a label must be larger than with others.
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
        The head: u(x) = x linear + bias + max(0, x units + unit_bias) outputs, with the
        normalisation in it.
    targets_ : ndarray of shape (c, n_bits)
        The target of each class, −1 and 1.
    loss_ : ndarray of shape (n_steps,)
        The loss of a batch before each step.
    classes_ : ndarray
        The labels in order, where y held class labels.
    """

    def __init__(
        self,
        n_bits=64,
        *,
        scale=8.0,
        margin=0.2,
        n_units=0,
        n_steps=300,
        batch_size=256,
        rate=1e-3,
        weight_decay=5e-4,
        normalize=True,
        random_state=None,
    ) -> None:
        self.n_bits = n_bits
        self.scale = scale
        self.margin = margin
        self.n_units = n_units
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.rate = rate
        self.weight_decay = weight_decay
        self.normalize = normalize
        self.random_state = random_state

    def learn(self, samples: Samples) -> None:
        """Train the head with batch normalisation, then make the normalisation a part of it."""
        rng = check_random_state(self.random_state)
        sets, groups = class_labels(samples.targets)
        self.targets_ = hash_centers(sets.shape[1], self.n_bits, rng)
        gain, shift = np.ones(self.n_bits, np.float32), np.zeros(self.n_bits, np.float32)
        targets, wanted, groups = tensor(self.targets_), shares(sets), tensor(groups)

        def loss(u, rows, gain, shift):
            cosines = cosines_with(normalised(u, gain, shift), targets)
            return margin_loss(cosines, wanted[groups[rows]], self.scale, self.margin)

        weights = self.train(samples.X, loss, rng, others=(gain, shift))
        self._keep(with_normalisation(weights, samples, gain, shift))

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        check_number(self, "scale", Real, above=0)
        check_number(self, "margin", Real, minimum=0)


def normalised(u, gain, shift):
    """v (b, l): each column of u with the mean `shift` and the deviation `gain`."""
    centred = u - u.mean(dim=0)
    return centred / (centred.square().mean(dim=0) + TINY).sqrt() * gain + shift


def cosines_with(v, targets):
    """cos(v, o_c) (b, c); targets have the length √l."""
    lengths = v.norm(dim=1, keepdim=True).clamp(min=1e-8)
    return v / lengths @ targets.T / targets.shape[1] ** 0.5


def margin_loss(cosines, wanted, scale, margin):
    """The objective, for shares (b, c) of the labels of each sample that sum to 1."""
    return cross_entropy(scale * (cosines - margin * (wanted > 0)), wanted)


def with_normalisation(weights, samples, gain, shift):
    """A head with the outputs `normalised`, by means and deviations over all samples."""

    def outputs(X):
        return weights.outputs(X, weights.hidden(X))

    mean = samples.total(lambda X: outputs(X).sum(axis=0)) / len(samples)
    variances = samples.total(lambda X: np.square(outputs(X) - mean).sum(axis=0)) / len(samples)
    ratios = gain / np.sqrt(variances + TINY)
    return weights.before(ratios, shift - mean * ratios)
