import numpy as np
import pytest
from numpy.testing import assert_allclose

from zshash.images.torch_text import BATCH_SIZE, TorchText


def lengths(texts):
    return np.array([[len(text), 1.0] for text in texts])


def test_texts_in_batches():
    sizes = []

    def encode(texts):
        sizes.append(len(texts))
        return lengths(texts)

    texts = ["a" * (1 + n % 7) for n in range(2 * BATCH_SIZE + 5)]
    found = TorchText(encode, 2).embed(texts)
    expected = lengths(texts)
    assert sizes == [BATCH_SIZE, BATCH_SIZE, 5]
    assert_allclose(found, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)


def test_no_texts():
    found = TorchText(lengths, 2).embed([])
    assert found.shape == (0, 2)
    assert found.dtype == np.float32


@pytest.mark.parametrize("texts", ["dog", ["dog", 5], [None]])
def test_what_is_no_list_of_texts(texts):
    with pytest.raises(TypeError, match="expected a list of texts"):
        TorchText(lengths, 2).embed(texts)


def test_a_text_without_a_direction():
    with pytest.raises(ValueError, match="'dog'"):
        TorchText(lambda texts: np.zeros((len(texts), 2)), 2).embed(["dog"])
