"""Bi-half hashing: every bit is 1 for half of the samples of a batch.

Yunqiang Li and Jan van Gemert: *Deep Unsupervised Image Hashing by Maximizing Bit Entropy*, AAAI
2021.

Minimise, over the head, the mean over pairs of samples of

    [cos(x, x′) − cos(b, b′)]²

where each bit b is 1 for the half of the batch with the largest outputs u(x), and −1 for the other
half: the codes with the most entropy that are nearest to u (optimal transport). The gradient by u
is taken as the gradient by b plus γ (u − b) / size, which draws u to its bits, so that later a sign
alone gives the bit.

======  ==================================================  ============================
symbol  meaning, rows are samples of a batch                 here
======  ==================================================  ============================
u       outputs of the head (b, l)                           ``u``
b       half-and-half bits (b, l)                            ``half_half``
γ       weight of the way to the bits                        ``gamma``
======  ==================================================  ============================
"""

from numbers import Real

from sklearn.utils import check_random_state

from zshash.hashing.hasher import check_number
from zshash.hashing.steps.heads import HeadHasher, cosine_gap, tensor, through
from zshash.hashing.steps.samples import Samples


class BiHalf(HeadHasher):
    """Bits that halve each batch, and cosines as those of features. A fit needs PyTorch.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024.
    gamma : float, default 1
        γ.
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
        The loss of a batch before each step, with γ ‖u − b‖² / (2 size).
    """

    def __init__(
        self,
        n_bits=64,
        *,
        gamma=1.0,
        n_units=0,
        n_steps=300,
        batch_size=256,
        rate=1e-3,
        weight_decay=5e-4,
        normalize=True,
        random_state=None,
    ) -> None:
        self.n_bits = n_bits
        self.gamma = gamma
        self.n_units = n_units
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.rate = rate
        self.weight_decay = weight_decay
        self.normalize = normalize
        self.random_state = random_state

    def learn(self, samples: Samples) -> None:
        """Train the head on cosines of features less their mean."""
        rng = check_random_state(self.random_state)
        X, mean = tensor(samples.X), tensor(samples.X.mean(axis=0))

        def loss(u, rows):
            bits = half_half(u)
            return cosine_gap(X[rows] - mean, through(u, bits)) + way(u, bits, self.gamma)

        self._keep(self.train(samples.X, loss, rng))

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        check_number(self, "gamma", Real, minimum=0)


def half_half(u):
    """b: 1 for the n // 2 largest outputs of each bit, −1 for the others."""
    order = u.detach().argsort(dim=0, descending=True, stable=True)
    return u.new_full(u.shape, -1).scatter_(0, order[: len(u) // 2], 1)


def way(u, bits, gamma):
    """γ ‖u − b‖² / (2 size), whose gradient by u is γ (u − b) / size."""
    return gamma / 2 * (u - bits).square().mean()
