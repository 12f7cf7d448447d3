import numpy as np
import pytest

from zshash.hashing.steps.similarity import similarity
from zshash.hashing.steps.targets import as_targets


def dense(Y):
    return (Y.astype(int) @ Y.T.astype(int)) > 0


def of(y):
    targets, _ = as_targets(y, len(y), method="KSH")
    return similarity(targets, "KSH")


@pytest.mark.parametrize("n", [9, 400])  # label sets all different, and shared
def test_several_labels_each(n):
    Y = np.random.RandomState(0).randint(0, 2, (n, 4))
    S, rows, columns = of(Y), np.arange(0, n, 2), np.array([3, 1, 1, 5])
    np.testing.assert_array_equal(S.block(rows, columns), dense(Y)[np.ix_(rows, columns)])
    np.testing.assert_array_equal(S[rows].block(slice(None), slice(None)), dense(Y[rows]))
    np.testing.assert_array_equal(S.with_groups(columns)[S.groups], dense(Y)[:, columns])
    assert len(S.labels) == len(np.unique(Y, axis=0))
    full = S.between_groups()[S.groups][:, S.groups]
    np.testing.assert_array_equal(full, dense(Y))


def test_class_labels_and_their_vectors_say_the_same():
    y = np.array([2, 0, 2, 1, 1, 0, 2, 2])
    vectors = np.random.RandomState(0).standard_normal((3, 5))[y]
    expected = y[:, None] == y
    for form in (y, vectors, np.eye(3, dtype=int)[y]):
        S = of(form)
        np.testing.assert_array_equal(S.block(np.arange(8), np.arange(8)), expected)
        assert len(S) == 8


def test_sums_by_group():
    y = np.array([1, 0, 1, 1])
    F = np.arange(8.0).reshape(4, 2)
    S = of(y)
    one, two = [2, 3], [10, 13]
    np.testing.assert_array_equal(S.sum_by_group(F)[S.groups], [two, one, two, two])


def test_targets_that_share_nothing():
    with pytest.raises(ValueError, match="KSH learns from samples that share a label"):
        of(np.random.RandomState(0).standard_normal((6, 3)))
