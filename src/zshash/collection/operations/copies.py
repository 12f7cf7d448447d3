"""Pictures that came as bytes: the collection keeps a copy of each in its own folder.

A copy is named after the hash of its content, so it is found wherever the folder is moved to. It
is written before its item is in the catalogue. It stays as long as its item can be restored, and
`compact` deletes it then, like copies that an interruption leaves behind.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from zshash._files import write_whole
from zshash.collection.operations.adding import add_pictures
from zshash.collection.operations.fields import check_labels, check_metadata, check_sources
from zshash.collection.operations.inputs import Columns
from zshash.collection.operations.writing import Report
from zshash.collection.results import Added
from zshash.collection.storage.files import COPIES, delete, sync_folder
from zshash.collection.storage.removed import contents_kept
from zshash.collection.storage.rows import Item, content_of
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import items_of, rows_where
from zshash.datasets import Pictures

__all__ = ["add_files", "came_as_bytes", "is_own_copy", "orphans", "picture", "unneeded"]


def add_files(store: Store, files: Any, labels: Any, metadata: Any) -> Added:
    """Add pictures that the collection does not have yet, and keep a copy of each."""
    if isinstance(files, bytes) or not all(isinstance(file, bytes) for file in files):
        raise TypeError("give a list of files' contents, each as bytes")
    own, facts = check_labels(labels, len(files)), check_metadata(metadata, len(files))
    if not files:
        return Report().result()
    report = Report()
    with store.writing():
        paths = [_copy(store, content_of(file)) for file in files]
        columns = Columns(check_sources(paths, len(paths)), own, facts)
        given = dict(zip(paths, files, strict=True))
        new = {path: file for path, file in given.items() if not is_own_copy(path)}
        try:
            _write(store, new)
            add_pictures(store, Pictures(tuple(paths)), columns, report, lambda _: None)
        finally:
            _sweep(store, list(new))
    report.failures = [_by_place(failure, paths) for failure in report.failures]
    return report.result()


def _copy(store: Store, content: bytes) -> Path:
    """Path of the copy of a picture, whether it exists or not."""
    return store.folder / COPIES / content.hex()


def is_own_copy(path: Path) -> bool:
    """Whether a copy is there and holds what its name says."""
    try:
        return content_of(path.read_bytes()).hex() == path.name
    except OSError:
        return False


def came_as_bytes(item: Item) -> bool:
    """Whether an item was added as bytes, so that the collection keeps a copy of its picture.

    The folder of the collection may have been moved since. The item may also have been imported
    from another collection: then the size of its file is not known.
    """
    if item.source is None or item.content is None or item.size is None:
        return False
    path = Path(item.source)
    return (path.parent.name, path.name) == (COPIES, item.content.hex())


def _write(store: Store, files: dict[Path, bytes]) -> None:
    folder = store.home / COPIES
    folder.mkdir(exist_ok=True)
    for path, content in files.items():
        if len(content) <= store.reader.limits.bytes:
            write_whole(folder / path.name, content)
    sync_folder(folder)
    sync_folder(folder.parent)


def _sweep(store: Store, paths: Sequence[Path]) -> None:
    """Delete copies that belong to no item."""
    found = store.known(bytes.fromhex(path.name) for path in paths)
    with store.looking() as connection:
        items = items_of(connection, store.folder, sorted(found.values())).values()
    there = {item.content.hex() for item in items if item.content and came_as_bytes(item)}
    sources = {item.source for item in items}
    left = [path for path in paths if path.name not in there and str(path) not in sources]
    delete([store.home / COPIES / path.name for path in left])


def _by_place(failure: str, paths: Sequence[Path]) -> str:
    """Message about a failure that names files by their places in the call."""
    for place, path in enumerate(paths):
        failure = failure.replace(str(path), f"file {place}")
    return failure


def picture(store: Store, item: Item) -> Path | None:
    """Path of an item's picture: the collection's own copy, or the item's source."""
    if item.content is not None and (own := _copy(store, item.content)).is_file():
        return own
    return None if item.source is None else Path(item.source)


def orphans(store: Store) -> list[Path]:
    """Copies that belong to no item, as an interruption may leave them.

    Raises
    ------
    DamagedError
        If an item is damaged: a copy may be all that is left of its picture.
    """
    folder = store.home / COPIES
    if not folder.is_dir():
        return []
    with store.looking() as connection:
        tally = store.catalogue.state().items
        blocks = rows_where(connection, store.folder, tally, "content IS NOT NULL")
        there = {row[3].hex() for rows in blocks for row in rows}
    return [path for path in folder.iterdir() if path.name not in there]


def unneeded(store: Store, contents: Iterable[bytes | None]) -> list[Path]:
    """Paths of copies with the given contents that neither items nor removed items need.

    They are for deleting: they lead into the folder itself, whatever has its name by now.
    """
    folder = store.home / COPIES
    given = {content for content in contents if content is not None}
    there = {content for content in given if (folder / content.hex()).is_file()}
    if not there:
        return []
    with store.looking() as connection:
        needed = set(store.known(there)) | contents_kept(connection, there)
    return [folder / content.hex() for content in there - needed]
