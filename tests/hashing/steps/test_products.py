import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from zshash.hashing.steps.products import (
    MOST_AXES,
    ROWS_PER_AXIS,
    first_rotation,
    improved,
    learn_products,
    nearest,
)


def clouds(n=1200, d=20, seed=0):
    """Vectors around centres, longer along some axes than along others."""
    rng = np.random.RandomState(seed)
    near = rng.standard_normal((40, d))[rng.randint(40, size=n)]
    lengths = np.linspace(2, 0.1, d)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return ((near + 0.3 * rng.standard_normal((n, d))) * lengths @ turn).astype(np.float32)


def loss(X, products):
    Y = X @ products.rotation
    kept = Y - products.decode(products.encode(Y))
    lost = np.square(X).sum() - np.square(Y).sum()  # on axes that are not kept
    return (np.square(kept).sum() + lost) / np.square(X).sum()


@pytest.mark.parametrize("n_bytes", [1, 3, 5, 20, 24])
def test_codes_choose_the_nearest_centres(n_bytes):
    X = clouds(400)
    products = learn_products(X, n_bytes, np.random.RandomState(0))
    n, _, width = products.centres.shape
    assert n == n_bytes
    assert products.rotation.shape == (20, n_bytes * width)
    Y = X @ products.rotation
    parts = Y.reshape(len(Y), n_bytes, 1, width)
    far = np.square(parts - products.centres).sum(axis=3)
    codes = products.encode(Y)
    chosen = np.take_along_axis(far, codes[:, :, None].astype(int), axis=2)[:, :, 0]
    assert_allclose(chosen, far.min(axis=2), atol=1e-4)
    decoded = products.decode(codes).reshape(len(Y), n_bytes, width)
    for part in range(n_bytes):
        assert_array_equal(decoded[:, part], products.centres[part, codes[:, part]])


def test_rotations_keep_inner_products():
    X = clouds(400)
    products = learn_products(X, 4, np.random.RandomState(0))
    Y = X @ products.rotation
    assert_allclose(Y @ Y.T, X @ X.T, atol=1e-3)


def test_a_step_of_k_means_and_a_turn_lose_less():
    X = clouds()
    rng = np.random.RandomState(0)
    Y = X @ first_rotation(X, 4)
    centres = np.stack([Y[:256, 5 * part : 5 * part + 5] for part in range(4)])
    losses = []
    for _ in range(5):
        centres, decoded = improved(Y, centres, rng)
        losses.append(np.square(Y - decoded).sum())
        U, _, Vt = np.linalg.svd(Y.T @ decoded)
        Y = Y @ (U @ Vt)
        losses.append(np.square(Y - decoded).sum())
    assert (np.diff(losses) < 1e-3).all()
    assert losses[-1] < 0.95 * losses[0]


def test_less_is_lost_than_by_faiss():
    faiss = pytest.importorskip("faiss")
    X = clouds(3000)
    ours = loss(X, learn_products(X, 4, np.random.RandomState(0)))
    index = faiss.IndexPreTransform(faiss.OPQMatrix(20, 4), faiss.IndexPQ(20, 4, 8))
    index.train(X)
    theirs = np.square(X - index.sa_decode(index.sa_encode(X))).sum() / np.square(X).sum()
    assert ours < 1.05 * theirs


def test_long_vectors_keep_their_main_axes():
    n = MOST_AXES * ROWS_PER_AXIS
    X = np.zeros((n, MOST_AXES + 60), dtype=np.float32)
    X[:, : MOST_AXES - 6] = np.random.RandomState(0).standard_normal((n, MOST_AXES - 6))
    rotation = first_rotation(X, 8)
    assert rotation.shape == (MOST_AXES + 60, MOST_AXES)
    assert_allclose(np.square(X @ rotation).sum(), np.square(X).sum(), rtol=1e-3)
    assert_allclose(rotation.T @ rotation, np.eye(MOST_AXES), atol=1e-4)
    assert first_rotation(X[: n // 4], 8).shape[1] == MOST_AXES // 4
    assert first_rotation(X[:20], 8).shape[1] == 8


def test_same_seed_same_codes():
    X = clouds(400)
    first, second = (learn_products(X, 4, np.random.RandomState(7)) for _ in range(2))
    assert_array_equal(first.encode(X @ first.rotation), second.encode(X @ second.rotation))


def test_vectors_that_are_equal():
    X = np.ones((300, 6), dtype=np.float32)
    products = learn_products(X, 2, np.random.RandomState(0))
    assert loss(X, products) < 1e-5  # of float32
    assert nearest(X[:2], X[:1]).tolist() == [0, 0]
