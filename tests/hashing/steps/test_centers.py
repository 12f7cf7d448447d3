import numpy as np
import pytest

from zshash.hashing.steps.centers import (
    centers_of_sets,
    class_labels,
    hash_centers,
    random_bits,
)
from zshash.hashing.steps.targets import as_targets


@pytest.fixture(name="rng")
def random_numbers():
    return np.random.RandomState(0)


def distances(centers):
    """Bits that differ between two different rows, for all pairs."""
    differ = (centers[:, None] != centers).sum(axis=2)
    return differ[~np.eye(len(centers), dtype=bool)]


@pytest.mark.parametrize(("n_classes", "n_bits"), [(2, 8), (8, 8), (10, 64), (64, 64), (3, 1024)])
def test_half_of_the_bits_of_hadamard_centers_differ(n_classes, n_bits, rng):
    centers = hash_centers(n_classes, n_bits, rng)
    assert centers.shape == (n_classes, n_bits)
    assert np.isin(centers, (-1, 1)).all()
    assert (distances(centers) == n_bits // 2).all()


def test_no_bit_is_the_same_for_all_hadamard_centers(rng):
    assert (np.abs(hash_centers(64, 64, rng).mean(axis=0)) < 1).all()


@pytest.mark.parametrize("n_classes", [9, 12, 16])
def test_negatives_where_there_are_more_classes(n_classes, rng):
    found = distances(hash_centers(n_classes, 8, rng))
    assert set(found) == {4, 8}
    assert (found == 8).sum() >= 2 * (n_classes - 8)


@pytest.mark.parametrize(("n_classes", "n_bits"), [(17, 8), (10, 24), (200, 96)])
def test_random_centers_elsewhere(n_classes, n_bits, rng):
    centers = hash_centers(n_classes, n_bits, rng)
    assert centers.shape == (n_classes, n_bits)
    assert np.isin(centers, (-1, 1)).all()
    assert distances(centers).mean() == pytest.approx(n_bits / 2, rel=0.15)


def test_centers_of_sets_are_majorities(rng):
    sets = (rng.uniform(size=(30, 7)) < 0.5).astype(np.float32)
    sets[:, 0] = 1
    centers, ties = random_bits((7, 12), rng), random_bits(12, rng)
    found = centers_of_sets(sets, centers, ties)
    for own, bits in zip(sets, found, strict=True):
        chosen = centers[own == 1]
        ones, others = (chosen == 1).sum(axis=0), (chosen == -1).sum(axis=0)
        wanted = np.where(ones > others, 1, np.where(ones < others, -1, ties))
        np.testing.assert_array_equal(bits, wanted)


def test_labels_that_no_sample_has_are_left_out():
    y = np.array([[1, 0, 0], [1, 0, 1], [0, 0, 1], [1, 0, 1]])
    sets, groups = class_labels(as_targets(y, 4, method="CSQ")[0])
    np.testing.assert_array_equal(sets[groups], y[:, [0, 2]])
