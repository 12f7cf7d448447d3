"""Orthogonal matrices R that bring Y R near to given targets: minimise ‖YR − T‖², RᵀR = I.

Both solvers see the problem only through C = YᵀT, because ‖YR‖ does not depend on R:
they maximise tr(RᵀC).
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy import linalg


class Rotation:
    """R of size p, from step to step, in a thread of its own: nothing waits for it but the end.

    Parameters
    ----------
    p : int
    method : {"procrustes", "cayley", None}
        How R is found; None leaves it at the identity.
    rng : RandomState
        Of the R to start from.
    """

    def __init__(self, p, method, rng):
        self._method = method
        self._R = np.eye(p) if method is None else random_orthogonal(p, rng)
        self._thread = ThreadPoolExecutor(1)
        self._steps = []

    def follow(self, F, A):
        """Bring Y R nearest to B W, where F = YᵀB and W = AR for the R until now."""
        if self._method is not None:
            self._steps.append(self._thread.submit(self._update, F, A))

    def _update(self, F, A):
        W = A @ self._R
        is_closed = self._method == "procrustes"
        self._R = procrustes_of_product(F, W) if is_closed else cayley(F @ W, self._R)

    def result(self):
        """R after all steps."""
        for step in self._steps:
            step.result()
        self._thread.shutdown()
        return self._R


def random_orthogonal(size, rng):
    """A random orthogonal matrix, uniform over all of them."""
    Q, upper = linalg.qr(rng.standard_normal((size, size)))
    return Q * np.sign(np.diag(upper))


def procrustes(C):
    """R = UVᵀ from the singular value decomposition UΣVᵀ of C (Schönemann 1966)."""
    U, _, Vt = linalg.svd(C)
    return U @ Vt


def procrustes_of_product(F, W):
    """`procrustes` of C = FW, with F (p, l) and W (l, p).

    Where p is large, C has few singular values other than zero: with F = Q₁T₁ and Wᵀ = Q₂T₂,
    they are those of the small T₁T₂ᵀ, and the orthogonal Q₁ and Q₂ are applied as reflections,
    never formed.
    """
    p, n_bits = F.shape
    if p <= 2 * n_bits:
        return procrustes(F @ W)
    left, T1 = linalg.qr(F, mode="raw")
    right, T2 = linalg.qr(W.T, mode="raw")
    R = np.eye(p)
    R[:n_bits, :n_bits] = procrustes(T1[:n_bits] @ T2[:n_bits].T)
    R = _reflect("L", "N", left, R)
    return _reflect("R", "T", right, R)


def _reflect(side, transposed, reflections, matrix):
    """Multiply by the Q of a raw QR decomposition from the left or the right."""
    vectors, scales = reflections
    work = linalg.lapack.dormqr(side, transposed, vectors, scales, matrix, lwork=-1)[1]
    product, _, _ = linalg.lapack.dormqr(
        side, transposed, vectors, scales, matrix, lwork=int(work[0])
    )
    return product


def cayley(C, R, *, max_iter=500, tolerance=1e-7):
    """Curvilinear search from R along Cayley transforms (Wen and Yin 2013).

    R(τ) = (I + τ/2 A)⁻¹ (I − τ/2 A) R with the skew matrix A = GRᵀ − RGᵀ and the gradient
    G = −2C; Barzilai–Borwein steps with the non-monotone line search of Zhang and Hager.
    The determinant of R never changes along the way: with C of full rank and the other sign,
    the search ends at the best R of its own sign.
    """
    scale = linalg.norm(C)
    if scale == 0:
        return R
    G = -2 * C / scale
    identity = np.eye(len(R))
    reference = value = np.vdot(G, R)
    weight, step = 1.0, 1.0
    A = G @ R.T - R @ G.T
    gradient = A @ R
    for _ in range(max_iter):
        if linalg.norm(gradient) <= tolerance:
            break
        slope = -0.5 * np.square(A).sum()
        while True:
            candidate = linalg.solve(identity + step / 2 * A, R - step / 2 * (A @ R))
            value = np.vdot(G, candidate)
            if value <= reference + 1e-4 * step * slope or step < 1e-12:
                break
            step *= 0.2
        move, previous = candidate - R, gradient
        R = candidate
        A = G @ R.T - R @ G.T
        gradient = A @ R
        change = gradient - previous
        step = np.square(move).sum() / max(abs(np.vdot(move, change)), 1e-30)
        step = min(max(step, 1e-10), 1e10)
        weight, old = 0.85 * weight + 1, weight
        reference = (0.85 * old * reference + value) / weight
    return R
