"""Pictures in a folder for each category; ImageNet and Tiny-ImageNet, too."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from zshash.datasets.data import DataError, Pictures
from zshash.datasets.listing import SUFFIXES, contents, pictures_below, unread_below
from zshash.datasets.synset_names import is_synset, synset_names, tell_apart
from zshash.datasets.tiny_imagenet import is_tiny_imagenet, read_tiny_imagenet

__all__ = ["SUFFIXES", "read_folder", "read_imagenet"]

TABLES = (".npy", ".npz", ".parquet")
"""Endings of tables of features, which are not read as pictures."""

# in the order of their pictures in a data set
SPLITS = ("train", "val", "valid", "validation", "test")


class _Part(NamedTuple):
    """Pictures directly in a folder, and the pictures in its folders of categories."""

    folder: Path
    loose: list[Path]
    categories: dict[str, list[Path]]


def read_folder(path: str | Path) -> Pictures:
    """Read the pictures of a folder.

    Parameters
    ----------
    path : path-like
        A folder with one of these layouts. Hidden files and files that are no pictures do not
        count.

        - A folder for each category, with its pictures at any depth. Where all folders are named
          by WordNet ids ("n02123045"), names come from a ``words.txt`` in the folder or the one
          above it, else from WordNet.
        - Nothing but folders ``train``, ``val`` (``valid``, ``validation``) and ``test``, which
          hold folders of categories.
        - Tiny-ImageNet-200.
        - Pictures only: they have no labels.

    Returns
    -------
    Pictures
        Sorted by their paths, training pictures first.

    Raises
    ------
    DataError
        If there are no pictures, or pictures lie beside the folders of categories.

    Warns
    -----
    UserWarning
        If folders hold no pictures, pictures of a split have no labels, or pictures are of a kind
        that is not read; these are left out.
    """
    root = Path(path)
    if not root.is_dir():
        raise DataError(f"{root}: there is no such folder")
    if is_tiny_imagenet(root):
        return read_tiny_imagenet(root)
    _warn_of_unread(root)
    parts = [_read_part(folder) for folder in _splits(root)]
    labelled = [part for part in parts if part.categories]
    if not labelled:
        return _unlabelled(root, [picture for part in parts for picture in part.loose])
    _warn_of_loose(parts)
    _warn_of_empty(root, labelled)
    return _united(root, labelled)


def read_imagenet(path: str | Path) -> Pictures:
    """Read ImageNet: folders named by WordNet ids, or ``train`` and ``val`` with such folders.

    The folders may also be in ``ILSVRC/Data/CLS-LOC``, where the archives of ILSVRC put them.
    """
    root = Path(path)
    homes = (root / "ILSVRC" / "Data" / "CLS-LOC", root / "Data" / "CLS-LOC", root)
    pictures = read_folder(next((home for home in homes if home.is_dir()), root))
    if not pictures.synsets:
        raise DataError(f"{root}: not ImageNet: folders such as n02123045 are expected")
    return pictures


def _splits(root: Path) -> list[Path]:
    """Folders of the splits in their order; the folder itself where there are no splits."""
    folders, pictures = contents(root)
    names = {folder.name.lower() for folder in folders}
    if pictures or not names or not names <= set(SPLITS):
        return [root]
    return sorted(folders, key=lambda folder: SPLITS.index(folder.name.lower()))


def _read_part(folder: Path) -> _Part:
    folders, loose = contents(folder)
    categories = {home.name: pictures_below(home, folder) for home in folders}
    if not any(categories.values()):
        return _Part(folder, loose, {})
    if loose:
        raise DataError(
            f"{folder}: pictures are beside the folders of categories ({len(loose)}, such as "
            f"{loose[0].name}): move them into a folder for their category, or list all pictures "
            "in a CSV file with the columns path and label"
        )
    return _Part(folder, loose, categories)


def _unlabelled(root: Path, pictures: Sequence[Path]) -> Pictures:
    if not pictures:
        raise DataError(f"{root}: there are no pictures in this folder{_tables_in(root)}")
    return Pictures(tuple(pictures))


def _tables_in(root: Path) -> str:
    """A hint for the message, where a folder holds tables of features."""
    if not any(path.suffix.lower() in TABLES for path in root.iterdir()):
        return ""
    return ", but tables: give one of them, or the folder to zshash fit, encode or info"


def _warn_of_unread(root: Path) -> None:
    found = unread_below(root)
    if found:
        kinds = ", ".join(f"{count} {suffix}" for suffix, count in sorted(found.items()))
        message = (
            f"{root}: pictures of kinds that are not read are left out ({kinds}): convert them"
        )
        warnings.warn(message, UserWarning, stacklevel=3)


def _warn_of_loose(parts: Sequence[_Part]) -> None:
    for part in parts:
        if part.loose:
            message = f"{part.folder}: {len(part.loose)} pictures without labels: left out"
            warnings.warn(message, UserWarning, stacklevel=3)


def _warn_of_empty(root: Path, parts: Sequence[_Part]) -> None:
    empty = {name for part in parts for name in part.categories} - set(_found(parts))
    if empty:
        message = f"{root}: no pictures in {', '.join(sorted(empty))}: left out"
        warnings.warn(message, UserWarning, stacklevel=3)


def _found(parts: Sequence[_Part]) -> list[str]:
    """Categories that have pictures."""
    return sorted({name for part in parts for name, own in part.categories.items() if own})


def _united(root: Path, parts: Sequence[_Part]) -> Pictures:
    """Pictures of all parts, one part after the other, with the categories of all parts."""
    found = _found(parts)
    sources: list[Path] = []
    labels: list[int] = []
    for part in parts:
        for number, name in enumerate(found):
            own = part.categories.get(name, [])
            sources += own
            labels += [number] * len(own)
    names, synsets = _names(root, parts, found)
    return Pictures(tuple(sources), np.array(labels, dtype=np.int64), names, synsets)


def _names(
    root: Path, parts: Sequence[_Part], found: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the categories, and their WordNet ids where folders are named by ids."""
    if not all(map(is_synset, found)):
        return tuple(found), ()
    beside = [part.folder for part in parts]
    above = root.resolve().parent if beside == [root] else root
    return tell_apart(synset_names(found, [*beside, above]), found, root), tuple(found)
