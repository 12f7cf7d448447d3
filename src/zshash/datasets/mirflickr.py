"""MIRFlickr-25K: pictures of Flickr with several tags each."""

import os
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash.datasets.data import DataError, Pictures, read_lines
from zshash.datasets.listing import contents

__all__ = ["is_mirflickr", "read_mirflickr"]

ARCHIVE = "mirflickr"
N_PICTURES = 25000
RELEVANT = "_r1"
TAGS = frozenset([
    "animals", "baby", "bird", "car", "clouds", "dog", "female", "flower", "food", "indoor", "lake",
    "male", "night", "people", "plant_life", "portrait", "river", "sea", "sky", "structures",
    "sunset", "transport", "tree", "water",
])  # fmt: skip


def is_mirflickr(folder: Path) -> bool:
    """Whether a folder holds pictures of MIRFlickr and files of its tags."""
    if not any(_has_pictures(home) for home in (folder, folder / ARCHIVE)):
        return False
    annotations = _annotations(folder)
    return annotations is not None and any((annotations / f"{tag}.txt").is_file() for tag in TAGS)


def _has_pictures(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(_number(entry.name) for entry in entries)
    except OSError:
        return False


def read_mirflickr(path: str | Path, relevant: bool = False) -> Pictures:
    """Read MIRFlickr-25K, or some of its pictures.

    Parameters
    ----------
    path : path-like
        A folder with ``im1.jpg`` … ``im25000.jpg``, or with these in ``mirflickr``. Each tag is a
        file ``TAG.txt`` with the numbers of its pictures, in a folder whose name contains
        "annotations", inside or beside the given folder.
    relevant : bool
        Whether to use only tags that were checked to be relevant (``TAG_r1.txt``), not tags that
        may apply.

    Returns
    -------
    Pictures
        In the order of their numbers, labels as a matrix of shape (n, number of tags). Numbers
        without a picture in the folder do not count.

    Raises
    ------
    DataError
        If there are no pictures or no tags, or a line is not a number of the collection.
    """
    path = Path(path)
    pictures = _pictures(path)
    if not pictures:
        raise DataError(f"{path}: there are no pictures such as im1.jpg")
    folder = _annotations(path)
    if folder is None:
        raise DataError(
            f"{path}: there is no folder of annotations: unpack "
            "mirflickr25k_annotations_v080.zip into a folder with that name"
        )
    files = _tag_files(folder, relevant)
    if not files:
        raise DataError(f"{folder}: there are no files of tags such as sky.txt")
    places = {number: row for row, number in enumerate(pictures)}
    highest = max(N_PICTURES, *pictures)
    labels = np.zeros((len(pictures), len(files)), dtype=np.bool_)
    for column, file in enumerate(files.values()):
        labels[_rows(file, places, highest), column] = True
    return Pictures(tuple(pictures.values()), labels, tuple(files))


def _pictures(path: Path) -> dict[int, Path]:
    """Pictures by their number, ascending."""
    for folder in (path, path / ARCHIVE):
        if folder.is_dir():
            named = ((_number(picture.name), picture) for picture in contents(folder)[1])
            numbered = {number: picture for number, picture in named if number}
            if numbered:
                return dict(sorted(numbered.items()))
    return {}


def _number(name: str) -> int:
    """Number in the name of a picture, 0 for any other name.

    >>> _number("im25.jpg"), _number("image.jpg")
    (25, 0)
    """
    match = re.fullmatch(r"im([1-9][0-9]{0,6})\.jpg", name, re.IGNORECASE)
    return int(match[1]) if match else 0


def _annotations(path: Path) -> Path | None:
    """Folder of the tag files: inside, beside, or the folder of the pictures itself; or None."""
    for folder in (path, path / ARCHIVE, path.resolve().parent):
        for child in _folders_in(folder):
            if "annotations" in child.name.lower() and _tag_files(child, relevant=False):
                return child
    homes = (path, path / ARCHIVE)
    return next((home for home in homes if _tag_files(home, relevant=True)), None)


def _folders_in(folder: Path) -> list[Path]:
    try:
        return contents(folder)[0]
    except DataError:  # missing, or not readable
        return []


def _tag_files(folder: Path, relevant: bool) -> dict[str, Path]:
    """Tag files by tag, sorted."""
    files = {}
    for path in folder.glob("*.txt"):
        hidden = path.name.startswith(".") or path.stem.lower().startswith("readme")
        if not hidden and path.stem.endswith(RELEVANT) == relevant:
            files[path.stem.removesuffix(RELEVANT)] = path
    return dict(sorted(files.items()))


def _rows(file: Path, places: dict[int, int], highest: int) -> NDArray[np.int64]:
    """Rows of the pictures that a file lists."""
    rows = []
    for count, line in enumerate(read_lines(file), start=1):
        text = line.strip()
        if not text:
            continue
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 8 else 0
        if not 1 <= number <= highest:
            raise DataError(f"{file}: line {count}: {text[:20]!r} is no number of a picture")
        if number in places:
            rows.append(places[number])
    return np.array(rows, dtype=np.int64)
