"""CIFAR-10 and CIFAR-100, in the Python and in the binary layout."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from zshash._pickles import ARRAYS, PickledArray, SafeUnpickler, UnpicklingError
from zshash.datasets.data import DataError, Pictures, read_lines, unreadable

__all__ = ["is_cifar", "read_cifar"]

SHAPE = (3, 32, 32)
N_PIXELS = 3 * 32 * 32
Which = Literal["cifar10", "cifar100"]
Batch = tuple[NDArray[np.uint8], NDArray[np.int64]]


@dataclass(frozen=True)
class Layout:
    """File layout of one published archive.

    Attributes
    ----------
    which : {"cifar10", "cifar100"}
    archive : str
        Name of the archive's folder.
    batches : tuple of str
        Files with pictures, in their order.
    names : str
        File with the names of the categories.
    coarse_names : str
        File with the names of the coarse categories, if any.
    """

    which: Which
    archive: str
    batches: tuple[str, ...]
    names: str
    coarse_names: str = ""

    @property
    def is_binary(self) -> bool:
        """Whether pictures are records of bytes, not pickles."""
        return self.batches[0].endswith(".bin")


BATCHES = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")
LAYOUTS = (
    Layout("cifar10", "cifar-10-batches-py", BATCHES, "batches.meta"),
    Layout("cifar100", "cifar-100-python", ("train", "test"), "meta", "meta"),
    Layout(
        "cifar10",
        "cifar-10-batches-bin",
        tuple(f"{batch}.bin" for batch in BATCHES),
        "batches.meta.txt",
    ),
    Layout(
        "cifar100",
        "cifar-100-binary",
        ("train.bin", "test.bin"),
        "fine_label_names.txt",
        "coarse_label_names.txt",
    ),
)


def is_cifar(folder: Path) -> bool:
    """Whether a folder holds CIFAR-10 or CIFAR-100, directly or in the folder of an archive."""
    return bool(_found(folder, None))


def read_cifar(path: str | Path, which: Which | None = None, coarse: bool = False) -> Pictures:
    """Read CIFAR-10 or CIFAR-100.

    Parameters
    ----------
    path : path-like
        The folder of an unpacked archive, of the Python or of the binary version; or the folder
        above it.
    which : {"cifar10", "cifar100"}, optional
        Needed where a folder holds both.
    coarse : bool
        Whether the 20 coarse categories of CIFAR-100 are the labels, not the 100 fine ones.

    Returns
    -------
    Pictures
        All pictures as one array of shape (n, 32, 32, 3), the test batch last.

    Raises
    ------
    DataError
        If files are missing or damaged.
    """
    folder, layout = _find(Path(path), which)
    if coarse and not layout.coarse_names:
        raise DataError(f"{path}: CIFAR-10 has no coarse categories")
    _check_files(folder, layout, coarse)
    names = _read_names(folder, layout, coarse)
    read = _read_binary if layout.is_binary else _read_pickle
    batches = [read(folder / name, layout, coarse) for name in layout.batches]
    for name, (_, labels) in zip(layout.batches, batches, strict=True):
        _check_labels(folder / name, labels, len(names))
    pixels = np.concatenate([pixels for pixels, _ in batches])
    return Pictures(pixels, np.concatenate([labels for _, labels in batches]), names)


def _find(path: Path, which: Which | None) -> tuple[Path, Layout]:
    found = _found(path, which)
    if not found:
        raise DataError(f"{path}: none of the files of {which or 'cifar10 or cifar100'} is there")
    if len(found) > 1:
        folders = ", ".join(str(folder) for folder, _ in found)
        raise DataError(f"{path}: several versions of CIFAR are there: give one of {folders}")
    return found[0]


def _found(path: Path, which: Which | None) -> list[tuple[Path, Layout]]:
    """Folders and layouts with at least two files: a file "train" alone may be anything."""
    return [
        (folder, layout)
        for layout in LAYOUTS
        if which in (None, layout.which)
        for folder in (path, path / layout.archive)
        if sum((folder / name).is_file() for name in (*layout.batches, layout.names)) >= 2
    ]


def _check_files(folder: Path, layout: Layout, coarse: bool) -> None:
    names = layout.coarse_names if coarse else layout.names
    missing = [name for name in (*layout.batches, names) if not (folder / name).is_file()]
    if missing:
        raise DataError(f"{folder}: {', '.join(missing)} of {layout.which} missing")


def _read_names(folder: Path, layout: Layout, coarse: bool) -> tuple[str, ...]:
    path = folder / (layout.coarse_names if coarse else layout.names)
    if layout.is_binary:
        names = [line.strip() for line in read_lines(path) if line.strip()]
    else:
        key = "label_names" if layout.which == "cifar10" else f"{_kind(coarse)}_label_names"
        names = [_text(name) for name in _listed(path, _unpickle(path), key)]
    expected = 10 if layout.which == "cifar10" else 20 if coarse else 100
    if len(names) != expected or len(set(names)) != expected or not all(names):
        raise DataError(f"{path}: {expected} names of categories expected, got {len(set(names))}")
    return tuple(names)


def _kind(coarse: bool) -> str:
    return "coarse" if coarse else "fine"


def _read_binary(path: Path, layout: Layout, coarse: bool) -> Batch:
    """Pictures and labels from records: labels, a byte each (CIFAR-100: coarse first), pixels."""
    n_labels = 1 if layout.which == "cifar10" else 2
    try:
        content = np.fromfile(path, dtype=np.uint8)
    except OSError as error:
        raise unreadable(path, error) from error
    if not content.size or content.size % (n_labels + N_PIXELS):
        raise DataError(f"{path}: {content.size} bytes, not whole pictures: the file is damaged")
    records = content.reshape(-1, n_labels + N_PIXELS)
    labels = records[:, 0 if coarse else n_labels - 1].astype(np.int64)
    return _upright(records[:, n_labels:]), labels


def _read_pickle(path: Path, layout: Layout, coarse: bool) -> Batch:
    batch = _unpickle(path)
    try:
        if not isinstance(batch["data"], PickledArray):
            raise ValueError("no array")
        pixels = np.asarray(batch["data"])
    except (KeyError, ValueError, UnpicklingError) as error:
        raise DataError(f"{path}: damaged: it holds no pictures") from error
    if pixels.dtype != np.uint8 or pixels.ndim != 2 or pixels.shape[1] != N_PIXELS:
        raise DataError(
            f"{path}: pictures must be {N_PIXELS} bytes each, got shape {pixels.shape} of "
            f"{pixels.dtype}"
        )
    key = "labels" if layout.which == "cifar10" else f"{_kind(coarse)}_labels"
    labels = _listed(path, batch, key)
    if len(labels) != len(pixels) or not labels:
        raise DataError(f"{path}: {len(labels)} labels for {len(pixels)} pictures")
    if not all(type(label) is int and 0 <= label < 100 for label in labels):
        raise DataError(f"{path}: labels must be whole numbers from 0 to 99")
    return _upright(pixels), np.array(labels, dtype=np.int64)


def _unpickle(path: Path) -> dict[str, Any]:
    """Pickled dictionary with its keys as text, whether Python 2 or 3 wrote it."""
    try:
        with path.open("rb") as file:
            content = SafeUnpickler(file, ARRAYS).load()
    except OSError as error:
        raise unreadable(path, error) from error
    except UnpicklingError as error:
        raise DataError(f"{path}: damaged, or no file of CIFAR: {error}") from error
    if not isinstance(content, dict):
        raise DataError(f"{path}: no file of CIFAR: a dictionary expected")
    return {_text(key): value for key, value in content.items()}


def _listed(path: Path, content: dict[str, Any], key: str) -> list[Any]:
    value = content.get(key)
    if not isinstance(value, list):
        raise DataError(f"{path}: no file of CIFAR: there is no list {key!r}")
    return value


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else ""  # printing anything else may never end


def _upright(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Turn rows of red, green and blue planes into pictures of shape (n, 32, 32, 3)."""
    return np.ascontiguousarray(pixels.reshape(-1, *SHAPE).transpose(0, 2, 3, 1))


def _check_labels(path: Path, labels: NDArray[np.int64], n_names: int) -> None:
    if labels.max() >= n_names:
        raise DataError(f"{path}: label {labels.max()}, but there are {n_names} categories")
