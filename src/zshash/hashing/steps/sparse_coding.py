"""Sparse codes and dictionaries, of two views together and of one view alone."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from zshash._compiled import compiled

CODING_STEPS = 30  # gradient steps towards sparse codes between two updates of the dictionaries
ATOM_SWEEPS = 3  # sweeps over the atoms in one update of a dictionary
MOST_SWEEPS, CLOSE = 200, 1e-5  # of the coordinate descent that codes one view alone


@dataclass
class Coding:
    """The objective as a function of Z: both views, dictionaries and the hypergraph stay.

    Its smooth part is ‖X‖² + ω‖Y‖² − 2⟨Z, Q⟩ + ⟨Z, PZ⟩, P linear, Q = [XDᵀ; ωYEᵀ]. The weights
    are 1 and ω.
    """

    views: list
    atoms: list
    weights: tuple[float, float]
    K: sparse.csr_array
    smoothness: float
    sparsity: float
    positive: bool

    def __post_init__(self):
        known = list(zip(self.views, self.atoms, self.weights, strict=True))
        self.Q = np.vstack([weight * (X @ D.T) for X, D, weight in known])
        self._grams = [weight * (D @ D.T) for _, D, weight in known]
        self._constant = sum(weight * dot(X, X) for X, _, weight in known)
        steepest = max(np.linalg.norm(G, 2) for G in self._grams)
        self.rate = self.Q.dtype.type(1 / (steepest + self.smoothness))  # 2/rate bounds ∇²

    def apply(self, Z):
        """PZ = [A DDᵀ; ωB EEᵀ] + γLZ."""
        product = Z - self.K @ (self.K.T @ Z)
        product *= self.smoothness
        for part, own, G in zip(np.split(product, 2), np.split(Z, 2), self._grams, strict=True):
            part += own @ G
        return product

    def value(self, Z, PZ):
        """The objective, from Z and PZ."""
        return (
            self._constant
            + dot(Z, PZ)
            - 2 * dot(Z, self.Q)
            + self.sparsity * np.abs(Z).sum(dtype=np.float64)
        )

    def step(self, Z, PZ):
        """A proximal gradient step from Z, which may be no sparse code itself."""
        moved = Z - self.rate * (PZ - self.Q)
        return shrink(moved, self.rate * self.sparsity / 2, self.positive)


def dot(A, B):
    """⟨A, B⟩, added up in float64."""
    return float(np.einsum("ij,ij->", A, B, dtype=np.float64))


def shrink(V, by, positive):
    """Entries of V moved towards zero by `by`; negative ones become zero where `positive`."""
    if positive:
        return np.maximum(V - V.dtype.type(by), 0)
    return V - np.clip(V, -by, by)


def sparse_codes(Z, problem):
    """Lower the objective over Z by FISTA; returns Z and the objective.

    A step that raises the objective is taken back, and the momentum begins anew (O'Donoghue and
    Candès, 2015).
    """
    PZ = problem.apply(Z)
    value, last, delta = problem.value(Z, PZ), (Z, PZ), 1.0
    for _ in range(CODING_STEPS):
        following = (1 + math.sqrt(1 + 4 * delta**2)) / 2
        momentum = Z.dtype.type((delta - 1) / following)
        moved = [own + momentum * (own - old) for own, old in zip((Z, PZ), last, strict=True)]
        new = problem.step(*moved)
        product = problem.apply(new)
        found = problem.value(new, product)
        if found > value:
            last, delta = (Z, PZ), 1.0
            continue
        last, delta = (Z, PZ), following
        Z, PZ, value = new, product, found
    return Z, value


def update_atoms(D, A, X):
    """Lower ‖X − AD‖² over atoms of length 1 at most, one after the other, in place.

    Each atom goes to its minimum while the others stay. Returns by how much the error fell.
    """
    G, T = A.T @ A, A.T @ X
    before = fit_error(D, G, T)
    for _ in range(ATOM_SWEEPS):
        for k in np.flatnonzero(np.diag(G) > 0):  # an atom that no sample uses stays as it is
            atom = D[k] + (T[k] - G[k] @ D) / G[k, k]
            D[k] = atom / max(1, np.linalg.norm(atom))
    return before - fit_error(D, G, T)


def fit_error(D, G, T):
    """‖X − AD‖² − ‖X‖², from G = AᵀA and T = AᵀX."""
    return dot(D, G @ D) - 2 * dot(D, T)


def agreements(X, D, G, sparsity, positive):
    """c (n, l): how well each atom agrees with what the other atoms leave of a sample."""
    C = np.ascontiguousarray(X @ D.T)
    code_alone(C, np.zeros_like(C), G, C.dtype.type(sparsity / 2), positive)
    return C if positive else np.abs(C)


@compiled
def code_alone(C, A, G, threshold, positive):
    """Sparse codes A (n, l) that minimise ‖x − aD‖² + λ‖a‖₁, by coordinate descent, in place.

    G is DDᵀ and `threshold` λ/2. C holds XDᵀ on entry, and c on return: a_k is c_k, moved towards
    zero by λ/2 and divided by G_kk.
    """
    n_atoms = len(G)
    for i in range(len(C)):
        a, c = A[i], C[i]  # c holds (x − aD)·d_k while the atoms are visited
        for _ in range(MOST_SWEEPS):
            furthest = 0.0
            for k in range(n_atoms):
                own = c[k] + G[k, k] * a[k]
                new = own - min(max(own, -threshold), threshold)
                if (positive and new < 0) or G[k, k] == 0:
                    new = 0 * own
                elif new != 0:
                    new /= G[k, k]
                step = new - a[k]
                if step != 0:
                    a[k] = new
                    furthest = max(furthest, abs(step))
                    for m in range(n_atoms):
                        c[m] -= step * G[k, m]
            if furthest < CLOSE:
                break
        for k in range(n_atoms):
            c[k] += G[k, k] * a[k]
