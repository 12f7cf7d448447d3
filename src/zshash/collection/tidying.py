"""Giving back the space of what was removed, and files that nobody needs."""

import sqlite3
from dataclasses import replace
from typing import Any

from zshash.collection.files import bytes_used, delete, model_path, old_files
from zshash.collection.keeping import orphans
from zshash.collection.snapshot import snapshot_path
from zshash.collection.store import Store

__all__ = ["compact"]


def compact(store: Store) -> dict[str, Any]:
    """Make the folder as small as it can be.

    The snapshot comes first: with it nobody needs the log of changes. Whatever interrupts this,
    the next call does the rest.
    """
    with store.writing() as state, store.alone():
        before = bytes_used(store.folder)
        store.save()
        if store.is_saved:
            with store.catalogue.writing() as connection:
                connection.execute("DELETE FROM changes")
                store.catalogue.put_state(replace(state, base=state.generation))
        connection = store.catalogue.connection
        connection.execute("VACUUM")
        is_busy = _empty_log(connection)
        snapshot = snapshot_path(store.folder, state.generation)
        keep = {snapshot.name, model_path(store.folder, state.model).name}
        n_deleted = delete([*old_files(store.folder, keep), *orphans(store)])
        return {
            "items": state.items.n,
            "bytes before": before,
            "bytes after": bytes_used(store.folder),
            "files deleted": n_deleted,
            "log in use": is_busy,
        }


def _empty_log(connection: sqlite3.Connection) -> bool:
    """Copy the log into the catalogue; whether readers keep some of it from being cut off."""
    (is_busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return bool(is_busy)
