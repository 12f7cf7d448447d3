from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from zshash.datasets import DataError, Dataset, Pictures
from zshash.images import PictureReader
from zshash.learning.sources import as_data, reader_for, with_labels

X = np.arange(12.0).reshape(4, 3)
FOUR = Dataset(X.astype(np.float32))


class TestData:
    """What people give as data."""

    def read(self, source):
        return as_data(source, PictureReader())

    def test_features(self, tmp_path):
        np.save(tmp_path / "X.npy", X)
        for source in (X, X.tolist(), X.astype(np.int8), tmp_path / "X.npy", FOUR):
            found = self.read(source)
            assert isinstance(found, Dataset)
            assert found.X.dtype == np.float32
            assert_array_equal(found.X, X)

    def test_pictures(self):
        pixels = np.zeros((2, 8, 8, 3), np.uint8)
        assert self.read(pixels).sources is pixels
        assert self.read(["a.jpg", Path("b.jpg")]).sources == (Path("a.jpg"), Path("b.jpg"))
        pictures = Pictures(pixels)
        assert self.read(pictures) is pictures

    @pytest.mark.parametrize("source", [X[0], [], [[1.0], [1.0, 2.0]], object(), b"ab"])
    def test_anything_else_is_refused(self, source):
        with pytest.raises(TypeError, match=r"can not be read as data: give features \(n, d\)"):
            self.read(source)

    def test_extractor_or_reader(self):
        reader = PictureReader("pixels:8")
        assert reader_for(None, reader) is reader
        assert reader_for("pixels:4", None).extractor == "pixels:4"
        with pytest.raises(ValueError, match="give extractor or reader, not both"):
            reader_for("pixels:4", reader)


class TestLabels:
    """What people give as labels."""

    @pytest.mark.parametrize(
        "labels",
        [
            ["dog", "cat", "dog", "cat"],
            np.array(["dog", "cat", "dog", "cat"]),
            np.array(["dog", "cat", "dog", "cat"], dtype=object),
            [["dog"], ("cat",), {"dog"}, "cat"],
        ],
    )
    def test_words(self, labels):
        found = with_labels(FOUR, labels, None)
        assert found.names == ("cat", "dog")
        assert found.labels.tolist() == [1, 0, 1, 0]

    def test_words_in_the_order_of_the_names(self):
        found = with_labels(FOUR, ["dog", "cat", "dog", "cat"], ["dog", "ship", "cat"])
        assert found.names == ("dog", "ship", "cat")
        assert found.labels.tolist() == [0, 2, 0, 2]

    def test_numbers(self):
        found = with_labels(FOUR, [1, 0, 1, 0], ["cat", "dog"])
        assert (found.labels.tolist(), found.names) == ([1, 0, 1, 0], ("cat", "dog"))
        found = with_labels(FOUR, np.array([7, 5, 7, 5]), None)
        assert (found.labels.tolist(), found.names) == ([1, 0, 1, 0], ("5", "7"))

    @pytest.mark.parametrize(
        "labels", [["dog", None, "cat", ""], [["dog"], [], ["cat"], []], [1, -1, 0, -1]]
    )
    def test_samples_that_nobody_labelled(self, labels):
        found = with_labels(FOUR, labels, ["cat", "dog"])
        assert found.labels.tolist() == [[False, True], [False, False], [True, False], [False] * 2]

    def test_several_each(self):
        matrix = np.array([[1, 0], [1, 1], [0, 0], [0, 1]])
        found = with_labels(FOUR, matrix, ["cat", "dog"])
        words = with_labels(FOUR, [["cat"], ["dog", "cat"], [], ["dog"]], None)
        assert_array_equal(found.labels, words.labels)
        assert_array_equal(found.labels, matrix.astype(bool))

    def test_own_labels_stay_where_none_are_given(self):
        own = Dataset(FOUR.X, np.arange(4), tuple("abcd"))
        assert with_labels(own, None, None) is own

    @pytest.mark.parametrize(
        ("labels", "names", "message"),
        [
            (None, ["cat"], "names of categories are given without labels"),
            (["cat"], None, "1 labels for 4 samples"),
            (["cat", "fox", "cat", "cat"], ["cat"], "'fox' is not among the names"),
            ([0, 1, 2, 0], ["cat", "dog"], "the label 2 has no name: there are 2 names"),
            (np.full((4, 2), 2), None, "0 or 1: a column for each category"),
            (np.zeros((4, 2)), ["cat"], "1 names for a matrix of 2 categories"),
            (np.zeros(4), None, r"labels of shape \(4,\) and type float64 can not be read"),
        ],
    )
    def test_mistakes(self, labels, names, message):
        with pytest.raises(DataError, match=message):
            with_labels(FOUR, labels, names)
