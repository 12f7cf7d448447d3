"""Known data sets, fetched from where they are published and checked."""

import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from logging import WARNING, Logger
from pathlib import Path, PurePosixPath, PureWindowsPath
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from zshash._cache import cache_folder
from zshash._extras import needs
from zshash.datasets.data import DataError, unreadable

__all__ = ["ELSEWHERE", "INSTALLED", "KNOWN", "Archive", "DownloadError", "download", "fetch"]


class Archive(NamedTuple):
    """A file of a data set: its address, and the checksum of its content."""

    url: str
    checksum: str


CIFAR = "https://www.cs.toronto.edu/~kriz/"
MNIST = "https://storage.googleapis.com/cvdf-datasets/mnist/"
FASHION = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"

KNOWN: dict[str, tuple[Archive, ...]] = {
    "cifar10": (
        Archive(
            f"{CIFAR}cifar-10-python.tar.gz",
            "sha256:6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
        ),
    ),
    "cifar100": (
        Archive(
            f"{CIFAR}cifar-100-python.tar.gz",
            "sha256:85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7",
        ),
    ),
    "mnist": (
        Archive(
            f"{MNIST}train-images-idx3-ubyte.gz",
            "sha256:440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        ),
        Archive(
            f"{MNIST}train-labels-idx1-ubyte.gz",
            "sha256:3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        ),
        Archive(
            f"{MNIST}t10k-images-idx3-ubyte.gz",
            "sha256:8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        ),
        Archive(
            f"{MNIST}t10k-labels-idx1-ubyte.gz",
            "sha256:f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        ),
    ),
    "fashion-mnist": (
        Archive(
            f"{FASHION}train-images-idx3-ubyte.gz",
            "sha256:3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        ),
        Archive(
            f"{FASHION}train-labels-idx1-ubyte.gz",
            "sha256:a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        ),
        Archive(
            f"{FASHION}t10k-images-idx3-ubyte.gz",
            "sha256:346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        ),
        Archive(
            f"{FASHION}t10k-labels-idx1-ubyte.gz",
            "sha256:67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        ),
    ),
    "tiny-imagenet": (
        Archive(
            "https://cs231n.stanford.edu/tiny-imagenet-200.zip",
            "sha256:6198c8ae015e2b3e007c7841da39ec069199b9aa3bfa943a462022fe5e43c821",
        ),
    ),
}
"""Files of the data sets that can be fetched."""

INSTALLED = {"clipart": Path("/usr/share/openclipart/png")}
"""Folders of data sets that packages of Debian install."""

ELSEWHERE = {
    "clipart": "its drawings are in Debian's package openclipart-png: install or unpack it",
    "imagenet": "ImageNet may not be passed on: get ILSVRC from https://image-net.org/download "
    "after signing up there",
    "mirflickr25k": "get mirflickr25k.zip and mirflickr25k_annotations_v080.zip from "
    "https://press.liacs.nl/mirflickr/mirdownload.html, and unpack the second into a folder "
    "mirflickr25k_annotations_v080 beside the pictures",
}
"""Where to get the data sets that can not be fetched."""


class DownloadError(DataError):
    """A data set that can not be fetched; the message says how else to get it."""


def fetch(name: str) -> Path:
    """Fetch a known data set, unless an earlier call has fetched it or a package installed it.

    Parameters
    ----------
    name : str
        One of `KNOWN` or `INSTALLED`.

    Returns
    -------
    Path
        The installed folder, or one in the cache; the environment variable ``ZSHASH_CACHE`` can
        name another cache.

    Raises
    ------
    DataError
        If the data set can not be fetched, or differs from what was published.
    """
    if name in INSTALLED and INSTALLED[name].is_dir():
        return INSTALLED[name]
    if name in ELSEWHERE:
        raise DownloadError(f"{name}: {ELSEWHERE[name]}; then read the data from that folder")
    if name not in KNOWN:
        raise DataError(f"{name}: not one of the known data sets {', '.join(KNOWN)}")
    return download(name, KNOWN[name], cache_folder("datasets", name))


def download(name: str, archives: Sequence[Archive], folder: Path) -> Path:
    """Fetch archives, check and unpack them, all or nothing.

    Parameters
    ----------
    name : str
        Name of the data in messages.
    archives : sequence of Archive
    folder : Path
        Folder to work in; the data is then in its folder ``files``.
    """
    target = folder / "files"
    if target.is_dir():
        return target
    # a temporary folder, as another process may fetch the same data at the same time
    with TemporaryDirectory(prefix=".fetching-", dir=folder, ignore_cleanup_errors=True) as work:
        whole = Path(work) / "files"
        whole.mkdir()
        for archive in archives:
            path = _retrieve(name, archive, Path(work))
            _unpack(name, path, whole)
            path.unlink(missing_ok=True)
        _rename(whole, target)
    return target


def _retrieve(name: str, archive: Archive, folder: Path) -> Path:
    with needs("images"):
        import pooch
    try:
        with _quiet(pooch.get_logger()):
            path = pooch.retrieve(
                archive.url,
                known_hash=archive.checksum,
                fname=PurePosixPath(archive.url).name,
                path=folder,
                progressbar=sys.stderr.isatty(),
            )
    except ValueError as error:  # raised by pooch, and for an address that makes no sense
        raise DownloadError(
            f"{name}: the file from {archive.url} is not the one that was published (its checksum "
            "differs): try again, or read the data from a folder that holds them"
        ) from error
    except OSError as error:
        raise DownloadError(
            f"{name}: could not be downloaded from {archive.url} ({_reason(error)}): try again, "
            "or read the data from a folder that holds them"
        ) from error
    return Path(path)


@contextmanager
def _quiet(logger: Logger) -> Iterator[None]:
    """Silence the log line for each file: a progress bar shows the same."""
    level = logger.level
    logger.setLevel(WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _reason(error: OSError) -> str:
    """Why a download failed, in a few words."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code}"
    return error.strerror or "no connection"


def _unpack(name: str, path: Path, folder: Path) -> None:
    """Unpack an archive into a folder; a file that is no archive is moved there."""
    try:
        if path.name.endswith((".tar.gz", ".tgz", ".tar")):
            _untar(path, folder)
        elif path.suffix == ".zip":
            _unzip(path, folder)
        else:
            path.rename(folder / path.name)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        reason = getattr(error, "strerror", None) or "it is damaged, or not safe"
        raise DataError(f"{name}: {path.name} can not be unpacked: {reason}") from error


def _untar(path: Path, folder: Path) -> None:
    # Python 3.11.3 and earlier have no filter, so members are checked here as well
    options: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        if not all((each.isreg() or each.isdir()) and _stays_inside(each.name) for each in members):
            raise tarfile.TarError("a file would be outside of the folder")
        archive.extractall(folder, members, **options)


def _unzip(path: Path, folder: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        if not all(map(_stays_inside, archive.namelist())):
            raise zipfile.BadZipFile("a file would be outside of the folder")
        archive.extractall(folder)


def _stays_inside(name: str) -> bool:
    r"""Whether a name in an archive stays below the folder, on any operating system.

    >>> _stays_inside("val/images/1.JPEG"), _stays_inside("../1.JPEG"), _stays_inside("C:\\1.JPEG")
    (True, False, False)
    """
    windows = PureWindowsPath(name)
    return not windows.anchor and ".." not in windows.parts


def _rename(whole: Path, target: Path) -> None:
    try:
        whole.rename(target)
    except OSError as error:
        if not target.is_dir():  # else another process was faster, with the same content
            raise unreadable(target, error) from error
