"""Pictures that have moved to another folder or disk: their items get the new paths."""

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from zshash._interrupts import check
from zshash.collection.errors import CollectionError
from zshash.collection.operations.fields import stored_source
from zshash.collection.operations.same_files import put_same_files, same_files
from zshash.collection.operations.sync_scope import below, items_below
from zshash.collection.operations.unreadable import Unreadable
from zshash.collection.results import Relocated
from zshash.collection.storage.rows import Row, to_item, with_fields
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import rows_of

__all__ = ["relocate"]

AT_ONCE = 4096


def relocate(store: Store, old: str | Path, new: str | Path, *, dry_run: bool = False) -> Relocated:
    """Let all paths that lie in the folder `old` lie in `new`, in one transaction.

    Files are looked for, but not read: a later sync reads those of another time.
    """
    before, after = (Path(os.path.abspath(path)) for path in (old, new))  # noqa: PTH100
    with store.reading() if dry_run else store.writing():
        rows = {row.id: row for row in items_below(store, before)}
        places = {number: _moved(_source(row), before, after) for number, row in rows.items()}
        missing = tuple(path for n, path in places.items() if not _is_there(path, rows[n].size))
        _check(store, before, after, len(rows), len(missing))
        if not dry_run:
            _write(store, places, before, after)
            Unreadable(store).remember([], below(before))
    return Relocated(np.array(sorted(places), dtype=np.int64), missing)


def _source(row: Row) -> str:
    return to_item(row).source or ""


def _moved(path: str, before: Path, after: Path) -> str:
    """Path in the folder `after` of what was in the folder `before`.

    >>> _moved("/old/a/b.jpg", Path("/old"), Path("/new/disk"))
    '/new/disk/a/b.jpg'
    """
    return str(after / path[len(str(before)) :].lstrip(os.sep))


def _is_there(path: str, size: int | None) -> bool:
    """Whether there is a file of this size, or of any size if the size is not known."""
    check()
    try:
        found = Path(path).stat().st_size
    except OSError:
        return False
    return size in (None, found)


def _check(store: Store, before: Path, after: Path, n: int, n_missing: int) -> None:
    if not n:
        raise CollectionError(f"{store.folder}: no item has a path below {before}")
    if n == n_missing:
        raise CollectionError(
            f"{after}: none of the {n} pictures that were in {before} is there, so no path was "
            "changed; is its disk there?"
        )


def _write(store: Store, places: Mapping[int, str], before: Path, after: Path) -> None:
    ids, is_inside = list(places), below(before)
    copies = {
        number: [_moved(path, before, after) if is_inside(path) else path for path in own]
        for number, own in same_files(store).items()
        if any(map(is_inside, own))
    }
    with store.changing() as change:
        for start in range(0, len(ids), AT_ONCE):
            check()
            group = ids[start : start + AT_ONCE]
            rows = rows_of(store.catalogue.connection, store.folder, group)
            sources = {number: stored_source(places[number]) for number in rows}
            change.replace([with_fields(row, source=sources[n]) for n, row in rows.items()])
        put_same_files(change, copies)
