"""Groups of items that are copies of one picture: scaled, compressed, a little cropped, brighter.

Prints tell which pairs of pictures may be copies; the thumbnails of each pair then decide. Where
there are no thumbnails, only prints that are nearly equal count.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash._interrupts import check
from zshash._threads import map_blocks
from zshash.collection.operations.print_pairs import Prints, likely_pairs
from zshash.collection.operations.shade_pairs import Pairs, together
from zshash.collection.storage.state import State
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import blobs
from zshash.images.decoding import PictureError, decode
from zshash.images.likeness import GRID, are_same, difference
from zshash.images.pipeline import slices
from zshash.images.prints import CROPS, EMPTY, SIDE, cropped_prints, shades

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["SamePictures", "same_pictures"]

AT_ONCE = 2048  # thumbnails
ON_A_CORE = 32  # of them
COMPARED = 128  # pixels of the longer side that thumbnails are compared at, whatever they have
FINE = 24  # pixels of the shorter side of a thumbnail that shades are not blurred in
UNCROPPED = 0.97  # of a picture's area, less counts as cropped

Pair = tuple[int, int]
Images = dict[int, "Image.Image"]


class SamePictures(NamedTuple):
    """Copies of pictures.

    Attributes
    ----------
    groups : list of list of int
        Ids of the items of each group.
    cropped : set of int
        Ids of those that are cut out of another picture of their group.
    unknown : int
        Number of items that could not be compared.
    """

    groups: list[list[int]]
    cropped: set[int]
    unknown: int


def same_pictures(store: Store) -> SamePictures:
    """Groups of items that are copies of one picture; other threads go on meanwhile.

    All pictures of a group were found to be copies of one of them. So a group never becomes a chain
    whose ends have nothing in common.
    """
    with store.beside() as (connection, state):
        with store.bar(state.items.n) as bar:
            found = _prints(connection, store.folder, state)
            likely = likely_pairs(found, bar.update)
        pairs = together(list(_confirmed(connection, store.folder, found, likely)))
    groups = _stars(list(zip(pairs.part.tolist(), pairs.whole.tolist(), strict=True)))
    return SamePictures(
        [found.ids[group].tolist() for group in groups],
        set(found.ids[_cut_out(found, pairs, groups)].tolist()),
        state.items.n - len(found.ids),
    )


def _cut_out(found: Prints, pairs: Pairs, groups: list[list[int]]) -> list[int]:
    """Rows of pictures that are cut out of another picture of their group."""
    group = {row: place for place, rows in enumerate(groups) for row in rows}
    left, top, right, bottom = pairs.edges.T
    are_cut = (right - left) * (bottom - top) < UNCROPPED
    # the edges of blurred pictures are not known well enough
    places = np.flatnonzero(are_cut & found.are_fine[pairs.part] & found.are_fine[pairs.whole])
    cut = zip(pairs.part[places].tolist(), pairs.whole[places].tolist(), strict=True)
    return sorted({part for part, whole in cut if group.get(part) == group.get(whole)})


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
    return _gathered(ids, own, _opened(small, SIDE // 2))


def _opened(thumbnails: dict[int, bytes], side: int) -> Images:
    """Thumbnails with at least twice `side` pixels, if they have so many, decoded on all cores.

    Larger ones are shrunk, so that albums with thumbnails of any size are compared alike. Those
    that can not be decoded are left out.
    """

    def work(part: list[tuple[int, bytes]]) -> Images:
        opened = {}
        for number, value in part:
            with suppress(PictureError):
                opened[number] = decode(value, side=side)
                opened[number].thumbnail((COMPARED, COMPARED))
        return opened

    values = list(thumbnails.items())
    starts = range(0, len(values), ON_A_CORE)
    parts = map_blocks(work, (values[start : start + ON_A_CORE] for start in starts))
    return {number: image for part in parts for number, image in part.items()}


def _gathered(ids: Sequence[int], prints: dict[int, bytes], images: Images) -> Prints:
    """Prints of those items that have any; a missing one is made from the shades."""
    known = [number for number in ids if number in prints or number in images]
    shown = np.zeros((len(known), SIDE, SIDE), dtype=np.uint8)
    are_fine = np.zeros(len(known), dtype=bool)
    for row, number in enumerate(known):
        if number in images:
            shown[row], are_fine[row] = shades(images[number]), min(images[number].size) >= FINE
    own = cropped_prints(shown, CROPS[:1])[:, 0]
    for row, number in enumerate(known):
        if len(prints.get(number, b"")) == len(EMPTY):
            own[row] = np.frombuffer(prints[number], dtype=np.uint8)
    return Prints(np.array(known, dtype=np.int64), own, shown, are_fine)


def _confirmed(
    connection: sqlite3.Connection, folder: Path, found: Prints, pairs: Pairs
) -> Iterator[Pairs]:
    """Pairs that are copies by their thumbnails, or that have none to compare."""
    for places in slices(len(pairs.part), AT_ONCE):
        check()
        block = pairs.at(places)
        rows = np.unique([block.part, block.whole]).tolist()
        small = blobs(connection, folder, "thumbnails", found.ids[rows].tolist())
        opened = _opened(small, GRID)
        images = {row: opened[n] for row in rows if (n := int(found.ids[row])) in opened}
        yield block.at(
            np.array(
                [
                    _are_copies(images.get(part), images.get(whole), edges)
                    for part, whole, edges in zip(block.part, block.whole, block.edges, strict=True)
                ]
            )
        )


def _are_copies(
    part: "Image.Image | None", whole: "Image.Image | None", edges: NDArray[np.float64]
) -> bool:
    """Whether one picture is a copy of the other within the edges, or roughly within them.

    Where a thumbnail is missing, their prints have been found nearly equal.
    """
    return part is None or whole is None or are_same(difference(part, whole, edges))


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
