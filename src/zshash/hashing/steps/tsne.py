"""Exact t-SNE of a few hundred samples in any number of dimensions.

Laurens van der Maaten and Geoffrey Hinton: *Visualizing Data using t-SNE*, JMLR 2008.

Minimise Σ p_ij log(p_ij / q_ij) over E, where p_ij says how near samples i and j are, and
q_ij ∝ 1 / (1 + ‖eᵢ − eⱼ‖²) how near their embeddings. scikit-learn's t-SNE widens the kernel with
the number of dimensions, and its exact gradient does not follow its divergence beyond two of
them; this one keeps the kernel, step and schedule of the authors' program in all dimensions.
"""

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import softmax

N_ITER = 1000
STEP = 500.0  # learning rate; the number of samples where that is smaller
EXAGGERATION, EXAGGERATED = 4.0, 100  # P is multiplied by 4 in the first 100 iterations
MOMENTUM, LATER_MOMENTUM, LATER = 0.5, 0.8, 250
LEAST_GAIN = 0.01


def embed(X, n_dimensions, perplexity, rng):
    """E (m, n_dimensions), float32 and centred, by gradient descent from a small random start."""
    P = neighborhoods(cdist(X, X, "sqeuclidean"), perplexity).astype(np.float32)
    E = 1e-4 * rng.standard_normal((len(X), n_dimensions)).astype(np.float32)
    velocity, gains, rate = np.zeros_like(E), np.ones_like(E), min(STEP, len(X))
    for step in range(N_ITER):
        slope = gradient(P * EXAGGERATION if step < EXAGGERATED else P, E)
        onward = np.sign(slope) != np.sign(velocity)  # the last move went downhill here, too
        gains = np.maximum(np.where(onward, gains + 0.2, gains * 0.8), LEAST_GAIN)
        velocity *= MOMENTUM if step < LATER else LATER_MOMENTUM
        velocity -= rate * gains * slope
        E += velocity
        E -= E.mean(axis=0)
    return E


def neighborhoods(distances, perplexity):
    """P (m, m) from squared distances; its entries sum to 1.

    p_j|i ∝ exp(−b_i d_ij) with b_i such that the entropy of the row is log(perplexity), found by
    bisection of log b for all rows at once; p_ij = (p_j|i + p_i|j) / 2m.
    """
    m = len(distances)
    others = distances[~np.eye(m, dtype=bool)].reshape(m, m - 1)
    others = others - others.min(axis=1, keepdims=True)
    typical = max(others.mean(), np.finfo(float).tiny)
    low, high = np.full((2, m, 1), [[[-50.0]], [[50.0]]])
    for _ in range(60):
        middle = (low + high) / 2
        rows = softmax(-np.exp(middle) * (others / typical), axis=1)
        entropy = -(rows * np.log(np.maximum(rows, 1e-300))).sum(axis=1, keepdims=True)
        wide = entropy > np.log(perplexity)
        low, high = np.where(wide, middle, low), np.where(wide, high, middle)
    P = np.zeros((m, m))
    P[~np.eye(m, dtype=bool)] = rows.ravel()
    return (P + P.T) / (2 * m)


def gradient(P, E):
    """4 Σ_j (p_ij − q_ij)(eᵢ − eⱼ) / (1 + ‖eᵢ − eⱼ‖²) for every i."""
    kernel = student(E)
    pull = (P - kernel / kernel.sum()) * kernel
    return 4 * (pull.sum(axis=1, keepdims=True) * E - pull @ E)


def student(E):
    """1 / (1 + ‖eᵢ − eⱼ‖²), 0 on the diagonal."""
    squares = np.einsum("ij,ij->i", E, E)
    kernel = E @ E.T
    kernel *= -2
    kernel += 1 + squares
    kernel += squares[:, None]
    np.maximum(kernel, 1, out=kernel)
    np.reciprocal(kernel, out=kernel)
    np.fill_diagonal(kernel, 0)
    return kernel


def divergence(P, E):
    """The objective, Σ p_ij log(p_ij / q_ij)."""
    kernel = student(E)
    near = P > 0
    return float((P[near] * np.log(P[near] * kernel.sum() / kernel[near])).sum())
