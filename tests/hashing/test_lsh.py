import numpy as np
import pytest

from zshash import LSH, codes


def test_share_of_differing_bits_is_the_angle():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((40, 8)).astype(np.float32)
    hasher = LSH(1024, center=False, random_state=0).fit(X)
    packed = hasher.encode(X)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    angles = np.arccos(np.clip(unit @ unit.T, -1, 1)) / np.pi
    np.testing.assert_allclose(codes.hamming(packed, packed) / 1024, angles, atol=0.08)


def test_centring_balances_the_bits():
    X = np.random.RandomState(0).uniform(5, 6, (500, 20))
    centred, raw = (LSH(64, center=center, random_state=0).fit(X) for center in (True, False))
    assert abs(centred.transform(X).mean(axis=0) - 0.5).max() < 0.15
    assert abs(raw.transform(X).mean(axis=0) - 0.5).max() > 0.45


def test_same_seed_same_codes():
    X = np.random.RandomState(0).standard_normal((30, 5))
    first, again, other = (LSH(32, random_state=seed).fit(X).encode(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_bad_parameters():
    with pytest.raises(ValueError, match="center must be one of True, False, got 'yes'"):
        LSH(8, center="yes").fit(np.eye(5))
    with pytest.raises(ValueError, match="n_bits must be a whole number of at least 8"):
        LSH(4).fit(np.eye(5))
