"""Pictures that came as bytes: the collection keeps a copy of each in its own folder.

A copy is on the disk before the catalogue speaks of it, and is deleted after the catalogue has
forgotten it. What an interruption leaves over, `compact` deletes.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zshash._files import write_whole
from zshash.collection.adding import add_pictures
from zshash.collection.fields import check_labels, check_metadata, check_sources
from zshash.collection.files import COPIES, delete, sync_folder
from zshash.collection.inputs import Columns
from zshash.collection.rows import Added, Ids, content_of
from zshash.collection.searching import check_known
from zshash.collection.store import Store
from zshash.collection.tables import in_groups
from zshash.collection.writing import Report
from zshash.datasets import Pictures

__all__ = ["add_files", "orphans", "remove"]


def add_files(store: Store, files: Any, labels: Any, metadata: Any) -> Added:
    """Add pictures that are not there yet, and keep a copy of each."""
    if isinstance(files, bytes) or not all(isinstance(file, bytes) for file in files):
        raise TypeError("give a list of files' contents, each as bytes")
    own, facts = check_labels(labels, len(files)), check_metadata(metadata, len(files))
    if not files:
        return Report().result()
    report = Report()
    with store.writing():
        paths = [store.folder / COPIES / content_of(file).hex() for file in files]
        columns = Columns(check_sources(paths, len(paths)), own, facts)
        try:
            _write(dict(zip(paths, files, strict=True)), store.reader.limits.bytes)
            add_pictures(store, Pictures(tuple(paths)), columns, report, lambda _: None)
        finally:
            _sweep(store, paths)
    report.failures = [_by_place(failure, paths) for failure in report.failures]
    return report.result()


def _write(files: dict[Path, bytes], most: int) -> None:
    folder = next(iter(files)).parent
    folder.mkdir(exist_ok=True)
    for path, content in files.items():
        if len(content) <= most and not path.exists():
            write_whole(path, content)
    sync_folder(folder)
    sync_folder(folder.parent)


def _sweep(store: Store, paths: Sequence[Path]) -> None:
    """Delete copies that no item came of."""
    there = _sources(store)
    delete([path for path in dict.fromkeys(paths) if path.exists() and str(path) not in there])


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
            own = _sources(store, ids.tolist())
            with store.changing() as change:
                change.remove(ids.tolist())
            delete([Path(source) for source in own])


def orphans(store: Store) -> list[Path]:
    """Copies that no item speaks of, as an interruption may leave them."""
    folder = store.folder / COPIES
    if not folder.is_dir():
        return []
    there = _sources(store)
    return [path for path in folder.iterdir() if str(path) not in there]


def _sources(store: Store, ids: Sequence[int] | None = None) -> set[str]:
    """Sources of all items, or of some, that are copies of the collection's own."""
    if not (store.folder / COPIES).is_dir():
        return set()
    prefix = check_sources([store.folder / COPIES / "_"], 1)[0]
    assert prefix is not None
    prefix = prefix[:-1]
    statement = "SELECT source FROM items WHERE substr(source, 1, ?) = ?"
    with store.looking() as connection:
        if ids is None:
            rows = connection.execute(statement, [len(prefix), prefix]).fetchall()
        else:
            rows = [
                row
                for marks, group in in_groups(ids)
                for row in connection.execute(
                    f"{statement} AND id IN ({marks})", [len(prefix), prefix, *group]
                )
            ]
    return {_text(source) for (source,) in rows}


def _text(source: str | bytes) -> str:
    return source.decode("utf-8", "surrogatepass") if isinstance(source, bytes) else source
