"""MNIST and Fashion-MNIST: arrays of bytes in files of the type idx, plain or packed with gzip.

An idx file begins with two zeros, the type (8: bytes) and the number of dimensions, one byte each;
then come the dimensions, four bytes each.
"""

import gzip
import zlib
from io import BufferedIOBase
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash.datasets.data import DataError, Pictures, unreadable
from zshash.datasets.digits import NAMES as DIGITS

__all__ = ["is_idx", "read_idx"]

FASHION = (
    "t-shirt", "trouser", "pullover", "dress", "coat",
    "sandal", "shirt", "sneaker", "bag", "ankle boot",
)  # fmt: skip
FOLDERS = (".", "raw", "MNIST/raw", "FashionMNIST/raw")
PARTS = ("train", "t10k")
SIDE = 28
# the highest ratio that deflate, the compression of gzip, can reach
MAX_PACKED = 1032


def is_idx(folder: Path) -> bool:
    """Whether a folder holds MNIST or Fashion-MNIST, directly or where PyTorch puts the files."""
    return bool(_homes(folder, None))


def read_idx(path: str | Path, fashion: bool | None = None) -> Pictures:
    """Read MNIST or Fashion-MNIST.

    Parameters
    ----------
    path : path-like
        A folder with ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte`` and the same with
        ``t10k``, plain or as ``.gz``; or a folder with these files in ``raw``, ``MNIST/raw`` or
        ``FashionMNIST/raw``.
    fashion : bool, optional
        Whether the data is Fashion-MNIST; by default, whether the name of the folder says so.

    Returns
    -------
    Pictures
        All pictures as one array of shape (n, 28, 28), training pictures first.

    Raises
    ------
    DataError
        If files are missing or damaged.
    """
    path = Path(path)
    homes = _homes(path, fashion)
    if not homes:
        raise DataError(f"{path}: there is no file such as train-images-idx3-ubyte")
    if len(homes) > 1:
        raise DataError(f"{path}: several data sets are there: give one of {_listed(homes)}")
    home = homes[0]
    parts = [_read_part(home, part) for part in PARTS]
    names = FASHION if fashion or (fashion is None and _is_fashion(path, home)) else DIGITS
    return Pictures(
        np.concatenate([pixels for pixels, _ in parts]),
        np.concatenate([labels for _, labels in parts]).astype(np.int64),
        names,
    )


def _homes(folder: Path, fashion: bool | None) -> list[Path]:
    homes = [folder / name for name in FOLDERS if _any_file(folder / name)]
    if fashion is not None and len(homes) > 1:
        homes = [home for home in homes if _is_fashion(folder, home) == fashion]
    return homes


def _any_file(folder: Path) -> bool:
    return any(_file(folder, part, kind) for part in PARTS for kind in ("images", "labels"))


def _file(folder: Path, part: str, kind: str) -> Path | None:
    n_dimensions = 3 if kind == "images" else 1
    for mark in "-.":
        for suffix in ("", ".gz"):
            path = folder / f"{part}-{kind}{mark}idx{n_dimensions}-ubyte{suffix}"
            if path.is_file():
                return path
    return None


def _is_fashion(folder: Path, home: Path) -> bool:
    """Whether the given folder, or one between it and the files, has "fashion" in its name."""
    named = folder.resolve()
    if named.name == "raw":
        named = named.parent
    return "fashion" in f"{named.name}/{home.relative_to(folder)}".lower()


def _listed(paths: list[Path]) -> str:
    return ", ".join(map(str, paths))


def _read_part(folder: Path, part: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    pixels = _read(folder, part, "images")
    labels = _read(folder, part, "labels")
    if len(labels) != len(pixels):
        raise DataError(f"{folder}: {len(labels)} labels for {len(pixels)} pictures of {part}")
    if labels.max() >= len(DIGITS):
        raise DataError(f"{folder}: label {labels.max()} in {part}, the highest is 9")
    return pixels, labels


def _read(folder: Path, part: str, kind: str) -> NDArray[np.uint8]:
    path = _file(folder, part, kind)
    if path is None:
        raise DataError(f"{folder}: the {kind} of {part} are missing")
    sides = (SIDE, SIDE) if kind == "images" else ()
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return _read_array(path, file, sides)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: the file is damaged or cut off") from error
    except OSError as error:
        raise unreadable(path, error) from error


def _read_array(path: Path, file: BufferedIOBase, sides: tuple[int, ...]) -> NDArray[np.uint8]:
    """Array of shape (n, *sides) from a file that is exactly as long as its header says."""
    magic = bytes([0, 0, 8, 1 + len(sides)])
    header = file.read(4 + 4 * (1 + len(sides)))
    if header[:4] != magic or len(header) < 4 + 4 * (1 + len(sides)):
        raise DataError(f"{path}: not a file of type idx with {1 + len(sides)} dimensions")
    n, *shape = np.frombuffer(header, ">u4", offset=4).tolist()
    if tuple(shape) != sides or not n:
        raise DataError(f"{path}: dimensions {n, *shape}, expected {('n', *sides)}")
    size = int(np.prod([n, *shape]))
    _check_size(path, size)
    content = bytearray(size)
    if _fill(file, content) < size:
        raise DataError(f"{path}: cut off: its header promises {size} bytes")
    if file.read(1):
        raise DataError(f"{path}: damaged: longer than the {size} bytes that its header promises")
    return np.frombuffer(content, np.uint8).reshape(n, *sides)


def _check_size(path: Path, size: int) -> None:
    """Refuse a header that promises more than the file can hold, before memory is taken."""
    packed = path.suffix == ".gz"
    if size > path.stat().st_size * (MAX_PACKED if packed else 1):
        raise DataError(f"{path}: cut off: its header promises {size} bytes")


def _fill(file: BufferedIOBase, content: bytearray) -> int:
    view = memoryview(content)
    filled = 0
    while filled < len(content):
        n_read = file.readinto(view[filled:])
        if not n_read:
            break
        filled += n_read
    return filled
