"""Data of any kind, opened by its path or by the name of a known data set."""

import difflib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from zshash.datasets.cifar import is_cifar, read_cifar
from zshash.datasets.clipart import read_clipart
from zshash.datasets.data import DataError, Dataset, Pictures
from zshash.datasets.downloads import fetch
from zshash.datasets.folders import FROM_FOLDERS, read_folder, read_imagenet
from zshash.datasets.idx import is_idx, read_idx
from zshash.datasets.label_lists import with_listed_labels
from zshash.datasets.listing import is_picture
from zshash.datasets.manifests import read_manifest
from zshash.datasets.mirflickr import is_mirflickr, read_mirflickr
from zshash.datasets.tables import has_features, load_features
from zshash.datasets.tiny_imagenet import read_tiny_imagenet

__all__ = ["NAMES", "open_data"]

NAMED: dict[str, Callable[[Path], Pictures]] = {
    "cifar10": partial(read_cifar, which="cifar10"),
    "cifar100": partial(read_cifar, which="cifar100"),
    "mnist": partial(read_idx, fashion=False),
    "fashion-mnist": partial(read_idx, fashion=True),
    "tiny-imagenet": read_tiny_imagenet,
    "imagenet": read_imagenet,
    "mirflickr25k": read_mirflickr,
    "clipart": read_clipart,
}
NAMES = tuple(NAMED)
"""Data sets that are known by name."""

TABLES = (".npy", ".npz", ".csv", ".tsv", ".parquet")
ACCEPTED = (
    "a folder of pictures, a picture, a list of them (.csv, .tsv, .parquet) or features "
    "(.npy, .npz, .parquet)"
)


def open_data(
    source: str | Path, files: str | Path | None = None, *, labels: str | Path = "auto"
) -> Dataset | Pictures:
    """Read data of any known kind.

    Parameters
    ----------
    source : path-like
        A folder of pictures, in any layout that `read_folder`, `read_cifar`, `read_idx` or
        `read_mirflickr` knows; a picture; a manifest (`read_manifest`); a file of features
        (`load_features`); or, where there is no such file or folder, the name of a known data
        set, which is fetched.
    files : path-like, optional
        The folder where the files of the data set that `source` names are; nothing is fetched.
    labels : {"auto", "folders", "none"} or path-like
        Where labels come from. "auto": labels that come with the data, which for a folder of
        pictures are the names of folders that look like categories. "folders": the same, but the
        name of every folder is a label. "none": there are no labels. Or a list of files with
        their labels, as `with_listed_labels` reads it.

    Returns
    -------
    Dataset or Pictures
        Features, or pictures with their `root`.

    Raises
    ------
    DataError
        If nothing has this name, or the data can not be read.
    """
    if isinstance(labels, str) and labels in FROM_FOLDERS:
        data = _open(source, files, labels)
        return _unlabelled(data) if labels == "none" else data
    data = _open(source, files, "none")
    if isinstance(data, Dataset):
        raise DataError(f"{source}: features have labels of their own: a list names pictures only")
    home = Path(source if files is None else files)
    return with_listed_labels(data, labels, home if home.is_dir() else home.parent)


def _open(source: str | Path, files: str | Path | None, labels: str) -> Dataset | Pictures:
    if files is not None:
        return _read_named(str(source), Path(files))
    path = Path(source)
    if path.is_dir():
        return _rooted(_read_folder(path, labels), path)
    if path.is_file():
        return _read_file(path)
    if path.exists():
        raise DataError(f"{path}: neither a file nor a folder; give {ACCEPTED}")
    return _read_named(str(source), None)


def _unlabelled(data: Dataset | Pictures) -> Dataset | Pictures:
    return replace(data, labels=None, names=(), synsets=())


def is_data(path: Path) -> bool:
    """Whether a file name has an ending that `open_data` reads.

    >>> is_data(Path("features.npz")), is_data(Path("model.zshash"))
    (True, False)
    """
    return path.suffix.lower() in TABLES or is_picture(path.name)


def _rooted(pictures: Pictures, path: Path) -> Pictures:
    return replace(pictures, root=path.resolve())


def _read_folder(folder: Path, labels: str) -> Pictures:
    if is_cifar(folder):
        return read_cifar(folder)
    if is_idx(folder):
        return read_idx(folder)
    if is_mirflickr(folder):
        return read_mirflickr(folder)
    return read_folder(folder, labels=labels)


def _read_file(path: Path) -> Dataset | Pictures:
    suffix = path.suffix.lower()
    if suffix in (".npy", ".npz") or (suffix == ".parquet" and has_features(path)):
        return load_features(path)
    if suffix in (".csv", ".tsv", ".parquet"):
        return _rooted(read_manifest(path), path)
    if is_picture(path.name):
        return _rooted(Pictures((path,)), path)
    raise DataError(f"{path}: not a kind of file that is read here; give {ACCEPTED}")


def _read_named(name: str, folder: Path | None) -> Pictures:
    if name not in NAMED:
        raise _unknown(name, folder)
    if folder is None:
        folder = fetch(name)
    elif not folder.is_dir():
        raise DataError(f"{folder}: there is no such folder")
    return _rooted(NAMED[name](folder), folder)


def _unknown(name: str, folder: Path | None) -> DataError:
    may_be_name = Path(name).name == name and not Path(name).suffix
    near = difflib.get_close_matches(name.lower(), NAMES, n=1) if may_be_name else []
    if near:
        hint = f"did you mean {near[0]!r}?"
    elif folder is not None:
        hint = f"a folder of files can only be given for one of {', '.join(NAMES)}"
    elif may_be_name:
        hint = f"give {ACCEPTED}, or the name of a data set ({', '.join(NAMES)})"
    else:
        hint = f"give {ACCEPTED}"
    what = "there is no such file or folder" if folder is None else "not a known data set"
    return DataError(f"{name}: {what}; {hint}")
