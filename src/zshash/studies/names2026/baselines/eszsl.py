"""ESZSL: an embarrassingly simple approach to zero-shot learning.

B. Romera-Paredes, P. H. S. Torr: An Embarrassingly Simple Approach to Zero-shot Learning. ICML
2015.

A bilinear form V joins features x and the signature s of a category. With all pictures X, the
signatures S of the seen categories and labels Y of 1 and −1, V minimises

    ‖XVSᵀ − Y‖² + γ‖VSᵀ‖² + λ‖XV‖² + γλ‖V‖²

and has the closed form V = (XᵀX + γI)⁻¹ XᵀYS (SᵀS + λI)⁻¹. The score of x for a name s is xVsᵀ.
The paper has samples in columns; here they are in rows.

=======  ===================  =========================================
symbol   variable             meaning
=======  ===================  =========================================
X        X (n, d)             features of the labelled pictures
S        vectors (c, p)       signatures of the seen categories
Y        Y (n, c)             1 for a picture's own category, −1 else
V        V (d, p)             the bilinear form
γ, λ     gamma, lam           weights of the regularisers
=======  ===================  =========================================
"""

from typing import ClassVar, Self

import numpy as np
from scipy.linalg import solve

from zshash.studies.names2026.baselines.baseline import (
    Baseline,
    Floats,
    Integers,
    one_against_others,
)

__all__ = ["ESZSL", "objective", "solution"]


class ESZSL(Baseline):
    """ESZSL; the paper's grid has all powers of ten from 10⁻³ to 10³ for γ and λ.

    Parameters
    ----------
    gamma : float
        Weight γ of the norms of the categories' directions in feature space.
    lam : float
        Weight λ of the norms of the pictures' places in the space of signatures.
    """

    grid: ClassVar = {"gamma": (1.0, 10.0, 100.0, 1000.0), "lam": (0.001, 0.01, 0.1, 1.0, 10.0)}

    def __init__(self, gamma: float = 10.0, lam: float = 0.1) -> None:
        self.gamma = gamma
        self.lam = lam

    def fit(self, X: Floats, y: Integers, vectors: Floats) -> Self:
        """Solve for V in closed form."""
        Y = one_against_others(y, len(vectors))
        self.V_ = solution(X, Y, vectors, self.gamma, self.lam)
        return self

    def scores(self, X: Floats, names: Floats) -> Floats:
        """The products xVsᵀ, (names, pictures)."""
        return np.asarray((names @ self.V_.T) @ X.T)


def solution(X: Floats, Y: Floats, S: Floats, gamma: float, lam: float) -> Floats:
    """V (d, p), the minimum of the objective: equation (5) of the paper."""
    S = S.astype(np.float64)
    left = (X.T @ X).astype(np.float64) + gamma * np.eye(X.shape[1])
    right = S.T @ S + lam * np.eye(S.shape[1])
    middle = (X.T @ Y).astype(np.float64) @ S
    V = solve(left, solve(right, middle.T, assume_a="pos").T, assume_a="pos")
    return np.asarray(V, dtype=X.dtype)


def objective(V: Floats, X: Floats, Y: Floats, S: Floats, gamma: float, lam: float) -> float:
    """Value of the objective: equation (3) with the regulariser (4) and β = γλ."""
    loss = np.sum((X @ V @ S.T - Y) ** 2)
    names, pictures = np.sum((V @ S.T) ** 2), np.sum((X @ V) ** 2)
    return float(loss + gamma * names + lam * pictures + gamma * lam * np.sum(V**2))
