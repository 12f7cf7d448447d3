"""Runs: codes under ids, stored as 64-bit words and sorted by id."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash.codes import code_bytes

__all__ = ["Codes", "Ids", "Run", "Words", "as_codes", "as_words", "empty_run", "holds", "merge"]

Codes = NDArray[np.uint8]
Ids = NDArray[np.int64]
Words = NDArray[np.uint64]


class Run(NamedTuple):
    """Codes in ascending order of id. Nothing writes into a run, so it can be shared."""

    ids: Ids
    words: Words  # (n_words, n): the first words of all codes, then the second ones

    def ids_at(self, positions: NDArray[np.int64]) -> Ids:
        """Ids at positions; most often ids count up by one, and then an addition is quicker."""
        n = len(self.ids)
        first = int(self.ids[0]) if n else 0
        if n and int(self.ids[-1]) - first == n - 1:
            return positions + np.int64(first) if first else positions
        return self.ids[positions]

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> "Run":
        """Run of the given rows, in the given order."""
        return Run(self.ids[rows], np.ascontiguousarray(self.words[:, rows]))


def as_words(codes: Codes) -> Words:
    """Packed codes (n, bytes) as words (n_words, n), where the first bit is the highest one.

    >>> [hex(word) for word in as_words(np.array([[1, 2, 3]], dtype=np.uint8))[:, 0]]
    ['0x102030000000000']
    """
    padding = -codes.shape[1] % 8
    if padding:
        codes = np.pad(codes, ((0, 0), (0, padding)))
    words = np.ascontiguousarray(codes).view(">u8")
    return np.ascontiguousarray(words.T.astype(np.uint64))


def as_codes(words: Words, n_bits: int) -> Codes:
    """Undo `as_words`."""
    codes = words.T.astype(">u8", order="C").view(np.uint8)
    return np.ascontiguousarray(codes[:, : code_bytes(n_bits)])


def empty_run(n_bits: int) -> Run:
    """A run without codes."""
    return Run(np.empty(0, dtype=np.int64), np.empty((-(-n_bits // 64), 0), dtype=np.uint64))


def merge(runs: list[Run]) -> Run:
    """All codes of several runs as one run."""
    merged = runs[0]
    if len(runs) > 1:
        ids = np.concatenate([run.ids for run in runs])
        merged = Run(ids, np.concatenate([run.words for run in runs], axis=1))
    if (merged.ids[1:] > merged.ids[:-1]).all():
        return merged
    # A merge of sorted runs takes linear time.
    return merged.take(np.argsort(merged.ids, kind="stable"))


def holds(ascending: Ids, ids: Ids) -> NDArray[np.bool_]:
    """Which of `ids` occur in `ascending`."""
    position = np.searchsorted(ascending, ids)
    result = position < len(ascending)
    result[result] = ascending[position[result]] == ids[result]
    return result
