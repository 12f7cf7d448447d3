"""The first part of the demonstration: clip art without labels, found by name and by picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from zshash.collection import Collection, Found, Item, Match, Query
from zshash.images import PictureReader

__all__ = ["NAMES", "PICTURES", "ClipArt", "make_album", "show_clipart"]

PICTURES = Path(__file__).parent / "pictures"
# Everyday words of which the clip art has at least five drawings; some of them find little.
NAMES = (
    *("bird", "boat", "car", "dog", "flower", "fruit"),
    *("guitar", "hat", "horse", "house", "insect", "telephone"),
)
N_EXAMPLES = 4
N_SHOWN = 6


@dataclass(frozen=True)
class ClipArt:
    """What was found in an album of clip art.

    Attributes
    ----------
    n : int
        Number of pictures in the album.
    n_bits : int
        Length of a code.
    seconds : float
        Time to make the album: from picture files to codes that can be searched.
    names : dict of str to Found
        For each name the pictures that fit it best.
    examples : list of (Item, list of Match)
        The best picture of each of the first names, with the pictures that look most like it.
    """

    n: int
    n_bits: int
    seconds: float
    names: dict[str, Found]
    examples: Sequence[tuple[Item, Sequence[Match]]]

    @property
    def n_bytes(self) -> int:
        """Length of a code in bytes."""
        return -(-self.n_bits // 8)

    def told(self) -> dict[str, Any]:
        """What was found, ready for JSON."""
        examples = {_file(item.source): _told(found) for item, found in self.examples}
        return {
            "pictures": self.n,
            "bits": self.n_bits,
            "seconds": self.seconds,
            "names": {name: _told(found) for name, found in self.names.items()},
            "examples": examples,
        }


def show_clipart(
    folder: str | Path, n_bits: int = 64, reader: PictureReader | None = None
) -> ClipArt:
    """Make an album of the clip art in a folder, and search it by names and by pictures."""
    begin = perf_counter()
    with make_album(folder, n_bits, reader) as album:
        return _search(album, perf_counter() - begin)


def make_album(
    folder: str | Path, n_bits: int = 64, reader: PictureReader | None = None
) -> Collection:
    """Make an album of the clip art: learn from its pictures, which have no label, and add them.

    Parameters
    ----------
    folder : path-like
        Folder of the album: it must not exist, or must be empty.
    n_bits : int
    reader : PictureReader, optional
        How pictures are read.

    Returns
    -------
    Collection
        The open album.

    Raises
    ------
    CollectionError
        If the folder is not empty.
    """
    return Collection.create(folder, PICTURES, n_bits=n_bits, reader=reader)


def _search(album: Collection, seconds: float) -> ClipArt:
    """Search an album by names, and by the best picture of each of the first names."""
    found = album.search_each([Query(name=name, k=N_SHOWN) for name in NAMES])
    best = [matches[0].item for matches in found[:N_EXAMPLES]]
    near = album.search_each([Query(item=item.id, k=N_SHOWN + 1) for item in best])
    return ClipArt(
        n=len(album),
        n_bits=album.n_bits,
        seconds=seconds,
        names=dict(zip(NAMES, found, strict=True)),
        examples=[(item, _others(item, others)) for item, others in zip(best, near, strict=True)],
    )


def _others(item: Item, found: Found) -> list[Match]:
    """What a picture has found besides itself."""
    return [match for match in found if match.id != item.id][:N_SHOWN]


def _told(found: Sequence[Match]) -> list[dict[str, Any]]:
    return [{"file": _file(match.path), "score": match.score} for match in found]


def _file(path: str | None) -> str:
    return Path(path or "").name
