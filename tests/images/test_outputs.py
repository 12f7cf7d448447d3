import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from zshash.images.outputs import check_pool, pooled

RNG = np.random.RandomState(0)
TOKENS = RNG.randn(2, 5, 3)


def test_vectors_stay():
    vectors = RNG.randn(4, 7).astype(np.float32)
    assert_array_equal(pooled(vectors), vectors)
    assert pooled(vectors.astype(np.float16)).dtype == np.float32


@pytest.mark.parametrize("shape", [(2, 5, 7, 7), (2, 7, 7, 5), (2, 5, 1, 1), (2, 1, 1, 5)])
def test_maps_are_averaged_over_their_places(shape):
    maps = RNG.randn(*shape)
    first = shape[1] == 5
    expected = maps.mean(axis=(2, 3) if first else (1, 2))
    assert pooled(maps).shape == (2, 5)
    assert_allclose(pooled(maps), expected, rtol=1e-5, atol=1e-6)


def test_maps_of_small_numbers_do_not_overflow():
    maps = np.full((1, 2, 40, 40), 100, dtype=np.float16)
    assert pooled(maps).tolist() == [[100, 100]]


def test_tokens():
    assert_allclose(pooled(TOKENS, "mean"), TOKENS.mean(axis=1), rtol=1e-5)
    assert_allclose(pooled(TOKENS, "first"), TOKENS[:, 0], rtol=1e-5)
    with pytest.raises(ValueError, match=r"5 vectors for each picture; .* or pool='mean'"):
        pooled(TOKENS)


@pytest.mark.parametrize(
    "values", [np.zeros(3), np.zeros((1, 2, 3, 4)), np.array([["a"]]), [1.0], None]
)
def test_what_is_no_features(values):
    with pytest.raises(ValueError, match=r"its output .*choose another layer or output"):
        pooled(values)


def test_ways_to_merge():
    for pool in (None, "mean", "first"):
        check_pool(pool)
    for pool in ("max", ["mean"], 1):
        with pytest.raises(ValueError, match="pool must be one of mean, first, got"):
            check_pool(pool)
