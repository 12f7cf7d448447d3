import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from zshash import codes


@st.composite
def bit_rows(draw, max_rows=6):
    n_bits = draw(st.integers(1, 200))
    return draw(
        arrays(np.uint8, (draw(st.integers(1, max_rows)), n_bits), elements=st.integers(0, 1))
    )


@given(bit_rows())
def test_unpack_undoes_pack(bits):
    packed = codes.pack(bits)
    assert packed.shape == (len(bits), codes.code_bytes(bits.shape[1]))
    np.testing.assert_array_equal(codes.unpack(packed, bits.shape[1]), bits)


@given(bit_rows())
def test_hamming_counts_differing_bits(bits):
    packed = codes.pack(bits)
    expected = (bits[:, None] != bits[None]).sum(axis=2)
    np.testing.assert_array_equal(codes.hamming(packed, packed), expected)


@given(bit_rows())
def test_words_are_padded_with_zeros(bits):
    packed = codes.pack(bits)
    words = codes.words(packed)
    assert words.dtype == np.uint64
    assert words.shape == (len(bits), -(-packed.shape[1] // 8))
    assert np.bitwise_count(words).sum() == bits.sum()


def test_truth_values_are_bits():
    np.testing.assert_array_equal(codes.pack([[True, False]]), [[128]])


@pytest.mark.parametrize("shapes", [((1, 8), (1, 9)), ((1, 2), (1, 8)), ((2,), (2,))])
def test_shapes_that_can_not_be_compared(shapes):
    left, right = (np.zeros(shape, np.uint8) for shape in shapes)
    with pytest.raises(ValueError, match=r"codes must be \(a, bytes\) and \(b, bytes\), got"):
        codes.hamming(left, right)


def test_signs_are_not_bits():
    with pytest.raises(ValueError, match=r"bits must be 0 or 1; .* pack\(signs > 0\)"):
        codes.pack([[-1, 1]])
    with pytest.raises(ValueError, match=r"packed bytes \(uint8\), got int8"):
        codes.hamming(np.array([[-1]], np.int8), np.array([[1]], np.int8))


def test_more_bits_than_bytes():
    with pytest.raises(ValueError, match="20 bits take 3 bytes, not 1"):
        codes.unpack([[255]], 20)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros((1, 2)), r"packed bytes \(uint8\), got float64"),
        (np.zeros(2, np.uint8), r"must have the shape \(n, 2\), got \(2,\)"),
        (np.zeros((1, 3), np.uint8), r"must have the shape \(n, 2\), got \(1, 3\)"),
        (np.ones((1, 2), np.uint8), "must leave the last 4 bits of the last byte zero"),
    ],
)
def test_check_codes(value, message):
    with pytest.raises(ValueError, match=message):
        codes.check_codes("queries", value, n_bits=12)


@pytest.mark.parametrize("value", [0, 1.5, "1", None])
def test_check_integer(value):
    with pytest.raises(ValueError, match="k must be a whole number of at least 1, got"):
        codes.check_integer("k", value, at_least=1)
