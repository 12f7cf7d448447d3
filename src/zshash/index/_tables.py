"""Tables of codes, each sorted by one piece of the codes: codes with equal pieces lie together."""

from itertools import pairwise
from math import log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash._compiled import compiled
from zshash._threads import run_blocks
from zshash.index._vectors import STEP

__all__ = ["Buckets", "choose_pieces", "make_buckets"]

MOST_PIECES, LEAST_BITS, MOST_BITS = 8, 4, 24
PART_BITS = 9  # highest bits of a key, by which codes are sorted first


class Buckets(NamedTuple):
    """Codes sorted by each of several pieces.

    Attributes
    ----------
    pieces : ndarray of shape (m, 3)
        For each piece, the word that it lies in, its shift there, and its number of bits.
    masks : ndarray of shape (m,), uint64
        Bits of each piece in its word.
    starts : ndarray of shape (m, 2**bits + 1), uint32
        Where each bucket starts among the n codes of a table.
    positions : ndarray of shape (m * n,), uint32
        Positions of the codes, table by table; ascending in each bucket.
    words : ndarray of shape (n_words, m * n + STEP), uint64
        Words of the codes, in the same order.
    """

    pieces: NDArray[np.int64]
    masks: NDArray[np.uint64]
    starts: NDArray[np.uint32]
    positions: NDArray[np.uint32]
    words: NDArray[np.uint64]

    @property
    def nbytes(self) -> int:
        """Bytes that the tables take."""
        return self.starts.nbytes + self.positions.nbytes + self.words.nbytes


def choose_pieces(n: int, n_bits: int) -> NDArray[np.int64]:
    """Pieces of about log2(n) bits, so that a bucket of evenly spread codes holds about one.

    A piece lies inside one word, whose highest bit is the first.

    >>> choose_pieces(1_000_000, 64)
    array([[ 0, 43, 21],
           [ 0, 22, 21],
           [ 0,  0, 22]])
    """
    wanted = min(max(log2(max(n, 2)), LEAST_BITS), MOST_BITS)
    pieces = []
    for word in range(-(-n_bits // 64)):
        own = min(64, n_bits - 64 * word)
        number = max(1, round(own / wanted))
        ends = [own * i // number for i in range(number + 1)]
        for begin, end in pairwise(ends):
            bits = min(end - begin, MOST_BITS)
            pieces.append((word, 64 - begin - bits, bits))
    return np.array(pieces[:MOST_PIECES], dtype=np.int64)


def make_buckets(words: NDArray[np.uint64], pieces: NDArray[np.int64]) -> Buckets:
    """Sort codes (n_words, n) by each piece."""
    m, n = len(pieces), words.shape[1]
    masks = np.array(
        [(2**bits - 1) << shift for _, shift, bits in pieces.tolist()], dtype=np.uint64
    )
    starts = np.zeros((m, 2 ** int(pieces[:, 2].max()) + 1), dtype=np.uint32)
    positions = np.empty(m * n, dtype=np.uint32)
    ordered = np.zeros((len(words), m * n + STEP), dtype=np.uint64)

    def fill(table: int) -> None:
        word, shift, bits = pieces[table].tolist()
        keys = (words[word] >> np.uint64(shift)) & np.uint64(2**bits - 1)
        _fill(words, keys.astype(np.uint32), bits, table, starts, positions, ordered)

    run_blocks(fill, range(m))
    return Buckets(pieces, np.array(masks, dtype=np.uint64), starts, positions, ordered)


@compiled
def _fill(words, keys, bits, table, starts, positions, ordered):
    """Sort codes by their keys, by counting: first by the highest bits, then each such part.

    Both times, writes lie close together. Sorting in one go would write all over the memory, which
    takes ten times as long for ten million codes.
    """
    n, low = words.shape[1], max(bits - PART_BITS, 0)
    ends = np.zeros((1 << (bits - low)) + 1, dtype=np.int64)
    for position in range(n):
        ends[(keys[position] >> low) + 1] += 1
    ends = np.cumsum(ends)
    some_keys = np.empty(n, dtype=np.uint32)
    some_positions = np.empty(n, dtype=np.uint32)
    some_words = np.empty_like(words)
    places = ends.copy()
    for position in range(n):
        place = places[keys[position] >> low]
        places[keys[position] >> low] += 1
        some_keys[place], some_positions[place] = keys[position], position
        for word in range(words.shape[0]):
            some_words[word, place] = words[word, position]
    for place in range(n):
        starts[table, some_keys[place] + 1] += 1
    for bucket in range(starts.shape[1] - 1):
        starts[table, bucket + 1] += starts[table, bucket]
    for part in range(len(ends) - 1):
        # The start of each bucket moves to its end, which is where the next bucket starts.
        for place in range(ends[part], ends[part + 1]):
            key = some_keys[place]
            target = table * n + starts[table, key]
            starts[table, key] += 1
            positions[target] = some_positions[place]
            for word in range(words.shape[0]):
                ordered[word, target] = some_words[word, place]
    for bucket in range(starts.shape[1] - 1, 0, -1):
        starts[table, bucket] = starts[table, bucket - 1]
    starts[table, 0] = 0
