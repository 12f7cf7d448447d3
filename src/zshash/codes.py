"""Bits and packed bytes, the Hamming distance between them, and real values as a short text.

A code of ``n_bits`` bits is stored as ``ceil(n_bits / 8)`` bytes in the order of
``numpy.packbits``: the first bit is the highest bit of the first byte, and the unused bits
of the last byte are zero, so they never differ between two codes.
"""

import binascii
from base64 import b64decode, urlsafe_b64encode

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "check_codes",
    "check_integer",
    "code_bytes",
    "hamming",
    "pack",
    "text_of_values",
    "unpack",
    "values_of_text",
    "words",
]

MIN_BITS, MAX_BITS = 8, 1024


def code_bytes(n_bits: int) -> int:
    """Bytes that a code of `n_bits` bits takes.

    >>> code_bytes(64), code_bytes(12)
    (8, 2)
    """
    return -(-n_bits // 8)


def pack(bits: ArrayLike) -> NDArray[np.uint8]:
    """Pack an array of 0/1 (or of truth values), a code per row, into bytes.

    >>> pack([[1, 0, 0, 0, 0, 0, 0, 1, 1]])
    array([[129, 128]], dtype=uint8)
    """
    bits = np.asarray(bits)
    if bits.dtype != np.bool_ and not np.isin(bits, (0, 1)).all():
        raise ValueError("bits must be 0 or 1; for signs, use pack(signs > 0)")
    return np.packbits(bits.astype(bool, copy=False), axis=-1)


def unpack(codes: ArrayLike, n_bits: int) -> NDArray[np.uint8]:
    """Undo `pack`: 0/1 bits, `n_bits` a row.

    >>> unpack([[129, 128]], n_bits=9)
    array([[1, 0, 0, 0, 0, 0, 0, 1, 1]], dtype=uint8)
    """
    codes = np.asarray(codes, dtype=np.uint8)
    if code_bytes(n_bits) != codes.shape[-1]:
        raise ValueError(f"{n_bits} bits take {code_bytes(n_bits)} bytes, not {codes.shape[-1]}")
    return np.unpackbits(codes, axis=-1, count=n_bits)


def words(codes: ArrayLike) -> NDArray[np.uint64]:
    """View packed codes (n, bytes) as 64-bit words (n, ceil(bytes / 8)), padded with zeros.

    The order of bits inside a word depends on the machine; distances do not.

    >>> words(np.zeros((3, 5), dtype=np.uint8)).shape
    (3, 1)
    """
    codes = np.asarray(codes)
    if codes.dtype != np.uint8 and not np.isin(codes, np.arange(256)).all():
        raise ValueError(f"codes must be packed bytes (uint8), got {codes.dtype}")
    codes = np.ascontiguousarray(codes, dtype=np.uint8)
    padding = -codes.shape[1] % 8
    if padding:
        codes = np.pad(codes, ((0, 0), (0, padding)))
    return codes.view(np.uint64)


def hamming(left: ArrayLike, right: ArrayLike) -> NDArray[np.uint16]:
    """Hamming distance of every code of `left` (a, bytes) to every code of `right` (b, bytes).

    >>> hamming([[0b1111]], [[0b1111], [0b1010]])
    array([[0, 2]], dtype=uint16)
    """
    left, right = np.asarray(left), np.asarray(right)
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[1]:
        raise ValueError(
            f"codes must be (a, bytes) and (b, bytes), got {left.shape}, {right.shape}"
        )
    a, b = words(left), words(right)
    distances = np.zeros((len(a), len(b)), dtype=np.uint16)
    for i in range(a.shape[1]):
        distances += np.bitwise_count(a[:, i, None] ^ b[None, :, i])
    return distances


def text_of_values(values: ArrayLike) -> str:
    """Real values of a query as a short text: base64url without padding, a float16 for each bit.

    The largest value becomes ±1, because only their direction matters. No value loses its sign, so
    the code of the query stays the same.

    >>> text_of_values([0.5, -1, 3, 1e-30])
    'VTFVtQA8AQA'
    >>> values_of_text("VTFVtQA8AQA").round(2)
    array([ 0.17, -0.33,  1.  ,  0.  ], dtype=float32)
    """
    values = np.asarray(values, dtype=np.float64)
    largest = np.abs(values).max(initial=0.0)
    short = (values / largest if largest else values).astype("<f2")
    if np.count_nonzero(short) < np.count_nonzero(values):
        lost = (short == 0) & (values != 0)
        short[lost] = np.copysign(np.finfo(np.float16).smallest_subnormal, values[lost])
    return urlsafe_b64encode(short.tobytes()).rstrip(b"=").decode()


def values_of_text(text: str) -> NDArray[np.float32]:
    """Undo `text_of_values`; ValueError if the text holds no such values."""
    try:
        packed = b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), b"-_", validate=True)
        values = np.frombuffer(packed, dtype="<f2").astype(np.float32)
    except (binascii.Error, ValueError):
        raise ValueError("values are base64url, two bytes (a float16) for each bit") from None
    if not np.isfinite(values).all():
        raise ValueError("values must be finite numbers, and these hold NaN or infinity")
    return values


def check_codes(name: str, codes: ArrayLike, n_bits: int) -> NDArray[np.uint8]:
    """Packed codes of `n_bits` bits as a contiguous array; ValueError says what is wrong with them.

    >>> check_codes("queries", np.zeros((2, 3), dtype=np.uint8), n_bits=16)
    Traceback (most recent call last):
    ValueError: queries of 16 bits must have the shape (n, 2), got (2, 3)
    """
    codes = np.asarray(codes)
    if codes.dtype != np.uint8:
        raise ValueError(f"{name} must be packed bytes (uint8), got {codes.dtype}")
    width, unused = code_bytes(n_bits), -n_bits % 8
    if codes.ndim != 2 or codes.shape[1] != width:
        raise ValueError(
            f"{name} of {n_bits} bits must have the shape (n, {width}), got {codes.shape}"
        )
    if (codes[:, -1] & ((1 << unused) - 1)).any():
        raise ValueError(
            f"{name} of {n_bits} bits must leave the last {unused} bits of the last byte zero, "
            "as zshash.codes.pack does"
        )
    return np.ascontiguousarray(codes)


def check_integer(name: str, value: int, at_least: int) -> int:
    """`value` as an int; ValueError unless it is a whole number of `at_least` or more.

    >>> check_integer("k", 0, at_least=1)
    Traceback (most recent call last):
    ValueError: k must be a whole number of at least 1, got 0
    """
    if not isinstance(value, int | np.integer) or value < at_least:
        raise ValueError(f"{name} must be a whole number of at least {at_least}, got {value!r}")
    return int(value)
