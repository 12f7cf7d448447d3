"""Central similarity quantization.

Li Yuan, Tao Wang, Xiaopeng Zhang, Francis EH Tay, Zequn Jie, Wei Liu and Jiashi Feng: *Central
Similarity Quantization for Efficient Image and Video Retrieval*, CVPR 2020.

Codes of a class gather around a centre of its own; centres are far from each other. Minimise, over
the head, the mean over bits of

    −[c log h + (1 − c) log(1 − h)] + λ log cosh(|2h − 1| − 1),   h = (1 + tanh u(x)) / 2

where c in {0, 1} is a bit of the sample's centre: the cross-entropy to the centre, and a term that
brings each h near to 0 or 1.

======  ==================================================  ============================
symbol  meaning                                              here
======  ==================================================  ============================
c       centres of classes, of −1 and 1 (c, l)               ``centers_``
2h − 1  tanh u for a batch (b, l)                            ``v``
λ       weight of the quantization                           ``lam``
======  ==================================================  ============================

Centres are rows of a Hadamard matrix where there are enough of them, random ones otherwise (see
`hash_centers`). The centre of a sample with several labels has the bits of most of their centres.
"""

from numbers import Real

from sklearn.utils import check_random_state

from zshash.hashing.hasher import SupervisedHasher, check_number
from zshash.hashing.steps.centers import centers_of_sets, class_labels, hash_centers, random_bits
from zshash.hashing.steps.heads import HeadHasher, tensor
from zshash.hashing.steps.samples import Samples


class CSQ(HeadHasher, SupervisedHasher):
    """Codes around the centres of classes, half of whose bits differ. A fit needs PyTorch.

    Parameters
    ----------
    n_bits : int, default 64
        Length of the codes, 8 to 1024. With a power of two, half of the bits differ between the
        centres of as many classes; otherwise centres are random.
    lam : float, default 1e-4
        λ.
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
    centers_ : ndarray of shape (c, n_bits)
        The centre of each class, −1 and 1.
    loss_ : ndarray of shape (n_steps,)
        The loss of a batch before each step.
    classes_ : ndarray
        The labels in order, where y held class labels.
    """

    def __init__(
        self,
        n_bits=64,
        *,
        lam=1e-4,
        n_units=0,
        n_steps=300,
        batch_size=256,
        rate=1e-3,
        weight_decay=5e-4,
        normalize=True,
        random_state=None,
    ) -> None:
        self.n_bits = n_bits
        self.lam = lam
        self.n_units = n_units
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.rate = rate
        self.weight_decay = weight_decay
        self.normalize = normalize
        self.random_state = random_state

    def learn(self, samples: Samples) -> None:
        """Draw the centres, then train the head."""
        rng = check_random_state(self.random_state)
        sets, groups = class_labels(samples.targets)
        self.centers_ = hash_centers(sets.shape[1], self.n_bits, rng)
        own = centers_of_sets(sets, self.centers_, random_bits(self.n_bits, rng))
        centers, groups = tensor(own), tensor(groups)

        def loss(u, rows):
            return central_loss(u, centers[groups[rows]]) + self.lam * quantization_loss(u.tanh())

        self._keep(self.train(samples.X, loss, rng))

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid; the message names the first one."""
        super().check_parameters()
        check_number(self, "lam", Real, minimum=0)


def central_loss(u, centers):
    """Mean cross-entropy of bits: −log h where c is 1 and −log(1 − h) where it is 0.

    With h = 1/(1 + e^{−2u}) and centres of −1 and 1, both are log(1 + e^{−2uc}).
    """
    return (-2 * u * centers).logaddexp(u.new_zeros(())).mean()


def quantization_loss(v):
    """Mean of log cosh(|v| − 1), a smooth form of 1 − |v|."""
    return (v.abs() - 1).cosh().log().mean()
