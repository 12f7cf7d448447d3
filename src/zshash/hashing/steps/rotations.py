"""Orthogonal matrices R that bring Y R near to given targets: minimise ‖YR − T‖², RᵀR = I.

Both solvers, `procrustes` and `cayley`, see the problem only through C = YᵀT, because ‖YR‖ does
not depend on R: they maximise tr(RᵀC). `rotate_to_signs` finds the R that brings real vectors
nearest to signs.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy import linalg

from zshash._threads import all_cores
from zshash.hashing.steps.rows import as_rows


class Rotation:
    """Rotation R (p, p), updated in a thread of its own; only `result` waits for the updates.

    Parameters
    ----------
    p : int
    method : {"procrustes", "cayley", None}
        How R is found; None leaves it at the identity.
    rng : RandomState
        Source of the R to start from.
    """

    def __init__(self, p, method, rng):
        self._method = method
        self._R = np.eye(p) if method is None else random_orthogonal(p, rng)
        self._thread = ThreadPoolExecutor(1)
        self._steps = []

    def follow(self, F, A):
        """Queue an update: bring Y R nearest to B W, where F = YᵀB, and W = AR with the last R."""
        if self._method is not None:
            self._steps.append(self._thread.submit(self._update, F, A))

    def _update(self, F, A):
        W = A @ self._R
        is_closed = self._method == "procrustes"
        self._R = procrustes_of_product(F, W) if is_closed else cayley(F @ W, self._R)

    def result(self):
        """R after all updates."""
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
    is_square = C.shape[0] == C.shape[1]
    try:
        U, _, Vt = linalg.svd(C, full_matrices=is_square)
    except linalg.LinAlgError:  # a few matrices need the slower way
        U, _, Vt = linalg.svd(C, full_matrices=is_square, lapack_driver="gesvd")
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


def rotate_to_signs(V, n_iter, rng):
    """Minimise ‖B − VR‖² over B in {−1, 1} and R with RᵀR = I.

    Alternate B = sgn(VR) and R = procrustes(VᵀB) from a random orthogonal start. V (n, r), float32,
    is an array or `Rows`. One pass over V serves an iteration; B is never held.
    The loss needs no pass of its own: ‖B − VR‖² = ‖V‖² + nr − 2 tr(RᵀVᵀB).

    Returns
    -------
    R : ndarray of shape (r, r)
    losses : list of float
        ‖B − VR‖² after each iteration; shorter than `n_iter` if the signs stopped changing.
    """
    V = as_rows(V)
    R, last, losses = random_orthogonal(V.n_features, rng), np.empty(0), []
    with all_cores():
        constant = V.total(sum_squares) + len(V) * V.n_features
        for _ in range(n_iter):
            C = product_with_signs(V, R.astype(np.float32))
            if np.array_equal(C, last):
                break
            R, last = procrustes(C), C
            losses.append(float(constant - 2 * np.vdot(R, C)))
    return R, losses


def product_with_signs(V, R):
    """VᵀB for the codes B = sgn(VR), by blocks of rows."""
    return as_rows(V).total(block_with_signs, R)


def block_with_signs(V, R):
    """VᵀB of a block."""
    B = V @ R
    np.copysign(np.float32(1), B, out=B)
    return V.T @ B


def sum_squares(V):
    """‖V‖² of a block, float64."""
    return np.square(V).sum(dtype=np.float64)
