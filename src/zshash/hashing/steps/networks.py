"""A small network from features to one real number for each bit.

u(x) = xW + b + max(0, xA + a) O: a linear map, plus a hidden layer of units. Its gradients are
written out, so that no framework is needed.
"""

from dataclasses import dataclass, fields

import numpy as np

from zshash._compiled import compiled

DECAYS = 0.9, 0.999  # of Adam's running means
TINY = 1e-8


@dataclass
class Weights:
    """Weights of the network, or their gradients; float32."""

    W: np.ndarray  # (d, l)
    b: np.ndarray  # (l,)
    A: np.ndarray  # (d, h)
    a: np.ndarray  # (h,)
    O: np.ndarray  # (h, l)  # noqa: E741

    def __iadd__(self, other):
        for own, others in zip(self, other, strict=True):
            own += others
        return self

    def __iter__(self):
        return (getattr(self, field.name) for field in fields(self))

    def hidden(self, X):
        """max(0, xA + a) for each row, (n, h)."""
        H = X @ self.A
        H += self.a
        return np.maximum(H, 0, out=H)

    def outputs(self, X, H):
        """u (n, l), from X (n, d) and its hidden layer."""
        U = X @ self.W
        U += H @ self.O
        U += self.b
        return U

    def gradients(self, X, H, dU):
        """Gradients, summed over rows, of a loss whose gradient by u is dU."""
        dH = dU @ self.O.T
        dH *= H > 0
        return Weights(X.T @ dU, dU.sum(axis=0), X.T @ dH, dH.sum(axis=0), H.T @ dU)

    def after(self, mean, T):
        """The network that gives for x what this one gives for (x − mean) T."""
        W, A = T @ self.W, T @ self.A
        return Weights(W, self.b - mean @ W, A, self.a - mean @ A, self.O)

    def first_outputs(self, count):
        """The network without the outputs after the first `count`."""
        return Weights(self.W[:, :count], self.b[:count], self.A, self.a, self.O[:, :count])

    def before(self, scale, shift):
        """The network that gives u(x) scale + shift, a number of each for every output."""
        return Weights(self.W * scale, self.b * scale + shift, self.A, self.a, self.O * scale)


def random_units(W, n_units, rng):
    """A network that starts as xW: its units are Gaussian, and their outputs have weight 0."""
    d, n_bits = W.shape
    A = rng.standard_normal((d, n_units))
    rest = (np.zeros(n_bits), A, np.zeros(n_units), np.zeros((n_units, n_bits)))
    return Weights(*(np.asarray(array, dtype=np.float32) for array in (W, *rest)))


class Adam:
    """Gradient steps of a size that adapts to each weight (Kingma and Ba, 2015)."""

    def __init__(self, weights):
        self.weights = weights
        self._moments = [(np.zeros_like(w), np.zeros_like(w)) for w in weights]
        self._steps = 0

    def step(self, gradients, rate):
        """Move the weights in place."""
        self._steps += 1
        first, second = (1 - decay**self._steps for decay in DECAYS)
        scale = rate * np.sqrt(second) / first
        for w, g, (m, v) in zip(self.weights, gradients, self._moments, strict=True):
            _move(w.ravel(), g.ravel(), m.ravel(), v.ravel(), np.float32(scale))


@compiled
def _move(w, g, m, v, scale):
    m_decay, v_decay = np.float32(DECAYS[0]), np.float32(DECAYS[1])
    one, tiny = np.float32(1), np.float32(TINY)
    for i in range(len(w)):
        m[i] = m_decay * m[i] + (one - m_decay) * g[i]
        v[i] = v_decay * v[i] + (one - v_decay) * g[i] * g[i]
        w[i] -= scale * m[i] / (np.sqrt(v[i]) + tiny)
