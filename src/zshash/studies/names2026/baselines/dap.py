"""DAP: direct attribute prediction.

C. H. Lampert, H. Nickisch, S. Harmeling: Learning to Detect Unseen Object Classes by Between-Class
Attribute Transfer. CVPR 2009; Attribute-Based Classification for Zero-Shot Visual Object
Categorization. PAMI 2014. The attributes of A. Farhadi, I. Endres, D. Hoiem, D. Forsyth:
Describing Objects by their Attributes. CVPR 2009, are predicted in the same way.

A classifier for each binary attribute learns p(aₘ | x) from pictures of all seen categories. A
picture belongs to the category z, of which only the attributes aᶻ are known, in proportion to

    p(z | x) ∝ ∏ₘ p(aₘ = aₘᶻ | x) / p(aₘ = aₘᶻ)

The priors p(aₘ) are shares of seen categories. An attribute that is a strength is binarised at its
mean over the seen categories. A coordinate of WordNet is the attribute "has this ancestor". The
papers train support vector machines and turn their outputs into probabilities; here logistic
regression does both. An attribute that all seen categories have, or none, teaches nothing and is
left out.

===========  =============================  ===============================================
symbol       variable                       meaning
===========  =============================  ===============================================
aₘʸ          present (c, p)                 whether the category y has the attribute m
p(aₘ)        priors (p,)                    share of seen categories that have it
p(aₘ | x)    expit(X @ weights + biases)    classifiers; equal columns of `present` share one
===========  =============================  ===============================================
"""

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from zshash.studies.names2026.baselines.baseline import Baseline, Floats, Integers, descend

__all__ = ["DAP", "loss_and_gradient", "train_classifiers"]

Bits = NDArray[np.bool_]


class DAP(Baseline):
    """Direct attribute prediction with logistic regression.

    Parameters
    ----------
    weight_decay : float
        Weight of the squared norm of each classifier, against the mean loss over pictures.
    says_yes : ndarray of shape (p,), bool, optional
        Coordinates of names that are present where they are not zero, such as WordNet's ancestors;
        all others are strengths.
    max_iter : int
        Most iterations of L-BFGS.
    """

    grid: ClassVar = {"weight_decay": (1e-6, 1e-5, 1e-4, 1e-3)}

    def __init__(
        self, weight_decay: float = 1e-4, says_yes: Bits | None = None, max_iter: int = 40
    ) -> None:
        self.weight_decay = weight_decay
        self.says_yes = says_yes
        self.max_iter = max_iter

    def fit(self, X: Floats, y: Integers, vectors: Floats) -> Self:
        """Binarise the attributes, and train a classifier for each."""
        self.thresholds_ = vectors.mean(axis=0)
        if self.says_yes is not None:
            self.thresholds_ = np.where(self.says_yes, 0, self.thresholds_)
        present = vectors > self.thresholds_
        self.useful_ = present.any(axis=0) & ~present.all(axis=0)
        self.priors_ = present[:, self.useful_].mean(axis=0)
        different, self.classifiers_ = np.unique(
            present[:, self.useful_], axis=1, return_inverse=True
        )
        self.weights_, self.biases_ = train_classifiers(
            X, different[y], self.weight_decay, self.max_iter
        )
        return self

    def scores(self, X: Floats, names: Floats) -> Floats:
        """Logarithm of p(z | x), but for a constant, (names, pictures)."""
        present = (names > self.thresholds_)[:, self.useful_]
        logits = (X @ self.weights_ + self.biases_).T
        evidence = self._votes(present) @ log_expit(logits)
        evidence += self._votes(~present) @ log_expit(-logits)
        priors = np.where(present, np.log(self.priors_), np.log1p(-self.priors_))
        return np.asarray(evidence - priors.sum(axis=1, keepdims=True))

    def _votes(self, attributes: Bits) -> NDArray[np.float64]:
        """How many of some attributes (m, useful) each classifier decides, (m, classifiers)."""
        votes = np.zeros((len(attributes), self.weights_.shape[1]))
        np.add.at(votes.T, self.classifiers_.ravel(), attributes.T)
        return votes


def train_classifiers(
    X: Floats, targets: Bits, weight_decay: float, max_iter: int
) -> tuple[Floats, Floats]:
    """Weights (d, a) and biases (a,) of a logistic regression for each column of `targets`.

    All regressions are one smooth convex problem, so that a step is one product with X.
    """
    shape = X.shape[1] + 1, targets.shape[1]
    signs = np.where(targets, 1, -1).astype(X.dtype)

    def evaluate(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, gradient = loss_and_gradient(flat.reshape(shape), X, signs, weight_decay)
        return value, gradient.ravel()

    found = descend(evaluate, np.zeros(shape), max_iter).reshape(shape).astype(X.dtype)
    return found[:-1], found[-1]


def loss_and_gradient(
    parameters: Floats, X: Floats, signs: Floats, weight_decay: float
) -> tuple[float, NDArray[np.float64]]:
    """Mean logistic loss, summed over attributes, with weight decay; and its gradient (d + 1, a).

    The last row of `parameters` holds the biases, which do not decay.
    """
    weights, biases = parameters[:-1].astype(X.dtype), parameters[-1].astype(X.dtype)
    margins = signs * (X @ weights + biases)
    slopes = -signs * expit(-margins) / len(X)
    value = -log_expit(margins).sum(dtype=np.float64) / len(X)
    value += weight_decay / 2 * np.sum(weights**2, dtype=np.float64)
    gradient = np.vstack([X.T @ slopes + weight_decay * weights, slopes.sum(axis=0)])
    return float(value), gradient.astype(np.float64)
