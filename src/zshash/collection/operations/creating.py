"""Making a collection's folder: the model first, then the catalogue in one transaction."""

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from zshash._interrupts import check, guarding
from zshash.collection.errors import BusyError, CollectionError, reporting
from zshash.collection.operations.features import SINGLE
from zshash.collection.storage.catalogue import Catalogue
from zshash.collection.storage.files import (
    LOCK,
    OTHER_FILES,
    check_unfinished,
    clear_unfinished,
    delete,
    model_path,
    old_files,
    store_model,
    sync_folder,
)
from zshash.collection.storage.locks import WriterLock
from zshash.collection.storage.state import State
from zshash.hashing import load
from zshash.images import PictureReader

__all__ = ["create", "discard", "side_of", "specs_of"]

MOST_PIXELS = 1024
ATTEMPTS = 10


def create(
    folder: Path,
    model: Any,
    reader: PictureReader,
    *,
    semantics: str | Sequence[str] | None,
    keep_features: bool,
    thumbnails: int | None,
    exif: bool = True,
    feature_type: str = SINGLE,
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Make a collection without items; an interrupted attempt leaves what the next one clears.

    The parameters become settings that never change, except `thumbnails` and `settings`.
    """
    about = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "semantics": specs_of(semantics),
        "keep_features": bool(keep_features),
        "thumbnails": side_of(thumbnails),
        "exif": bool(exif),
        "feature_type": feature_type,
    }
    notes = None if isinstance(model, str | os.PathLike) else _notes(reader)
    with guarding(), reporting(folder), ExitStack() as stack:
        is_new = _hold(folder, stack)
        try:
            _fill(folder, model, notes, about, settings)
        except BaseException:
            if is_new:
                _undo(folder)
            raise
        sync_folder(folder)
        sync_folder(folder.parent)


def _hold(folder: Path, stack: ExitStack) -> bool:
    """Take the lock of a folder, which is made if need be; return whether this has made it.

    Everything else is done while holding the lock. So of several processes that want to make a
    collection here, one does, and the others touch nothing.
    """
    for _ in range(ATTEMPTS):
        is_new = _make(folder)
        try:
            check_unfinished(folder)
            stack.enter_context(WriterLock(folder).held())
            return is_new
        except (CollectionError, FileNotFoundError) as error:
            if folder.exists():
                if is_new and not isinstance(error, BusyError):
                    _undo(folder)  # nobody can take a lock here
                raise
            # Another process had made the folder, failed, and deleted it.
    raise BusyError(f"{folder}: another process makes and deletes it: try again")


def _make(folder: Path) -> bool:
    """Make a folder; return whether this has made it."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        if not folder.is_dir():
            raise CollectionError(f"{folder}: a file has this name: choose another one") from None
        return False
    return True


def _fill(
    folder: Path,
    model: Any,
    notes: dict[str, Any] | None,
    about: dict[str, Any],
    settings: Mapping[str, Any] | None,
) -> None:
    clear_unfinished(folder)
    sha256 = store_model(folder, model, notes)
    n_bits = int(load(model_path(folder, sha256)).n_bits)
    check()
    Catalogue.create(folder, State(n_bits, sha256), about, settings)


def _undo(folder: Path) -> None:
    """Delete a folder that this process has made, if nobody has a collection in it."""
    with suppress(OSError, CollectionError):
        clear_unfinished(folder)
        (folder / LOCK).unlink()
        folder.rmdir()


def discard(folder: Path) -> None:
    """Delete a collection that has no items, as if it had not been made."""
    with suppress(OSError):
        delete([*old_files(folder, set()), *(folder / name for name in OTHER_FILES)])
        folder.rmdir()


def _notes(reader: PictureReader) -> dict[str, Any]:
    return {"extractor": reader.facts()} if reader.extractor is not None else {}


def specs_of(semantics: str | Sequence[str] | None) -> list[str] | None:
    """Sources of label vectors; files by their absolute paths."""
    if semantics is None:
        return None
    specs = [semantics] if isinstance(semantics, str | os.PathLike) else list(semantics)
    words = [os.fspath(spec) for spec in specs]
    missing = [word for word in words if word != "wordnet" and not Path(word).is_file()]
    if missing or not words:
        what = f"{missing[0]}: there is no such file" if missing else "semantics is empty"
        raise CollectionError(f"{what}; say wordnet, or name a file of word vectors")
    return [word if word == "wordnet" else str(Path(word).absolute()) for word in words]


def side_of(thumbnails: int | None) -> int:
    """Longer side of thumbnails, 0 for none; ValueError for what can not be one."""
    if thumbnails is not None and (
        isinstance(thumbnails, bool)
        or not isinstance(thumbnails, int)
        or not 0 <= thumbnails <= MOST_PIXELS
    ):
        raise ValueError(
            f"thumbnails is their longer side, up to {MOST_PIXELS} pixels, or 0 for none; got "
            f"{thumbnails!r}"
        )
    return thumbnails or 0
