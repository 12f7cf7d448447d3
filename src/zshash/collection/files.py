"""Which files a collection's folder holds, and the model among them."""

import hashlib
import os
import re
import stat
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from zshash._files import write_whole
from zshash.collection.catalogue import NAME, is_unfinished
from zshash.collection.errors import CollectionError, DamagedError
from zshash.hashing import load, save

__all__ = [
    "bytes_used",
    "delete",
    "is_collection",
    "model_path",
    "old_files",
    "store_model",
    "sync_folder",
]

LOCK, GENERATION, COPIES = "writer.lock", "generation", "pictures"
_MODEL = re.compile(r"model-[0-9a-f]{12}\.safetensors")
_SNAPSHOT = re.compile(r"index-\d+\.codes")
_TEMPORARY = re.compile(r"\.(model|index)-.*")
_CATALOGUE = (NAME, f"{NAME}-wal", f"{NAME}-shm", f"{NAME}-journal")


def is_collection(folder: Path) -> bool:
    """Whether a folder is that of a collection, in whatever state."""
    return (folder / NAME).is_file()


def model_path(folder: Path, sha256: str) -> Path:
    """Where the model with this checksum lies."""
    return folder / f"model-{sha256[:12]}.safetensors"


def store_model(folder: Path, hasher: Any, notes: dict[str, Any] | None = None) -> str:
    """Put a fitted hasher, or a copy of a model's file, on the disk for good; its sha256."""
    if isinstance(hasher, str | os.PathLike):
        load(hasher)  # says what is wrong with it
        data = Path(hasher).read_bytes()
    else:
        temporary = folder / f".model-{os.getpid()}.safetensors"
        try:
            save(hasher, temporary, notes=notes)
            data = temporary.read_bytes()
        finally:
            temporary.unlink(missing_ok=True)
    sha256 = hashlib.sha256(data).hexdigest()
    write_whole(model_path(folder, sha256), data)
    sync_folder(folder)
    return sha256


def check_model(folder: Path, sha256: str) -> Path:
    """The path of the model, which is the one that the catalogue speaks of."""
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
    """Have the names of new files on the disk, too, where the system knows how."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def old_files(folder: Path, keep: set[str]) -> list[Path]:
    """Snapshots, models and temporary files of ours that nobody needs any more."""
    kinds = (_MODEL, _SNAPSHOT, _TEMPORARY)
    return sorted(
        path
        for path in folder.iterdir()
        if path.name not in keep and any(kind.fullmatch(path.name) for kind in kinds)
    )


def delete(paths: list[Path]) -> int:
    """Delete files, as far as that is possible; how many are gone."""
    gone = 0
    for path in paths:
        with suppress(OSError):  # some systems keep what somebody reads
            path.unlink()
            gone += 1
    return gone


def clear_unfinished(folder: Path, names: list[str]) -> None:
    """Delete what an interrupted `create` left; anything else in the folder is an error."""
    if NAME in names and not is_unfinished(folder / NAME):
        raise CollectionError(f"{folder}: there is a collection already; Collection.open opens it")
    snapshots = [name for name in names if _SNAPSHOT.fullmatch(name)]
    if NAME not in names and (snapshots or GENERATION in names):
        raise CollectionError(
            f"{folder}: the catalogue of a collection is missing here: restore {NAME} from a copy, "
            "or choose another folder"
        )
    old = old_files(folder, set())
    ours = {LOCK, GENERATION, *_CATALOGUE, *(path.name for path in old)}
    strange = [name for name in names if name not in ours]
    if strange:
        raise CollectionError(
            f"{folder}: the folder is not empty (it holds {min(strange)}): choose another one"
        )
    delete([*old, *(folder / name for name in (GENERATION, *_CATALOGUE) if name in names)])


def note_generation(folder: Path, generation: int) -> None:
    """Write down what the catalogue has come to, so that a log that is lost is missed.

    It is written after the catalogue and not waited for: it may be behind, but never ahead.
    """
    text = f"{generation:020d}"
    with suppress(OSError):
        handle = os.open(folder / GENERATION, os.O_WRONLY | os.O_CREAT, 0o666)
        try:
            os.write(handle, f"{text} {zlib.crc32(text.encode()):010d}\n".encode())
        finally:
            os.close(handle)


def noted_generation(folder: Path) -> int:
    """What `note_generation` wrote, 0 where that is not there or not whole."""
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
