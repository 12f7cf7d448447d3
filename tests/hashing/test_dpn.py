import numpy as np
import pytest
from sklearn.datasets import load_digits

torch = pytest.importorskip("torch")

from zshash.hashing.dpn import DPN, mean_targets, polarization_loss  # noqa: E402

pytestmark = pytest.mark.torch


def test_the_loss():
    rng = np.random.RandomState(0)
    v, targets = rng.standard_normal((6, 8)), np.sign(rng.standard_normal((6, 8)))
    expected = np.mean(
        [
            sum(max(0.7 - a * t, 0) for a, t in zip(*own, strict=True))
            for own in zip(v, targets, strict=True)
        ]
    )
    found = polarization_loss(torch.from_numpy(v), torch.from_numpy(targets), 0.7)
    assert found.item() == pytest.approx(expected)


def test_targets_are_the_signs_of_mean_codes():
    rng = np.random.RandomState(0)
    outputs = rng.standard_normal((40, 6))
    sets = np.float32([[1, 0, 0], [0, 1, 0], [1, 1, 0]])  # nobody has the third label
    groups = rng.randint(0, 3, 40)
    before = np.sign(rng.standard_normal((3, 6)))
    found = mean_targets(outputs, sets, groups, before)
    codes = np.where(outputs >= 0, 1, -1)
    for label in range(3):
        means = codes[sets[groups, label] == 1].sum(axis=0)
        wanted = np.where(means > 0, 1, np.where(means < 0, -1, before[label]))
        np.testing.assert_array_equal(found[label], wanted)
    np.testing.assert_array_equal(found[2], before[2])


@pytest.mark.parametrize("adaptive", [False, True])
def test_a_fit(adaptive):
    X, y = load_digits(return_X_y=True)
    hasher = DPN(32, adaptive=adaptive, rate=3e-3, random_state=0).fit(X, y)
    assert hasher.targets_.shape == (10, 32)
    assert np.isin(hasher.targets_, (-1, 1)).all()
    assert hasher.loss_[-20:].mean() < hasher.loss_[:20].mean() / 2
    signs = np.where(hasher.project(X) >= 0, 1, -1)
    assert np.mean(signs == hasher.targets_[y]) > 0.9


def test_adaptive_targets_move_towards_the_codes():
    X, y = load_digits(return_X_y=True)
    still, moved = (
        DPN(32, adaptive=adaptive, n_steps=50, random_state=0).fit(X, y)
        for adaptive in (False, True)
    )
    assert (still.targets_ != moved.targets_).any()
    assert moved.loss_[-1] < still.loss_[-1]
