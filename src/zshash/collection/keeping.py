"""Pictures that came as bytes: the collection keeps a copy of each in its own folder.

A copy has the name of its content, so it is found wherever the folder is moved to. It is on the
disk before the catalogue speaks of it, and is deleted after the catalogue has forgotten it. What
an interruption leaves over, `compact` deletes.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zshash._files import write_whole
from zshash.collection.adding import add_pictures
from zshash.collection.fields import check_labels, check_metadata, check_sources
from zshash.collection.files import COPIES, delete, sync_folder
from zshash.collection.inputs import Columns
from zshash.collection.rows import Added, Ids, Item, content_of, to_item
from zshash.collection.searching import check_known
from zshash.collection.store import Store
from zshash.collection.tables import in_groups, known_contents, rows_of
from zshash.collection.writing import Report
from zshash.datasets import Pictures

__all__ = ["add_files", "orphans", "picture", "remove"]


def add_files(store: Store, files: Any, labels: Any, metadata: Any) -> Added:
    """Add pictures that are not there yet, and keep a copy of each."""
    if isinstance(files, bytes) or not all(isinstance(file, bytes) for file in files):
        raise TypeError("give a list of files' contents, each as bytes")
    own, facts = check_labels(labels, len(files)), check_metadata(metadata, len(files))
    if not files:
        return Report().result()
    report = Report()
    with store.writing():
        paths = [_copy(store, content_of(file)) for file in files]
        columns = Columns(check_sources(paths, len(paths)), own, facts)
        new = {path: file for path, file in zip(paths, files, strict=True) if not path.exists()}
        try:
            _write(new, store.reader.limits.bytes, paths[0].parent)
            add_pictures(store, Pictures(tuple(paths)), columns, report, lambda _: None)
        finally:
            _sweep(store, list(new))
    report.failures = [_by_place(failure, paths) for failure in report.failures]
    return report.result()


def _copy(store: Store, content: bytes) -> Path:
    """Where the copy of a picture is, if there is one."""
    return store.folder / COPIES / content.hex()


def _write(files: dict[Path, bytes], most: int, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for path, content in files.items():
        if len(content) <= most:
            write_whole(path, content)
    sync_folder(folder)
    sync_folder(folder.parent)


def _sweep(store: Store, paths: Sequence[Path]) -> None:
    """Delete copies that no item came of."""
    with store.looking() as connection:
        found = known_contents(connection, [bytes.fromhex(path.name) for path in paths])
        rows = rows_of(connection, store.folder, sorted(found.values()))
    there = {to_item(row).source for row in rows.values()}
    delete([path for path in paths if str(path) not in there])


def _by_place(failure: str, paths: Sequence[Path]) -> str:
    """A reason that speaks of the files as the caller knows them."""
    for place, path in enumerate(paths):
        failure = failure.replace(str(path), f"file {place}")
    return failure


def remove(store: Store, ids: Ids) -> None:
    """Remove items, which must all be there, and the copies of their pictures."""
    with store.writing():
        check_known(store, ids, ", so nothing was removed")
        if len(ids):
            own = _copies(store, ids.tolist())
            with store.changing() as change:
                change.remove(ids.tolist())
            delete(own)


def picture(store: Store, item: Item) -> Path | None:
    """Where the picture of an item is: the collection's own copy, or at its source."""
    if item.content is not None and (own := _copy(store, item.content)).is_file():
        return own
    return None if item.source is None else Path(item.source)


def orphans(store: Store) -> list[Path]:
    """Copies of what no item is, as an interruption may leave them."""
    folder = store.folder / COPIES
    if not folder.is_dir():
        return []
    with store.looking() as connection:
        rows = connection.execute("SELECT content FROM items WHERE content IS NOT NULL")
        there = {content.hex() for (content,) in rows}
    return [path for path in folder.iterdir() if path.name not in there]


def _copies(store: Store, ids: Sequence[int]) -> list[Path]:
    """The collection's own copies of some items' pictures."""
    if not (store.folder / COPIES).is_dir():
        return []
    with store.looking() as connection:
        contents = [
            content
            for marks, group in in_groups(ids)
            for (content,) in connection.execute(
                f"SELECT content FROM items WHERE content IS NOT NULL AND id IN ({marks})", group
            )
        ]
    return [path for path in (_copy(store, content) for content in contents) if path.is_file()]
