"""Tiny-ImageNet-200 as it is published."""

from pathlib import Path

import numpy as np

from zshash._warnings import warn_user
from zshash.datasets.data import DataError, Pictures, read_lines
from zshash.datasets.listing import contents, pictures_below
from zshash.datasets.synset_names import is_synset, synset_names, tell_apart

__all__ = ["is_tiny_imagenet", "read_tiny_imagenet"]

ARCHIVE = "tiny-imagenet-200"
Labelled = list[tuple[Path, str]]


def is_tiny_imagenet(folder: Path) -> bool:
    """Whether a folder holds Tiny-ImageNet, directly or in the folder of its archive."""
    return _home(folder) is not None


def read_tiny_imagenet(path: str | Path) -> Pictures:
    """Read the training and validation pictures of Tiny-ImageNet; test pictures have no labels.

    Parameters
    ----------
    path : path-like
        A folder with ``wnids.txt``, ``words.txt``, ``train/WNID/images`` and ``val/images`` with
        ``val/val_annotations.txt``; or the folder that ``tiny-imagenet-200`` is in.

    Returns
    -------
    Pictures
        Training pictures first, each part sorted; categories in the order of their ids.

    Raises
    ------
    DataError
        If files are missing or contradict each other.
    """
    home = _home(Path(path))
    if home is None:
        raise DataError(f"{path}: not Tiny-ImageNet: there is no wnids.txt beside a folder train")
    known = {line.strip() for line in read_lines(home / "wnids.txt")} - {""}
    labelled = [*_folders(home / "train", known), *_validation(home / "val", known)]
    if not labelled:
        raise DataError(f"{home}: no pictures in train and val")
    synsets = sorted({synset for _, synset in labelled})
    if missing := sorted(known - set(synsets)):
        warn_user(f"{home}: no pictures of {', '.join(missing)}: left out")
    places = {synset: number for number, synset in enumerate(synsets)}
    return Pictures(
        tuple(picture for picture, _ in labelled),
        np.array([places[synset] for _, synset in labelled], dtype=np.int64),
        tell_apart(synset_names(synsets, [home]), synsets, home),
        tuple(synsets),
    )


def _home(folder: Path) -> Path | None:
    for home in (folder, folder / ARCHIVE):
        if (home / "wnids.txt").is_file() and (home / "train").is_dir():
            return home
    return None


def _folders(folder: Path, known: set[str]) -> Labelled:
    """Pictures with their WordNet ids, from a folder for each category."""
    labelled: Labelled = []
    for home in contents(folder)[0]:
        if home.name not in known:
            raise DataError(f"{home}: a category that is not in wnids.txt")
        labelled += [(picture, home.name) for picture in pictures_below(home, folder)]
    return labelled


def _validation(folder: Path, known: set[str]) -> Labelled:
    annotations = folder / "val_annotations.txt"
    if annotations.is_file():
        return _annotated(folder / "images", annotations, known)
    if folder.is_dir() and all(is_synset(home.name) for home in contents(folder)[0]):
        return _folders(folder, known)  # many people sort these pictures like the training pictures
    raise DataError(f"{annotations}: there is no such file, so the pictures in val have no labels")


def _annotated(folder: Path, annotations: Path, known: set[str]) -> Labelled:
    synsets = {}
    for number, line in enumerate(read_lines(annotations), start=1):
        if line.strip():
            name, _, rest = line.partition("\t")
            synset = rest.partition("\t")[0].strip()
            if synset not in known:
                raise DataError(f"{annotations}: line {number}: {synset!r} is not in wnids.txt")
            synsets[name] = synset
    _, pictures = contents(folder)
    strange = [picture for picture in pictures if picture.name not in synsets]
    if strange:
        raise DataError(f"{strange[0]}: not in {annotations.name}, so it has no label")
    return [(picture, synsets[picture.name]) for picture in pictures]
