"""Features that a collection keeps, in 16 or 32 bits."""

import numpy as np
import pytest

from zshash.collection.operations.features import HALF, SINGLE, as_kept, from_stored, to_stored

IDS = np.array([3, 9])


@pytest.mark.parametrize(("kind", "width"), [(HALF, 2), (SINGLE, 4)])
def test_what_is_stored_is_what_was_encoded(kind, width):
    X = np.random.RandomState(0).randn(2, 5).astype(np.float32)
    about = {"keep_features": True, "feature_type": kind}
    stored = to_stored(about, IDS, as_kept(about, X))
    assert {len(value) for value in stored.values()} == {5 * width}
    found = from_stored(stored, 5)
    np.testing.assert_array_equal(np.stack([found[3], found[9]]), as_kept(about, X))
    np.testing.assert_allclose(as_kept(about, X), X, rtol=2**-11 if width == 2 else 0)


def test_large_numbers_get_more_room():
    X = np.array([[1.0, 1e6], [2.0, 3.0]], dtype=np.float32)
    about = {"keep_features": True, "feature_type": HALF}
    np.testing.assert_array_equal(as_kept(about, X), X)
    np.testing.assert_array_equal(from_stored(to_stored(about, IDS, X), 2)[3], X[0])


def test_earlier_collections_have_32_bits():
    X = np.full((2, 3), 1 / 3, dtype=np.float32)
    assert len(to_stored({"keep_features": True}, IDS, X)[3]) == 12


def test_nothing_is_kept_where_nothing_is_wanted():
    X = np.full((2, 3), 1 / 3, dtype=np.float32)
    about = {"keep_features": False, "feature_type": HALF}
    assert to_stored(about, IDS, X) == {}
    assert as_kept(about, X) is X
