"""Making a collection's folder: the model first, then the catalogue in one transaction."""

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from zshash.collection.catalogue import Catalogue
from zshash.collection.errors import CollectionError, reporting
from zshash.collection.files import clear_unfinished, model_path, store_model, sync_folder
from zshash.collection.locks import WriterLock
from zshash.collection.state import State
from zshash.hashing import load
from zshash.images import Extractor, PictureReader

__all__ = ["create"]

MOST_PIXELS = 1024


def create(
    folder: Path,
    hasher: Any,
    reader: PictureReader,
    *,
    semantics: str | Sequence[str] | None,
    keep_features: bool,
    thumbnails: int | None,
) -> None:
    """Make a collection without items; an interrupted attempt leaves what the next one clears."""
    about = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "semantics": _specs(semantics),
        "keep_features": bool(keep_features),
        "thumbnails": _side(thumbnails),
    }
    notes = None if isinstance(hasher, str | os.PathLike) else _notes(reader)
    if folder.exists() and not folder.is_dir():
        raise CollectionError(f"{folder}: a file has this name: choose another one")
    is_new = not folder.exists()
    try:
        with reporting(folder):
            folder.mkdir(parents=True, exist_ok=True)
            _fill(folder, hasher, notes, about)
            sync_folder(folder)
            sync_folder(folder.parent)
    except BaseException:
        if is_new:
            _undo(folder)
        raise


def _fill(folder: Path, hasher: Any, notes: dict[str, Any] | None, about: dict[str, Any]) -> None:
    if strange := [path.name for path in folder.iterdir()]:
        clear_unfinished(folder, strange)
    with WriterLock(folder).held():
        sha256 = store_model(folder, hasher, notes)
        n_bits = int(load(model_path(folder, sha256)).n_bits)
        Catalogue.create(folder, State(n_bits, sha256), about)


def _undo(folder: Path) -> None:
    """Delete a folder that was just made, if nobody has a collection in it."""
    with suppress(OSError, CollectionError):
        clear_unfinished(folder, [path.name for path in folder.iterdir()])
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()


def _notes(reader: PictureReader) -> dict[str, Any]:
    return {"extractor": reader.facts()} if reader.extractor is not None else {}


def _specs(semantics: str | Sequence[str] | None) -> list[str] | None:
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


def _side(thumbnails: int | None) -> int:
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


def reader_for(extractor: str | Extractor | None, reader: PictureReader | None) -> PictureReader:
    """The reader of a new collection, with the network that was named."""
    if reader is None:
        return PictureReader(extractor=extractor)
    if extractor is not None:
        raise ValueError("give extractor or reader, not both: a reader has its own extractor")
    return reader
