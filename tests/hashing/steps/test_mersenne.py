"""Draws of the compiled generator, against NumPy's."""

import numpy as np
import pytest

from zshash.hashing.steps.dcc import random_codes
from zshash.hashing.steps.mersenne import PackedSigns, choose, draw_packed_signs


def twins(seed, passed=0):
    """Two equal streams, somewhere in their state."""
    pair = np.random.RandomState(seed), np.random.RandomState(seed)
    for rng in pair:
        rng.randint(0, 2**32, size=passed, dtype=np.uint32)
    return pair


def go_on_alike(mine, theirs):
    return np.array_equal(mine.randint(0, 2**32, 700), theirs.randint(0, 2**32, 700))


@pytest.mark.parametrize("passed", [0, 1, 623, 624, 5000])
@pytest.mark.parametrize("n", [1, 2, 3, 64, 65, 1000, 4096, 30_000])
def test_choice(n, passed):
    mine, theirs = twins(n, passed)
    size = max(n // 3, 1)
    np.testing.assert_array_equal(choose(n, size, mine), theirs.choice(n, size, replace=False))
    assert go_on_alike(mine, theirs)


@pytest.mark.parametrize("passed", [0, 3, 624])
@pytest.mark.parametrize("count", [0, 1, 311, 312, 2048, 2049, 40_000])
def test_packed_signs(count, passed):
    mine, theirs = twins(7, passed)
    bits = theirs.randint(0, 2, size=8 * count, dtype=np.int8)
    np.testing.assert_array_equal(draw_packed_signs(count, mine), np.packbits(bits))
    assert go_on_alike(mine, theirs)


def test_a_normal_number_that_waits_is_kept():
    mine, theirs = twins(1)
    for rng in (mine, theirs):
        rng.standard_normal()  # two are made, one waits
    choose(100, 10, mine)
    theirs.choice(100, 10, replace=False)
    assert mine.standard_normal() == theirs.standard_normal()


def test_other_generators_are_left_to_numpy():
    mine, theirs = (np.random.RandomState(np.random.PCG64(3)) for _ in range(2))
    np.testing.assert_array_equal(choose(500, 20, mine), theirs.choice(500, 20, replace=False))


def test_starting_codes_are_those_of_numpy():
    for sizes, n_bits in (((5, 3, 9), 37), ((4096,), 64), ((1, 1, 1), 9), ((700, 1, 20_000), 24)):
        expected = random_codes(sum(sizes), n_bits, rng := np.random.RandomState(3))
        packed = PackedSigns(mine := np.random.RandomState(3))
        drawn = np.concatenate([packed.draw(n, n_bits) for n in sizes])
        np.testing.assert_array_equal(drawn, np.packbits(expected > 0, axis=1))
        assert rng.randint(2**31) == mine.randint(2**31)
