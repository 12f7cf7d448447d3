"""Rotations against random ones and against SciPy's Procrustes solver."""

import itertools

import numpy as np
import pytest
from scipy import linalg
from scipy.linalg import orthogonal_procrustes

from zshash.hashing.steps.rotations import (
    cayley,
    procrustes,
    procrustes_of_product,
    product_with_signs,
    random_orthogonal,
    rotate_to_signs,
)
from zshash.hashing.steps.rows import BLOCK_ROWS


def random_problem(seed, p=8, n=40, rank=None):
    rng = np.random.RandomState(seed)
    Y = rng.standard_normal((n, rank or p)) @ rng.standard_normal((rank or p, p))
    return rng, Y, rng.standard_normal((n, p))


@pytest.mark.parametrize("seed", range(3))
def test_random_orthogonal_is_orthogonal(seed):
    R = random_orthogonal(7, np.random.RandomState(seed))
    np.testing.assert_allclose(R.T @ R, np.eye(7), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_procrustes_beats_every_other_rotation(seed):
    rng, Y, T = random_problem(seed)
    R = procrustes(Y.T @ T)
    np.testing.assert_allclose(R, orthogonal_procrustes(Y, T)[0], atol=1e-10)
    best = np.linalg.norm(Y @ R - T)
    for _ in range(50):
        assert best <= np.linalg.norm(Y @ random_orthogonal(8, rng) - T)


def test_procrustes_where_the_fast_way_does_not_converge(monkeypatch):
    _, Y, T = random_problem(0)
    usual = procrustes(Y.T @ T)
    svd = linalg.svd

    def fails(matrix, full_matrices, lapack_driver="gesdd"):
        if lapack_driver == "gesdd":
            raise linalg.LinAlgError("SVD did not converge")
        return svd(matrix, full_matrices, lapack_driver=lapack_driver)

    monkeypatch.setattr(linalg, "svd", fails)
    np.testing.assert_allclose(procrustes(Y.T @ T), usual, atol=1e-10)


@pytest.mark.parametrize(("p", "n_bits"), [(40, 8), (17, 8), (16, 8), (300, 64)])
def test_procrustes_of_few_bits_and_long_vectors(p, n_bits):
    rng = np.random.RandomState(p)
    F, W = rng.standard_normal((p, n_bits)), rng.standard_normal((n_bits, p))
    F[:, 1] = F[:, 0]  # not even n_bits singular values
    R = procrustes_of_product(F, W)
    np.testing.assert_allclose(R.T @ R, np.eye(p), atol=1e-10)
    assert np.vdot(F @ W, R) == pytest.approx(np.linalg.norm(F @ W, "nuc"), rel=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_cayley_reaches_the_minimum_of_procrustes(seed):
    # fewer categories than dimensions, as with word vectors: then the sign of det R is free
    rng, Y, T = random_problem(seed, rank=5)
    C = Y.T @ T
    R = cayley(C, random_orthogonal(8, rng), max_iter=2000)
    np.testing.assert_allclose(R.T @ R, np.eye(8), atol=1e-9)
    assert np.vdot(C, R) == pytest.approx(np.vdot(C, procrustes(Y.T @ T)), rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_cayley_keeps_the_sign_of_the_determinant(seed):
    rng, Y, T = random_problem(seed)
    C = Y.T @ T
    start = random_orthogonal(8, rng)
    R = cayley(C, start, max_iter=2000)
    U, s, Vt = np.linalg.svd(C)
    s[-1] *= np.sign(np.linalg.det(U @ Vt) * np.linalg.det(start))
    assert np.linalg.det(R) == pytest.approx(np.linalg.det(start), abs=1e-8)
    assert np.vdot(C, R) == pytest.approx(s.sum(), rel=1e-6)


def test_cayley_with_nothing_to_align_stays():
    start = random_orthogonal(4, np.random.RandomState(0))
    assert cayley(np.zeros((4, 4)), start) is start


@pytest.fixture(scope="module")
def vectors():
    V = np.random.RandomState(0).standard_normal((2500, 12)) * np.linspace(2, 0.2, 12)
    return V.astype(np.float32)


def test_the_loss_never_rises_and_the_rotation_is_orthogonal(vectors):
    for seed in range(3):
        R, losses = rotate_to_signs(vectors, 40, np.random.RandomState(seed))
        assert len(losses) == 40
        assert (np.diff(losses) <= 1e-6 * losses[0]).all()
        assert losses[-1] < 0.95 * losses[0]
        np.testing.assert_allclose(R.T @ R, np.eye(12), atol=1e-12)


def test_the_loss_is_the_distance_to_the_signs(vectors):
    R, losses = rotate_to_signs(vectors, 30, np.random.RandomState(0))
    before, _ = rotate_to_signs(vectors, 29, np.random.RandomState(0))
    B = np.where(vectors @ before >= 0, 1, -1)
    assert losses[-1] == pytest.approx(np.square(B - vectors @ R).sum(), rel=1e-6)


def test_product_with_signs_by_blocks(vectors):
    R = np.linalg.qr(np.random.RandomState(1).standard_normal((12, 12)))[0].astype(np.float32)
    assert len(vectors) > 2 * BLOCK_ROWS
    expected = vectors.T.astype(float) @ np.where(vectors @ R >= 0, 1, -1)
    np.testing.assert_allclose(product_with_signs(vectors, R), expected, atol=0.05)


def test_finds_the_rotation_of_a_cube_and_stops_there():
    corners = np.array(list(itertools.product((-1, 1), repeat=3)), dtype=np.float32)
    turned = corners @ np.linalg.qr(np.random.RandomState(2).standard_normal((3, 3)))[0]
    losses = [
        rotate_to_signs(turned.astype(np.float32), 100, np.random.RandomState(seed))[1]
        for seed in range(10)
    ]
    assert min(final[-1] for final in losses) == pytest.approx(0, abs=1e-4)
    assert max(map(len, losses)) < 100
