"""Starting codes, drawn part by part wherever the parts are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zshash.hashing.steps import dcc
from zshash.hashing.steps.dcc import codes_from, random_codes, split_stream


def state(rng):
    """The next numbers of a stream, of every kind."""
    return rng.randint(0, 2**31, 3).tolist(), rng.standard_normal(3).tolist(), rng.bytes(5)


def parts_and_state(sizes, n_bits, rng):
    places = split_stream(sizes, n_bits, rng)
    parts = [codes_from(*each, n_bits) for each in zip(places, sizes, strict=True)]
    return parts, state(rng)


@settings(deadline=None, max_examples=150)
@given(
    sizes=st.lists(st.integers(0, 40), min_size=1, max_size=12),
    n_bits=st.integers(1, 80),
    seed=st.integers(0, 2**32 - 1),
    n_normal=st.integers(0, 3),
)
def test_parts_are_those_of_all_codes_and_the_stream_goes_on(sizes, n_bits, seed, n_normal):
    one, other = np.random.RandomState(seed), np.random.RandomState(seed)
    for rng in one, other:
        rng.standard_normal(n_normal)  # an odd number leaves one for the next time
    parts, after = parts_and_state(sizes, n_bits, one)
    whole = random_codes(sum(sizes), n_bits, other)
    assert np.array_equal(np.concatenate(parts), whole)
    assert parts[0].dtype == whole.dtype
    assert after == state(other)


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.Philox, np.random.SFC64])
@pytest.mark.parametrize("sizes", [[3, 1, 8], [1, 1, 1, 1, 1]])
def test_streams_of_other_generators(kind, sizes):
    parts, after = parts_and_state(sizes, 9, np.random.RandomState(kind(5)))
    rng = np.random.RandomState(kind(5))
    assert np.array_equal(np.concatenate(parts), random_codes(sum(sizes), 9, rng))
    assert after == state(rng)


def test_long_streams_are_passed_by_in_pieces(monkeypatch):
    monkeypatch.setattr(dcc, "MANY_WORDS", 7)
    parts, after = parts_and_state([100, 1, 53], 13, np.random.RandomState(2))
    rng = np.random.RandomState(2)
    assert np.array_equal(np.concatenate(parts), random_codes(154, 13, rng))
    assert after == state(rng)


def test_a_place_gives_the_same_codes_again():
    places = split_stream([5, 6], 9, np.random.RandomState(0))
    assert np.array_equal(codes_from(places[1], 6, 9), codes_from(places[1], 6, 9))
