import itertools

import numpy as np
import pytest

from zshash.hashing.quantization import product_with_signs, rotate_to_signs
from zshash.hashing.rows import BLOCK_ROWS


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
