"""Zero-data learning of new tasks: a model whose parameters are a function of the description.

H. Larochelle, D. Erhan, Y. Bengio: Zero-data Learning of New Tasks. AAAI 2008.

The paper has two views. In the input space view, one model takes the input and the description of
the task together. In the model space view, which is taken here, the description d(z) decides the
model of the task z. A linear model with parameters Wd(z) gives

    f(x, z) = xᵀWd(z) + b

which the paper trains to tell each category from the others (LinDisc, one against all), with
yᵢ_z = 1 for the category of the picture and −1 for all others:

    minimise  1/n Σᵢ Σ_z log(1 + exp(−yᵢ_z f(xᵢ, z))) + α/2 ‖W‖²

=======  =================  =============================================
symbol   variable           meaning
=======  =================  =============================================
x        X (n, d)           features
d(z)     D (c, r)           descriptions, in the space the seen ones span
W, b     W (d, r), b        parameters; one b for all tasks
y        Y (n, c)           1 for a picture's own category, −1 else
α        weight_decay       weight of the regulariser
=======  =================  =============================================
"""

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from zshash.studies.names2026.baselines.baseline import (
    Baseline,
    Floats,
    Integers,
    descend,
    one_against_others,
    span,
)

__all__ = ["ZeroData", "loss_and_gradient"]


class ZeroData(Baseline):
    """The linear model of the model space view, trained one against all.

    Parameters
    ----------
    weight_decay : float
        Weight α of the regulariser.
    max_iter : int
        Most iterations of L-BFGS.
    """

    grid: ClassVar = {"weight_decay": (1e-6, 1e-5, 1e-4, 1e-3)}

    def __init__(self, weight_decay: float = 1e-4, max_iter: int = 50) -> None:
        self.weight_decay = weight_decay
        self.max_iter = max_iter

    def fit(self, X: Floats, y: Integers, vectors: Floats) -> Self:
        """Find W and b by L-BFGS; the loss is convex."""
        self.basis_ = span(vectors)
        D, Y = vectors @ self.basis_, one_against_others(y, len(vectors))
        shape = X.shape[1], D.shape[1]

        def evaluate(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            W, b = flat[:-1].reshape(shape), flat[-1]
            value, by_W, by_b = loss_and_gradient(W, b, X, Y, D, self.weight_decay)
            return value, np.append(by_W.ravel(), by_b)

        found = descend(evaluate, np.zeros(shape[0] * shape[1] + 1), self.max_iter)
        self.W_, self.b_ = found[:-1].reshape(shape).astype(X.dtype), float(found[-1])
        return self

    def scores(self, X: Floats, names: Floats) -> Floats:
        """The outputs f(x, z) of the models of the names, (names, pictures)."""
        models = names @ self.basis_ @ self.W_.T
        return np.asarray(models @ X.T + self.b_)


def loss_and_gradient(
    W: Floats, b: float, X: Floats, Y: Floats, D: Floats, weight_decay: float
) -> tuple[float, NDArray[np.float64], float]:
    """Value of the objective, and its gradients by W and b.

    The models WDᵀ of the tasks come first: a product with X then costs ndc instead of ndr.
    """
    models = (W @ D.T).astype(X.dtype)
    margins = Y * (X @ models + X.dtype.type(b))
    slopes = -Y * expit(-margins) / len(X)
    value = -log_expit(margins).sum(dtype=np.float64) / len(X)
    value += weight_decay / 2 * np.sum(W**2, dtype=np.float64)
    by_W = (X.T @ slopes).astype(np.float64) @ D + weight_decay * W
    return float(value), by_W, float(slopes.sum(dtype=np.float64))
