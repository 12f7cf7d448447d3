"""Deep polarized network.

Lixin Fan, Kam Woh Ng, Ce Ju, Tianyu Zhang and Chee Seng Chan: *Deep Polarized Network for
Supervised Learning of Accurate Binary Hashing Codes*, IJCAI 2020.

Push every output to the side of its target bit, and beyond a margin. Minimise, over the head,

    Σ_k max(m − v_k t_k, 0),   v = u(x)

where t in {−1, 1} is the target of the sample's class, random bits. With `adaptive`, a target
becomes the signs of the mean code of its class after each epoch (DPN-A in the paper).

======  ==================================================  ============================
symbol  meaning                                              here
======  ==================================================  ============================
v       outputs for a batch (b, l)                           ``v``
t       targets of classes (c, l)                            ``targets_``
m       margin                                               ``margin``
======  ==================================================  ============================

The target of a sample with several labels has the bits of most of their targets.
"""

from numbers import Real

import numpy as np
from sklearn.utils import check_random_state

from zshash.hashing.hasher import SupervisedHasher, check_choice, check_number
from zshash.hashing.steps.centers import centers_of_sets, class_labels, random_bits
from zshash.hashing.steps.heads import HeadHasher, tensor
from zshash.hashing.steps.samples import Samples


class DPN(HeadHasher, SupervisedHasher):
    """Outputs pushed beyond a margin on the side of random targets. A fit needs PyTorch.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024.
    adaptive : bool, default False
        Let the targets follow the mean codes of classes (DPN-A).
    margin : float, default 1
        m.
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
    targets_ : ndarray of shape (c, n_bits)
        The target of each class, −1 and 1; with `adaptive`, the last one.
    loss_ : ndarray of shape (n_steps,)
        The loss of a batch before each step.
    classes_ : ndarray
        The labels in order, where y held class labels.
    """

    def __init__(
        self,
        n_bits=64,
        *,
        adaptive=False,
        margin=1.0,
        n_units=0,
        n_steps=300,
        batch_size=256,
        rate=1e-3,
        weight_decay=5e-4,
        normalize=True,
        random_state=None,
    ) -> None:
        self.n_bits = n_bits
        self.adaptive = adaptive
        self.margin = margin
        self.n_units = n_units
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.rate = rate
        self.weight_decay = weight_decay
        self.normalize = normalize
        self.random_state = random_state

    def learn(self, samples: Samples) -> None:
        """Draw the targets, then train the head; targets may move after each epoch."""
        rng = check_random_state(self.random_state)
        sets, groups = class_labels(samples.targets)
        ties = random_bits(self.n_bits, rng)
        self.targets_ = random_bits((sets.shape[1], self.n_bits), rng)
        own = centers_of_sets(sets, self.targets_, ties)  # of each group, changed in place
        latest = np.zeros((len(groups), self.n_bits), dtype=np.float32)
        targets, of_rows, outputs = tensor(own), tensor(groups), tensor(latest)

        def loss(v, rows):
            outputs[rows] = v.detach()
            return polarization_loss(v, targets[of_rows[rows]], self.margin)

        def follow():
            self.targets_ = mean_targets(latest, sets, groups, self.targets_)
            own[:] = centers_of_sets(sets, self.targets_, ties)

        after_epoch = follow if self.adaptive else None
        self._keep(self.train(samples.X, loss, rng, after_epoch=after_epoch))

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        check_choice(self, "adaptive", (True, False))
        check_number(self, "margin", Real, above=0)


def polarization_loss(v, targets, margin):
    """Mean over samples of Σ_k max(m − v_k t_k, 0)."""
    return (margin - v * targets).clamp(min=0).sum(dim=1).mean()


def mean_targets(outputs, sets, groups, targets):
    """The signs of the mean code of each class (c, l); a tie keeps the bit that was there."""
    sums = np.zeros((len(sets), outputs.shape[1]), dtype=np.float32)
    np.add.at(sums, groups, np.where(outputs >= 0, np.float32(1), np.float32(-1)))
    means = sets.T @ sums
    return np.where(means == 0, targets, np.sign(means))
