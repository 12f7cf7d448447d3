"""Groups of items that are copies of one picture: scaled, compressed, a little cropped, brighter.

Prints tell which pairs of pictures may be copies; the thumbnails of each pair then decide. Where
there are no thumbnails, only prints that are nearly equal count.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from zshash._interrupts import check
from zshash._threads import map_blocks
from zshash.collection.operations.print_pairs import Pairs, Prints, likely_pairs
from zshash.collection.storage.state import State
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import blobs
from zshash.images.decoding import PictureError, decode
from zshash.images.likeness import are_same, difference
from zshash.images.prints import CROPS, EMPTY, SIDE, cropped_prints, shades

__all__ = ["SamePictures", "same_pictures"]

AT_ONCE = 2048  # thumbnails
ON_A_CORE = 32  # of them
FINEST = 64  # half of the pixels that are decoded at least, of a thumbnail's longer side

Pair = tuple[int, int]
Try = tuple[int, int, int]  # rows of the part and the whole, and the crop
Images = dict[int, Image.Image]


class SamePictures(NamedTuple):
    """Groups of ids, and the number of items that could not be compared."""

    groups: list[list[int]]
    unknown: int


def same_pictures(store: Store) -> SamePictures:
    """Groups of items that are copies of one picture; other threads go on meanwhile.

    All pictures of a group were found to be copies of one of them. So a group never becomes a chain
    whose ends have nothing in common.
    """
    with store.beside() as (connection, state):
        found = _prints(connection, store.folder, state)
        tries = _by_pair(likely_pairs(found))
        edges = list(_confirmed(connection, store.folder, found, tries))
    groups = _stars(edges)
    return SamePictures(
        [sorted(found.ids[group].tolist()) for group in groups], state.items.n - len(found.ids)
    )


def _prints(connection: sqlite3.Connection, folder: Path, state: State) -> Prints:
    """Prints and shades of all items that have a print or a thumbnail."""
    ids = [number for (number,) in connection.execute("SELECT id FROM items ORDER BY id")]
    parts = [
        _some_prints(connection, folder, state, ids[start : start + AT_ONCE])
        for start in range(0, len(ids), AT_ONCE)
    ]
    if not parts:
        parts = [_gathered([], {}, {})]
    return Prints(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _some_prints(
    connection: sqlite3.Connection, folder: Path, state: State, ids: Sequence[int]
) -> Prints:
    check()
    own = blobs(connection, folder, "prints", ids) if state.prints.n else {}
    small = blobs(connection, folder, "thumbnails", ids) if state.thumbnails.n else {}
    images = _opened(small)
    return _gathered(ids, own, {number: shades(image) for number, image in images.items()})


def _opened(thumbnails: dict[int, bytes]) -> Images:
    """Thumbnails as images, decoded on all cores; those that can not be decoded are left out."""

    def work(part: list[tuple[int, bytes]]) -> Images:
        opened = {}
        for number, value in part:
            with suppress(PictureError):
                opened[number] = decode(value, side=FINEST)
        return opened

    values = list(thumbnails.items())
    starts = range(0, len(values), ON_A_CORE)
    parts = map_blocks(work, (values[start : start + ON_A_CORE] for start in starts))
    return {number: image for part in parts for number, image in part.items()}


def _gathered(
    ids: Sequence[int], prints: dict[int, bytes], squares: dict[int, NDArray[np.uint8]]
) -> Prints:
    """Prints of those items that have any; a missing one is made from the shades."""
    known = [number for number in ids if number in prints or number in squares]
    shown = np.zeros((len(known), SIDE, SIDE), dtype=np.uint8)
    for row, number in enumerate(known):
        if number in squares:
            shown[row] = squares[number]
    own = cropped_prints(shown, CROPS[:1])[:, 0]
    for row, number in enumerate(known):
        if len(prints.get(number, b"")) == len(EMPTY):
            own[row] = np.frombuffer(prints[number], dtype=np.uint8)
    return Prints(np.array(known, dtype=np.int64), own, shown)


def _by_pair(pairs: Pairs) -> dict[Pair, list[Try]]:
    """For each pair of rows, the lower first, what to compare, the most likely first."""
    tries: dict[Pair, list[Try]] = {}
    for place in np.argsort(-pairs.correlation, kind="stable").tolist():
        part, whole, crop = (int(column[place]) for column in pairs[:3])
        tries.setdefault((min(part, whole), max(part, whole)), []).append((part, whole, crop))
    return tries


def _confirmed(
    connection: sqlite3.Connection, folder: Path, found: Prints, tries: dict[Pair, list[Try]]
) -> Iterator[Pair]:
    """Pairs of rows that are copies by their thumbnails, or that have none to compare."""
    waiting = sorted(tries)
    for start in range(0, len(waiting), AT_ONCE):
        check()
        block = waiting[start : start + AT_ONCE]
        rows = sorted({row for pair in block for row in pair})
        small = blobs(connection, folder, "thumbnails", found.ids[rows].tolist())
        opened = _opened(small)
        images = {row: opened[n] for row in rows if (n := int(found.ids[row])) in opened}
        yield from _copies(block, tries, images)


def _copies(block: list[Pair], tries: dict[Pair, list[Try]], images: Images) -> Iterator[Pair]:
    def work(part: list[Pair]) -> list[Pair]:
        return [pair for pair in part if _is_copy(tries[pair], images)]

    starts = range(0, len(block), ON_A_CORE)
    for found in map_blocks(work, (block[start : start + ON_A_CORE] for start in starts)):
        yield from found


def _is_copy(tries: list[Try], images: Images) -> bool:
    """Whether one of two pictures is a copy of the other, in any of the ways to try.

    Where a thumbnail is missing, their prints have been found nearly equal.
    """
    if not all(row in images for row in tries[0][:2]):
        return True
    return any(
        are_same(difference(images[part], images[whole], CROPS[crop]))
        for part, whole, crop in tries
    )


def _stars(pairs: list[Pair]) -> list[list[int]]:
    """Groups of rows, each a row with all rows that it is in a pair with and no other group has.

    Rows with many pairs come first: most often they are the picture that the others come from.

    >>> _stars([(0, 1), (1, 2), (1, 3), (3, 4), (4, 5)])
    [[0, 1, 2, 3], [4, 5]]
    """
    near: dict[int, set[int]] = {}
    for one, other in pairs:
        near.setdefault(one, set()).add(other)
        near.setdefault(other, set()).add(one)
    groups, free = [], set(near)
    for row in sorted(near, key=lambda row: (-len(near[row]), row)):
        if row in free and (own := near[row] & free):
            groups.append(sorted({row, *own}))
            free -= {row, *own}
    return sorted(groups)
