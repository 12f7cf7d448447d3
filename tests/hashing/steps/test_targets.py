import numpy as np
import pytest

from zshash.hashing.steps.targets import Targets, as_targets, merge_rows


def dense(targets):
    return targets.vectors[targets.rows]


def read(y, n=None):
    return as_targets(y, len(y) if n is None else n, method="ZSH")


@pytest.mark.parametrize("labels", [[3, 1, 3, 7], ["b", "a", "b", "c"], [3.0, 1.0, 3.0, 7.0]])
def test_labels_become_one_hot(labels):
    targets, classes = read(labels)
    assert classes.tolist() == sorted(set(labels))
    assert dense(targets).tolist() == [[0, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_bytes_become_words():
    _, classes = read(np.array([b"dog", b"cat"]))
    assert classes.tolist() == ["cat", "dog"]


def test_a_column_of_labels_is_read_as_labels():
    targets, classes = read(np.array([[5], [9], [5]]))
    assert classes.tolist() == [5, 9]
    assert dense(targets).tolist() == [[1, 0], [0, 1], [1, 0]]


@pytest.mark.parametrize("dtype", [bool, int, float])
def test_several_labels_each(dtype):
    Y = np.array([[1, 1, 0], [0, 0, 1], [1, 1, 0], [0, 0, 1]], dtype=dtype)
    targets, classes = read(Y)
    assert classes is None
    assert len(targets.vectors) == 2
    np.testing.assert_array_equal(dense(targets), Y)


def test_vectors_that_are_all_different_stay_as_they_are():
    Y = np.random.RandomState(0).standard_normal((20, 4))
    targets, _ = read(Y)
    np.testing.assert_array_equal(dense(targets), Y)
    assert targets.squared_norm() == pytest.approx(np.square(Y).sum())


@pytest.mark.parametrize("n_classes", [2, 30])
def test_parts(n_classes):
    rng = np.random.RandomState(0)
    targets = Targets(rng.standard_normal((n_classes, 4)), rng.permutation(30) % n_classes)
    for part in (slice(0, 10), slice(10, 30), slice(29, 99)):
        np.testing.assert_array_equal(dense(targets[part]), dense(targets)[part])
        assert len(targets[part].vectors) <= max(2, len(targets[part]))


def test_one_class_is_said():
    with pytest.warns(UserWarning, match="same label: ZSH sees only 1 class"):
        read(["cat", "cat"])
    with pytest.warns(UserWarning, match="only 1 class"):
        read(np.ones((4, 3)))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "ZSH requires y to be passed, but the target y is None: give class labels"),
        ([0, 1], "inconsistent numbers of samples: 3 rows of X, 2 of y"),
        ([0.5, 1.0, 2.0], "1-D but not a class label: it holds fractions"),
        ([np.nan, 1.0, 2.0], "fractions or NaN"),
        ([1, "a", None], "mixes labels of different types"),
        (np.zeros((3, 2, 1)), r"unusable form \(shape \(3, 2, 1\)"),
        (np.zeros((3, 0)), "y has no columns"),
        (np.array([[0.1, np.nan]] * 3), "NaN or infinity"),
        (np.array([[1, 2], [0, 1], [1, 1]]), "whole numbers other than 0 and 1"),
        (np.array([["a", "b"]] * 3), "matrix of words"),
        (np.zeros(3, dtype="datetime64[s]"), "unusable form"),
    ],
)
def test_bad_targets(y, message):
    with pytest.raises(ValueError, match=message):
        as_targets(y, 3, method="ZSH")


@pytest.mark.parametrize("n", [59, 999])
def test_long_equal_rows_are_found_wherever_they_stand(n):
    """A product of a long row rounds differently at the end of a matrix."""
    rng = np.random.RandomState(n)
    for _ in range(10):
        vectors, y = rng.standard_normal((9, 300)), rng.randint(0, 9, n)
        merged, rows = merge_rows(vectors[y])
        assert len(merged) == 9
        np.testing.assert_array_equal(merged[rows], vectors[y])


@pytest.mark.parametrize(
    "labels",
    [
        [3, -1, 1, -1],
        [3.0, -1.0, 1.0, -1.0],
        np.array(["b", "", "a", ""]),
        np.array(["b", None, "a", ""], dtype=object),
        np.array([[3], [-1], [1], [-1]]),
    ],
)
def test_samples_that_nobody_labelled(labels):
    targets, classes = read(np.asarray(labels))
    assert len(classes) == 2
    assert targets.is_labelled.tolist() == [True, False, True, False]
    assert dense(targets).tolist() == [[0, 1], [0, 0], [1, 0], [0, 0]]


@pytest.mark.parametrize("dtype", [bool, int, float])
def test_rows_of_zeros_have_no_label(dtype):
    targets, classes = read(np.array([[1, 0], [0, 0], [0, 1]], dtype=dtype))
    assert classes is None
    assert targets.is_labelled.tolist() == [True, False, True]


def test_signs_would_lose_a_class():
    with pytest.warns(UserWarning, match="-1 means that nobody labelled the sample"):
        read([1, -1, 1, -1])
    with pytest.warns(UserWarning, match="all 2 labelled samples have the same label"):
        read(np.array(["cat", "", "cat"]))
