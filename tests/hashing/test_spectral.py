import numpy as np
import pytest

from zshash import codes
from zshash.hashing import spectral
from zshash.hashing.spectral import SpectralHashing


def test_one_even_dimension_flips_at_the_half_and_the_quarters(monkeypatch):
    monkeypatch.setattr(codes, "MIN_BITS", 2)
    x = np.linspace(0, 1, 1001, dtype=np.float32)[:, None]
    bits = SpectralHashing(2, normalize=False).fit(x).transform(x)
    flips = [x[1:, 0][np.diff(bits[:, k].astype(int)) != 0] for k in range(2)]
    np.testing.assert_allclose(flips[0], [0.5], atol=2e-3)
    np.testing.assert_allclose(flips[1], [0.25, 0.75], atol=2e-3)


def test_slowest_modes_against_all_of_them():
    ranges = np.array([3.0, 2.0, 0.7, 0.0])
    everything = [(k / r, j, k) for j, r in enumerate(ranges) if r for k in range(1, 100)]
    expected = [(j, k) for _, j, k in sorted(everything)[:10]]
    assert list(zip(*spectral.slowest(ranges, 10), strict=True)) == expected


def test_bits_are_the_printed_eigenfunctions():
    X = np.random.RandomState(0).uniform(0, 1, (400, 3)) * [9, 4, 1] + 100
    hasher = SpectralHashing(16, normalize=False).fit(X)
    centred = X - X.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2].T
    V = centred @ axes
    lows, ranges = V.min(axis=0), np.ptp(V, axis=0)
    candidates = sorted((k / r, j, k) for j, r in enumerate(ranges) for k in range(1, 20))[:16]
    values = np.stack(
        [np.sin(np.pi / 2 + k * np.pi * (V[:, j] - lows[j]) / ranges[j]) for _, j, k in candidates]
    )
    # an axis that points the other way starts from its other end: odd modes change their sign
    same = np.mean((hasher.project(X).T >= 0) == (values >= 0), axis=1)
    assert np.maximum(same, 1 - same).min() > 0.98
    assert hasher.transform(X).mean(axis=0) == pytest.approx(0.5, abs=0.12)


def test_more_bits_than_dimensions():
    X = np.random.RandomState(0).standard_normal((50, 2))
    hasher = SpectralHashing(40).fit(X)
    assert hasher.encode(X).shape == (50, 5)
    assert (np.diff(hasher.frequencies_) >= 0).all()


def test_a_constant_column_gets_no_bit():
    X = np.random.RandomState(0).standard_normal((50, 3))
    X[:, 1] = 7
    hasher = SpectralHashing(12, normalize=False).fit(X)
    np.testing.assert_allclose(hasher.projection_[1], 0, atol=1e-6)
    assert np.isfinite(hasher.frequencies_).all()
