"""Maintenance: `compact` frees space, `describe` tells the facts."""

import sqlite3
from dataclasses import replace
from typing import Any

from zshash.collection.operations.copies import orphans
from zshash.collection.operations.unreadable import unreadable
from zshash.collection.storage.files import bytes_used, delete, model_path, old_files
from zshash.collection.storage.remote import MEMORY
from zshash.collection.storage.snapshot import CONTENTS, INDEX, snapshot_path
from zshash.collection.storage.state import Tally
from zshash.collection.storage.store import Store

__all__ = ["compact", "describe"]

MOST_NAMED = 20  # files that could not be read


def compact(store: Store) -> dict[str, Any]:
    """Make the folder as small as it can be; items that were removed can not be restored then.

    The snapshot is written first: after that, the log of changes is no longer needed. If this is
    interrupted, the next call does the rest.

    Raises
    ------
    DamagedError
        If there are copies of pictures and an item is damaged: then nothing is done.
    """
    with store.writing() as state, store.alone():
        before, left = bytes_used(store.folder), orphans(store)
        store.save()
        with store.catalogue.writing() as connection:
            connection.execute("DELETE FROM removed")
            emptied = replace(state, removed=Tally())
            if store.is_saved:
                connection.execute("DELETE FROM changes")
                emptied = replace(emptied, base=state.generation, changes=Tally())
            store.catalogue.put_state(emptied)
        connection = store.catalogue.connection
        connection.execute("VACUUM")
        is_busy = _empty_log(connection)
        kept = [snapshot_path(store.folder, state.generation, kind) for kind in (INDEX, CONTENTS)]
        keep = {path.name for path in (*kept, model_path(store.folder, state.model))}
        n_deleted = delete([*old_files(store.home, keep), *left])
        return {
            "items": state.items.n,
            "bytes before": before,
            "bytes after": bytes_used(store.folder),
            "files deleted": n_deleted,
            "log in use": is_busy,
        }


def _empty_log(connection: sqlite3.Connection) -> bool:
    """Copy the log into the catalogue; return whether readers keep it from being emptied."""
    (is_busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return bool(is_busy)


def describe(store: Store) -> dict[str, Any]:
    """Facts about a collection, ready for JSON."""
    used = bytes_used(store.folder)
    with store.reading() as state:
        unread = unreadable(store)
        notes = store.model.notes
        extractor = notes.get("extractor")
        return {
            "path": str(store.folder),
            "items": state.items.n,
            "bits": state.n_bits,
            "method": type(store.model.hasher).__name__,
            "model": state.model,
            "extractor": extractor.get("name") if isinstance(extractor, dict) else None,
            "semantics": store.about["semantics"] or notes.get("labels") or None,
            "features": state.features.n,
            "thumbnails": state.thumbnails.n,
            "index": str(store.address or MEMORY),
            "removed": state.removed.n,
            "next id": state.next_id,
            "generation": state.generation,
            "format": store.catalogue.version,
            "created": store.about["created"],
            "bytes": used,
            "unreadable": len(unread),
        } | ({"unreadable files": list(unread.values())[:MOST_NAMED]} if unread else {})
