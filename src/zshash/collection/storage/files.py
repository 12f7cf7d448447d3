"""Files of a collection's folder: their names, the model, and what is left over."""

import hashlib
import os
import re
import stat
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from zshash._files import write_whole
from zshash.collection.errors import CollectionError, DamagedError
from zshash.collection.storage.catalogue import NAME, is_named, is_unfinished
from zshash.hashing import load
from zshash.hashing.files import is_model as has_model
from zshash.hashing.files import to_bytes
from zshash.hashing.hasher import Hasher, check_binary
from zshash.learning.model import Model

__all__ = [
    "bytes_used",
    "delete",
    "is_collection",
    "is_model",
    "model_path",
    "old_files",
    "store_model",
    "sync_folder",
]

LOCK, GENERATION, COPIES = "writer.lock", "generation", "pictures"
EXISTS = "there is a collection already; Collection.open opens it"
_MODEL = re.compile(r"model-[0-9a-f]{12}\.safetensors")
_SNAPSHOT = re.compile(r"(index|contents)-\d+\.codes")
_TEMPORARY = re.compile(r"\.(model|index|contents)-.*")
_CATALOGUE = (NAME, f"{NAME}-wal", f"{NAME}-shm", f"{NAME}-journal")
OTHER_FILES = (*_CATALOGUE, GENERATION, LOCK)
"""Files of a collection that are neither models nor snapshots."""


def is_collection(folder: Path) -> bool:
    """Whether a folder holds a collection, in whatever state."""
    return (folder / NAME).is_file()


def model_path(folder: Path, sha256: str) -> Path:
    """Path of the model with this checksum."""
    return folder / f"model-{sha256[:12]}.safetensors"


def store_model(folder: Path, model: Any, notes: dict[str, Any] | None = None) -> str:
    """Put a model on the disk for good; its sha256.

    Parameters
    ----------
    folder : Path
        The folder of the collection.
    model : Model, Hasher or path-like
        A model, a fitted hasher, or the file of a model, which is copied as it is.
    notes : dict, optional
        Notes of a hasher that is no model yet.
    """
    if isinstance(model, str | os.PathLike):
        check_binary(load(model), "a collection")  # says what is wrong with it
        data = Path(model).read_bytes()
    elif isinstance(model, Model):
        data = model.to_bytes()
    else:
        check_binary(model, "a collection")
        data = to_bytes(model, notes=notes)
    sha256 = hashlib.sha256(data).hexdigest()
    write_whole(model_path(folder, sha256), data)
    sync_folder(folder)
    return sha256


def is_model(source: Any) -> bool:
    """Whether something is a model, a hasher, or the path of a model's file."""
    if isinstance(source, str | os.PathLike):
        return Path(source).is_file() and has_model(Path(source))
    return isinstance(source, Model | Hasher)


def check_model(folder: Path, sha256: str) -> Path:
    """Path of the model, whose file must have this checksum."""
    path = model_path(folder, sha256)
    try:
        data = path.read_bytes()
    except (FileNotFoundError, IsADirectoryError) as error:
        raise DamagedError(
            f"{folder}: its model {path.name} is missing: restore it from a copy"
        ) from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise DamagedError(f"{folder}: its model {path.name} is damaged: restore it from a copy")
    return path


def sync_folder(folder: Path) -> None:
    """Write the names of new files to the disk, too, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def old_files(folder: Path, keep: set[str]) -> list[Path]:
    """Snapshots, models and temporary files of the collection, except those in `keep`."""
    return sorted(
        path for path in folder.iterdir() if path.name not in keep and _is_passing(path.name)
    )


def _is_passing(name: str) -> bool:
    """Whether a name is that of a snapshot, a model or a temporary file."""
    return any(kind.fullmatch(name) for kind in (_MODEL, _SNAPSHOT, _TEMPORARY))


def delete(paths: list[Path]) -> int:
    """Delete files as far as possible; return how many are gone."""
    gone = 0
    for path in paths:
        with suppress(OSError):  # some systems refuse while somebody reads the file
            path.unlink()
            gone += 1
    return gone


def check_unfinished(folder: Path) -> None:
    """Refuse a folder that holds anything but what an interrupted `create` may have left.

    Nothing is opened for writing, so this is safe while another process makes a collection there.
    """
    names = [path.name for path in folder.iterdir()]
    if NAME in names and is_named(folder / NAME):
        raise CollectionError(f"{folder}: {EXISTS}")
    snapshots = [name for name in names if _SNAPSHOT.fullmatch(name)]
    if (snapshots or GENERATION in names) and not (folder / NAME).exists():
        raise CollectionError(
            f"{folder}: the catalogue of a collection is missing here: restore {NAME} from a copy, "
            "or choose another folder"
        )
    ours = {LOCK, GENERATION, *_CATALOGUE}
    strange = [name for name in names if name not in ours and not _is_passing(name)]
    if strange:
        raise CollectionError(
            f"{folder}: the folder is not empty (it holds {min(strange)}): choose another one"
        )


def clear_unfinished(folder: Path) -> None:
    """Delete what an interrupted `create` left, while holding the lock.

    Anything else in the folder is an error.
    """
    check_unfinished(folder)
    if (folder / NAME).exists() and not is_unfinished(folder / NAME):
        raise CollectionError(f"{folder}: {EXISTS}")
    rest = [folder / name for name in (GENERATION, *_CATALOGUE)]
    delete([*old_files(folder, set()), *(path for path in rest if path.exists())])


def note_generation(folder: Path, generation: int) -> None:
    """Write down the generation of the catalogue, so that the loss of its log is noticed.

    It is written after the catalogue, without waiting for the disk: it may be behind the catalogue,
    but never ahead.
    """
    text = f"{generation:020d}"
    with suppress(OSError):
        handle = os.open(folder / GENERATION, os.O_WRONLY | os.O_CREAT, 0o666)
        try:
            os.write(handle, f"{text} {zlib.crc32(text.encode()):010d}\n".encode())
        finally:
            os.close(handle)


def noted_generation(folder: Path) -> int:
    """Generation that `note_generation` wrote; 0 if it is missing or damaged."""
    with suppress(OSError, ValueError):
        text, checksum = (folder / GENERATION).read_bytes().decode("ascii").split()
        if zlib.crc32(text.encode()) == int(checksum):
            return int(text)
    return 0


def bytes_used(folder: Path) -> int:
    """Size of all files of a collection."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # a writer has just deleted it
            status = path.stat()
            total += status.st_size if stat.S_ISREG(status.st_mode) else 0
    return total
