"""Bits and packed bytes, and the Hamming distance between them.

A code of ``n_bits`` bits is stored as ``ceil(n_bits / 8)`` bytes in the order of
``numpy.packbits``: the first bit is the highest bit of the first byte, and the unused bits
of the last byte are zero, so they never differ between two codes.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["code_bytes", "hamming", "pack", "unpack", "words"]

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
    return np.packbits(np.asarray(bits).astype(bool, copy=False), axis=-1)


def unpack(codes: ArrayLike, n_bits: int) -> NDArray[np.uint8]:
    """Undo `pack`: 0/1 bits, `n_bits` a row.

    >>> unpack([[129, 128]], n_bits=9)
    array([[1, 0, 0, 0, 0, 0, 0, 1, 1]], dtype=uint8)
    """
    return np.unpackbits(np.asarray(codes, dtype=np.uint8), axis=-1, count=n_bits)


def words(codes: ArrayLike) -> NDArray[np.uint64]:
    """View packed codes (n, bytes) as 64-bit words (n, ceil(bytes / 8)), padded with zeros.

    The order of bits inside a word depends on the machine; distances do not.

    >>> words(np.zeros((3, 5), dtype=np.uint8)).shape
    (3, 1)
    """
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
    a, b = words(left), words(right)
    if a.shape[1] != b.shape[1]:
        raise ValueError("the two sets of codes have different widths")
    distances = np.zeros((len(a), len(b)), dtype=np.uint16)
    for i in range(a.shape[1]):
        distances += np.bitwise_count(a[:, i, None] ^ b[None, :, i])
    return distances
