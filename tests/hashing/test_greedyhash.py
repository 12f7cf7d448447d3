import numpy as np
import pytest
from sklearn.datasets import load_digits

torch = pytest.importorskip("torch")

from zshash.hashing.greedyhash import GreedyHash, penalty, signs  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(name="digits", scope="module")
def some_digits():
    X, y = load_digits(return_X_y=True)
    return X, y


def test_signs_and_penalty():
    h = np.array([[0.0, -0.5, 2.0], [-3.0, 1.0, 0.1]])
    np.testing.assert_array_equal(signs(torch.from_numpy(h)), [[1, -1, 1], [-1, 1, 1]])
    expected = np.mean(np.abs(np.abs(h) - 1) ** 3)
    assert penalty(torch.from_numpy(h)).item() == pytest.approx(expected)


def test_a_fit_to_labels(digits):
    X, y = digits
    hasher = GreedyHash(32, n_steps=300, random_state=0).fit(X, y)
    assert hasher.loss_[-20:].mean() < hasher.loss_[:20].mean() / 3
    codes = np.where(hasher.project(X) >= 0, 1.0, -1.0)
    same = y[:, None] == y
    assert (codes @ codes.T)[same].mean() > (codes @ codes.T)[~same].mean() + 10


def test_a_large_penalty_brings_outputs_near_to_signs(digits):
    near, far = (
        np.abs(
            np.abs(
                GreedyHash(16, alpha=alpha, n_steps=300, random_state=0)
                .fit(*digits)
                .project(digits[0])
            )
            - 1
        ).mean()
        for alpha in (10.0, 0.0)
    )
    assert near < 0.5 * far


def correlation(hasher, X):
    """Correlation of cosines of codes with those of features less their mean."""
    Z = X - X.mean(axis=0)
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    B = np.where(hasher.project(X) >= 0, 1.0, -1.0)
    pairs = np.triu_indices(len(X), 1)
    return np.corrcoef((Z @ Z.T)[pairs], (B @ B.T)[pairs])[0, 1]


def test_a_fit_without_labels(digits):
    X, y = digits
    hasher = GreedyHash(32, supervised=False, n_steps=300, random_state=0)
    codes = hasher.fit(X).encode(X)
    assert not hasher.needs_labels
    assert hasher.learns_unlabelled
    np.testing.assert_array_equal(hasher.fit(X, np.where(y < 5, y, -1)).encode(X), codes)
    assert not hasattr(hasher, "classes_")
    start = GreedyHash(32, supervised=False, n_steps=1, rate=1e-9, random_state=0).fit(X)
    assert correlation(hasher, X) > correlation(start, X) + 0.02
    assert hasher.loss_[-20:].mean() < hasher.loss_[:20].mean() / 1.5


def test_labels_of_an_earlier_fit_are_forgotten(digits):
    X, y = digits
    hasher = GreedyHash(8, n_steps=3, random_state=0).fit(X, y)
    assert list(hasher.classes_) == list(range(10))
    assert not hasattr(hasher.set_params(supervised=False).fit(X, y), "classes_")
