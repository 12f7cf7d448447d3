"""Pictures in a folder for each category; ImageNet and Tiny-ImageNet, too."""

import warnings
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from zshash._warnings import listed, warn_user
from zshash.datasets.data import DataError, Pictures, number_labels
from zshash.datasets.folder_names import label_folders
from zshash.datasets.listing import SUFFIXES, contents, pictures_below, unread_below
from zshash.datasets.synset_names import is_synset, synset_names, tell_apart
from zshash.datasets.tiny_imagenet import is_tiny_imagenet, read_tiny_imagenet

__all__ = ["SUFFIXES", "FolderWarning", "read_folder", "read_imagenet"]

TABLES = (".npy", ".npz", ".parquet")
"""Endings of tables of features, which are not read as pictures."""

# in the order of their pictures in a data set
SPLITS = ("train", "val", "valid", "validation", "test")


class FolderWarning(UserWarning):
    """Folders whose names are not taken as labels."""


class _Part(NamedTuple):
    """Pictures directly in a folder, and the pictures in its folders."""

    folder: Path
    loose: list[Path]
    categories: dict[str, list[Path]]


def read_folder(path: str | Path, *, every_folder: bool = False) -> Pictures:
    """Read the pictures of a folder.

    Parameters
    ----------
    path : path-like
        A folder with one of these layouts. Hidden files and files that are no pictures do not
        count.

        - A folder for each category, with its pictures at any depth. Where a folder is named by a
          WordNet id ("n02123045"), its name comes from a ``words.txt`` in the folder or the one
          above it, else from WordNet. Pictures in folders that are named by a date, a number, a
          camera or a program ("2021-08", "100CANON", "New folder") have no labels; but numbers
          are labels if there are no other names and none of the numbers is a year or a date.
        - Nothing but folders ``train``, ``val`` (``valid``, ``validation``) and ``test``, which
          hold folders of categories.
        - Tiny-ImageNet-200.
        - Pictures only: they have no labels.
    every_folder : bool
        Whether the name of every folder is a label.

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
    FolderWarning
        If the names of some folders are not taken as labels.
    """
    root = Path(path)
    if not root.is_dir():
        raise DataError(f"{root}: there is no such folder")
    if is_tiny_imagenet(root):
        return read_tiny_imagenet(root)
    _warn_of_unread(root)
    parts = [_read_part(folder) for folder in _splits(root)]
    found = _found(parts)
    names = found if every_folder else sorted(label_folders(found))
    _warn_of_plain(root, [name for name in found if name not in names])
    if not names:
        return _unlabelled(root, parts)
    _check_loose(parts, names)
    labelled = [part for part in parts if part.categories]
    _warn_of_loose(parts)
    _warn_of_empty(root, labelled)
    return _united(root, labelled, names)


def read_imagenet(path: str | Path) -> Pictures:
    """Read ImageNet: folders named by WordNet ids, or ``train`` and ``val`` with such folders.

    The folders may also be in ``ILSVRC/Data/CLS-LOC``, where the archives of ILSVRC put them.
    """
    root = Path(path)
    homes = (root / "ILSVRC" / "Data" / "CLS-LOC", root / "Data" / "CLS-LOC", root)
    pictures = read_folder(next((home for home in homes if home.is_dir()), root))
    if not pictures.synsets or not all(pictures.synsets):
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
    return _Part(folder, loose, categories if any(categories.values()) else {})


def _check_loose(parts: Sequence[_Part], names: Collection[str]) -> None:
    for folder, loose, categories in parts:
        if loose and any(categories.get(name) for name in names):
            raise DataError(
                f"{folder}: pictures are beside the folders of categories ({len(loose)}, such as "
                f"{loose[0].name}): move them into a folder for their category, or list all "
                "pictures in a CSV file with the columns path and label"
            )


def _unlabelled(root: Path, parts: Sequence[_Part]) -> Pictures:
    pictures: list[Path] = []
    for _, loose, categories in parts:
        pictures += sorted([*loose, *(picture for own in categories.values() for picture in own)])
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


def _warn_of_plain(root: Path, names: Sequence[str]) -> None:
    if names:
        are = "is no label" if len(names) == 1 else "are no labels"
        warn_user(
            f"{root}: {listed(names)} {are}: the names of dates, numbers, cameras and programs do "
            "not say what pictures show",
            FolderWarning,
        )


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
    """Names of the folders that have pictures."""
    return sorted({name for part in parts for name, own in part.categories.items() if own})


def _united(root: Path, parts: Sequence[_Part], labels: Sequence[str]) -> Pictures:
    """Pictures of all parts, one part after the other, with the categories of all parts."""
    places = {name: number for number, name in enumerate(labels)}
    sources: list[Path] = []
    numbers: list[int] = []
    for part in parts:
        for name in sorted(part.categories):
            own = part.categories[name]
            sources += own
            numbers += [places.get(name, -1)] * len(own)
    names, synsets = _names(root, parts, labels)
    return Pictures(tuple(sources), number_labels(numbers, len(names)), names, synsets)


def _names(
    root: Path, parts: Sequence[_Part], labels: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the categories, and their WordNet ids where folders are named by ids."""
    ids = tuple(label if is_synset(label) else "" for label in labels)
    if not any(ids):
        return tuple(labels), ()
    beside = [part.folder for part in parts]
    above = root.resolve().parent if beside == [root] else root
    found = [synset for synset in ids if synset]
    words = dict(zip(found, synset_names(found, [*beside, above]), strict=True))
    return tell_apart([words.get(label, label) for label in labels], ids, root), ids
