"""Pictures in a folder, at any depth, with labels from the names of folders."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash._warnings import listed, warn_user
from zshash.datasets.data import DataError, Pictures, number_labels
from zshash.datasets.folder_labels import FolderLabels, label_tree
from zshash.datasets.folder_names import as_label, is_plain_folder
from zshash.datasets.listing import SUFFIXES, VIDEOS, Listing, list_tree
from zshash.datasets.synset_names import is_synset, synset_names, tell_apart
from zshash.datasets.tiny_imagenet import is_tiny_imagenet, read_tiny_imagenet

__all__ = [
    "FROM_FOLDERS",
    "SUFFIXES",
    "FolderWarning",
    "labels_told",
    "read_folder",
    "read_imagenet",
    "warn_of_plain",
]

TABLES = (".npy", ".npz", ".parquet")
"""Endings of tables of features, which are not read as pictures."""

FROM_FOLDERS = ("auto", "folders", "none")
"""Ways to take the names of folders as labels."""

MOST_TOLD = 8


class FolderWarning(UserWarning):
    """Folders whose names are not taken as labels."""


def read_folder(path: str | Path, *, labels: str = "auto") -> Pictures:
    """Read the pictures of a folder.

    Parameters
    ----------
    path : path-like
        A folder with pictures at any depth. Hidden files do not count, nor do files that are no
        pictures, small copies that programs made, and bins.

        - A picture's label is the name of the first folder on the way to it that looks like a
          category. Folders that are named by a date, a number, a camera or a program ("2021-08",
          "100CANON", "New folder") do not; but numbers do if there are no other names and none of
          the numbers is a year or a date. Pictures in no such folder have no label.
        - A folder that holds all pictures is no category if there are categories in it.
        - Where a folder is named by a WordNet id ("n02123045"), its name comes from a
          ``words.txt`` beside the folders of categories or one folder above, else from WordNet.
        - Where there is nothing but folders ``train``, ``val`` (``valid``, ``validation``) and
          ``test``, the categories are in these.
        - Tiny-ImageNet-200 is read as it is published.
    labels : {"auto", "folders", "none"}
        Take the names of folders that look like categories, of every folder, or of none.

    Returns
    -------
    Pictures
        Sorted by their paths, training pictures first.

    Raises
    ------
    DataError
        If there are no pictures, or the folder can not be read.

    Warns
    -----
    UserWarning
        If folders of categories hold no pictures, folders can not be read, or files are videos or
        pictures of a kind that is not read; these are left out.
    """
    root = Path(path)
    if labels not in FROM_FOLDERS:
        raise ValueError(f"labels must be {listed(FROM_FOLDERS, 'or')}, not {labels!r}")
    if labels != "none" and is_tiny_imagenet(root):
        return read_tiny_imagenet(root)
    pictures, numbers = _numbered(root, every=labels == "folders")
    if labels == "none":
        return Pictures(pictures.sources)
    if not pictures.names:
        return pictures
    return replace(pictures, labels=number_labels(numbers, len(pictures.names)))


def read_imagenet(path: str | Path) -> Pictures:
    """Read ImageNet: folders named by WordNet ids, or ``train`` and ``val`` with such folders.

    The folders may also be in ``ILSVRC/Data/CLS-LOC``, where the archives of ILSVRC put them.
    Pictures without labels are left out, with a warning.
    """
    root = Path(path)
    homes = (root / "ILSVRC" / "Data" / "CLS-LOC", root / "Data" / "CLS-LOC", root)
    pictures, numbers = _numbered(next((home for home in homes if home.is_dir()), root))
    if not pictures.synsets or not all(pictures.synsets):
        raise DataError(f"{root}: not ImageNet: folders such as n02123045 are expected")
    labelled = np.flatnonzero(numbers >= 0)
    if len(labelled) < len(numbers):
        left_out = len(numbers) - len(labelled)
        warn_user(f"{root}: {left_out} pictures without labels: left out")
    return replace(pictures.select(labelled), labels=numbers[labelled])


def warn_of_plain(data: object, origin: str | Path) -> None:
    """Warn with a `FolderWarning` if data are pictures in folders whose names are no labels."""
    names = data.plain_folders if isinstance(data, Pictures) else ()
    if names:
        are = "is no label" if len(names) == 1 else "are no labels"
        warn_user(
            f"{origin}: {listed(names)} {are}: the names of dates, numbers, cameras and "
            "programs do not say what pictures show",
            FolderWarning,
        )


def labels_told(pictures: Pictures) -> str:
    """Labels of pictures with their numbers, and folders that are no labels, for people to read.

    >>> sources = (Path("cat/1.jpg"), Path("cat/2.jpg"), Path("2021/3.jpg"))
    >>> labels = number_labels([0, 0, -1], 1)
    >>> labels_told(Pictures(sources, labels, ("cat",), (), None, "folders", ("2021",)))
    'labels from folders: cat (2); no labels: 2021'
    """
    parts = []
    if pictures.labels is not None:
        origin = f" from {pictures.labels_from}" if pictures.labels_from else ""
        parts.append(f"labels{origin}: {', '.join(_most_frequent(pictures))}")
    if pictures.plain_folders:
        parts.append(f"no labels: {', '.join(_first(pictures.plain_folders))}")
    return "; ".join(parts) or "no labels"


def _most_frequent(pictures: Pictures) -> Iterator[str]:
    assert pictures.labels is not None
    is_numbers = pictures.labels.ndim == 1
    n = len(pictures.names)
    counts = np.bincount(pictures.labels, minlength=n) if is_numbers else pictures.labels.sum(0)
    order = [number for number in np.argsort(-counts, kind="stable") if counts[number]]
    return _first([f"{pictures.names[number]} ({counts[number]})" for number in order])


def _first(words: Sequence[str]) -> Iterator[str]:
    yield from words[:MOST_TOLD]
    if len(words) > MOST_TOLD:
        yield f"and {len(words) - MOST_TOLD} more"


def _numbered(root: Path, every: bool = False) -> tuple[Pictures, NDArray[np.int64]]:
    """Pictures of a tree with names of categories; number of each one's category, −1 for none."""
    if not root.is_dir():
        raise DataError(f"{root}: there is no such folder")
    listing = list_tree(root)
    left_out = list(_left_out(listing))
    if not listing.pictures:
        what = [f"{root}: there are no pictures in this folder{_tables_in(root)}", *left_out]
        raise DataError("; ".join(what))
    if left_out:
        warn_user(f"{root}: {'; '.join(left_out)}")
    found = label_tree(listing, every)
    homes = np.array(listing.homes, dtype=np.int64)
    labels = sorted({found.labels[home] for home in set(listing.homes)} - {""})
    places = {label: number for number, label in enumerate(labels)}
    numbers = np.array([places.get(label, -1) for label in found.labels], dtype=np.int64)[homes]
    if (numbers >= 0).all():
        _warn_of_empty(root, listing, found)
    order = np.argsort(np.array(found.parts)[homes], kind="stable")
    names, synsets = _names(root, _paths(root, listing, found.tops), labels)
    pictures = Pictures(
        tuple(listing.pictures[row] for row in order.tolist()),
        names=names,
        synsets=synsets,
        labels_from="folders" if labels else "",
        plain_folders=tuple(_plain(listing, found)),
    )
    return pictures, numbers[order]


def _left_out(listing: Listing) -> Iterator[str]:
    """Phrases on what is left out."""
    videos = {ending: n for ending, n in listing.left_out.items() if ending in VIDEOS}
    others = {ending: n for ending, n in listing.left_out.items() if ending not in VIDEOS}
    if others:
        yield f"pictures of kinds that are not read are left out ({_kinds(others)}): convert them"
    if videos:
        yield f"videos are left out ({_kinds(videos)})"
    if listing.unreadable:
        reasons = [f"{folder} ({reason})" for folder, reason in listing.unreadable.items()]
        yield f"folders that can not be read are left out: {listed(reasons)}"


def _kinds(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {ending}" for ending, count in sorted(counts.items()))


def _tables_in(root: Path) -> str:
    """A hint for the message, where a folder holds tables of features."""
    if not any(path.suffix.lower() in TABLES for path in root.iterdir()):
        return ""
    return ", but tables: give one of them, or the folder to zshash fit, encode or info"


def _warn_of_empty(root: Path, listing: Listing, found: FolderLabels) -> None:
    """Warn of folders beside those of categories that hold no pictures."""
    beside = {
        n: as_label(name)
        for n, (name, parent) in enumerate(listing.folders)
        if parent in found.tops
    }
    full = {beside.get(found.branches[home]) for home in set(listing.homes)}
    empty = sorted(name for name in set(beside.values()) - full if not is_plain_folder(name))
    if empty:
        warn_user(f"{root}: no pictures in {listed(empty)}: left out")


def _plain(listing: Listing, found: FolderLabels) -> list[str]:
    """Names of folders directly in the tops that hold pictures without a label."""
    bare = {found.branches[home] for home in set(listing.homes) if not found.labels[home]} - {-1}
    return sorted({as_label(listing.folders[number].name) for number in bare})


def _paths(root: Path, listing: Listing, numbers: Iterable[int]) -> list[Path]:
    """Paths of folders."""
    paths = []
    for number in numbers:
        names = []
        while number:
            name, number = listing.folders[number]
            names.append(name)
        paths.append(root.joinpath(*reversed(names)))
    return paths


def _names(
    root: Path, tops: Sequence[Path], labels: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the categories, and their WordNet ids where folders are named by ids."""
    ids = tuple(label if is_synset(label) else "" for label in labels)
    if not any(ids):
        return tuple(labels), ()
    above = root.resolve().parent if tops[0] == root else tops[0].parent
    found = [synset for synset in ids if synset]
    words = dict(zip(found, synset_names(found, [*tops, above]), strict=True))
    return tell_apart([words.get(label, label) for label in labels], ids, root), ids
