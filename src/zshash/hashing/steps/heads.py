"""Heads of deep hashing: a small network on fixed features, trained by gradients of PyTorch.

The papers train a whole convolutional network. Here the features are fixed, and a head learns from
them: u(x) = xW + b + max(0, xA + a) O (see `networks`), without its hidden layer where there are
no units. Each method brings its loss, as a function from the outputs of a batch (a tensor) to a
number; PyTorch differentiates it. Everything else is NumPy, so a fitted head needs no PyTorch.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash import _extras
from zshash.hashing.hasher import check_number
from zshash.hashing.steps.distillation import pace, take_steps
from zshash.hashing.steps.kinds import NetworkHasher
from zshash.hashing.steps.networks import Adam, Weights, random_units

EXTRA = "torch"  # of zshash, named after its package

Loss = Callable[..., Any]
"""From outputs u (b, n_bits) and numbers (b,) of the samples of a batch, and from other weights
that are trained with the head, to a number. All are tensors."""


class HeadHasher(NetworkHasher):
    """A method that trains a head; its parameters include those that `train` reads."""

    is_soft = False
    n_units: int
    n_steps: int
    batch_size: int
    rate: float
    weight_decay: float
    loss_: NDArray[np.float64]

    def train(
        self,
        X: NDArray[np.float32],
        loss: Loss,
        rng: np.random.RandomState,
        *,
        others: Sequence[NDArray[np.float32]] = (),
        after_epoch: Callable[[], object] | None = None,
    ) -> Weights:
        """The head that a loss has taught; sets ``loss_``.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Prepared features of the training samples.
        loss : function
            See `Loss`.
        rng : RandomState
        others : sequence of ndarray
            More weights, which the loss gets after its first two arguments. They are trained in
            place.
        after_epoch : function, optional
            It is called whenever all samples have been seen once more.
        """
        mean, scale = centre_and_scale(X)
        weights = random_head(X.shape[1], self.n_bits, self.n_units, rng)
        training = Training([*weights, *others], loss, self.rate, self.weight_decay, self.n_steps)
        draws = draw_batches(len(X), self.batch_size, rng)

        def step(progress: float) -> float:
            rows, is_last = next(draws)
            value = training.step((X[rows] - mean) / scale, rows, progress)
            if is_last and after_epoch:
                after_epoch()
            return value

        with one_thread():
            self.loss_ = np.array(take_steps(step, self.n_steps))
        return weights.after(mean, np.eye(X.shape[1], dtype=np.float32) / scale)

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is not valid, or MissingExtra without PyTorch."""
        super().check_parameters()
        check_number(self, "n_units", Integral, minimum=0)
        check_number(self, "n_steps", Integral, minimum=1)
        check_number(self, "batch_size", Integral, minimum=2)
        check_number(self, "rate", Real, above=0)
        check_number(self, "weight_decay", Real, minimum=0)
        _extras.check(EXTRA)


class Training:
    """Steps of Adam on all weights in place, along gradients that PyTorch finds.

    The first five weights are those of the head.
    """

    def __init__(self, weights, loss, rate, weight_decay, n_steps):
        self._loss, self._rate, self._decay, self._n_steps = loss, rate, weight_decay, n_steps
        self._tensors = [tensor(w).requires_grad_() for w in weights]  # they share their memory
        self._weights, self._adam = weights, Adam(weights)

    def step(self, Z, rows, progress):
        """Take a step for inputs Z of the samples `rows`; returns the loss before it."""
        W, b, A, a, O, *others = self._tensors  # noqa: E741
        inputs = tensor(Z)
        outputs = inputs @ W + b
        if len(a):
            outputs = outputs + (inputs @ A + a).relu() @ O
        value = self._loss(outputs, tensor(rows), *others)
        for own in self._tensors:
            own.grad = None
        value.backward()
        self._adam.step(
            list(map(self._gradient, self._tensors, self._weights)), self._pace(progress)
        )
        return value.item()

    def _gradient(self, own, weight):
        slope = np.zeros_like(weight) if own.grad is None else own.grad.numpy()
        return np.ascontiguousarray(slope + np.float32(self._decay) * weight)

    def _pace(self, progress):
        return self._rate * pace(progress, self._n_steps)


def tensor(array: NDArray[Any]) -> Any:
    """An array as a tensor of PyTorch that shares its memory, if it may be written to."""
    with _extras.needs(EXTRA):
        import torch

    return torch.from_numpy(np.require(array, requirements=("C", "W")))


@contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch use one thread, so that sums do not depend on the number of cores."""
    with _extras.needs(EXTRA):
        import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.enable_grad():
            yield
    finally:
        torch.set_num_threads(before)


def centre_and_scale(X):
    """The mean row of X (d,), and one number that brings a column's mean square near to 1."""
    mean = X.mean(axis=0, dtype=np.float64)
    square = np.einsum("ij,ij->", X, X, dtype=np.float64) / len(X) - mean @ mean
    scale = np.sqrt(max(square, 0) / len(mean))
    return mean.astype(np.float32), np.float32(scale or 1)


def random_head(d, n_bits, n_units, rng):
    """A head that starts as Gaussian directions; its hidden layer starts without weight."""
    weights = random_units(rng.standard_normal((d, n_bits)) / np.sqrt(d), n_units, rng)
    weights.A *= np.float32(np.sqrt(2 / d))
    return weights


def draw_batches(n, size, rng):
    """Numbers of the samples of batch after batch, and whether a batch is the last of its epoch.

    Every epoch has all samples in another order. Batches have at least `size` samples, or all.
    """
    n_batches = max(1, n // size)
    while True:
        for place, rows in enumerate(np.array_split(rng.permutation(n), n_batches)):
            yield rows, place == n_batches - 1


def through(outputs, bits):
    """The bits; gradients pass them as if they were the outputs (straight-through)."""
    return bits + (outputs - outputs.detach())


def shares(sets):
    """Rows of label sets (g, c) that sum to 1, as a tensor."""
    return tensor(sets / np.maximum(sets.sum(axis=1, keepdims=True), 1))


def cross_entropy(logits, wanted):
    """Mean over rows of −Σ p log softmax(logits), for rows p of shares that sum to 1."""
    return -(wanted * logits.log_softmax(dim=1)).sum(dim=1).mean()


def cosine_gap(features, codes):
    """Mean square of cos(x, x′) − cos(b, b′) over pairs: a sample of each half of the batch."""
    half = len(codes) // 2
    gaps = [_cosines(own[:half], own[half : 2 * half]) for own in (features, codes)]
    return (gaps[0] - gaps[1]).square().mean()


def _cosines(left, right):
    lengths = left.norm(dim=1) * right.norm(dim=1)
    return (left * right).sum(dim=1) / lengths.clamp(min=1e-8)
