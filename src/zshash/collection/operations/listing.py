"""Items one after the other, so that a million of them need no memory."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from zshash.collection.operations.filtering import usable
from zshash.collection.operations.where import Condition, parse
from zshash.collection.storage.catalogue import Catalogue
from zshash.collection.storage.rows import Item, to_item
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import rows_where

__all__ = ["each", "metadata_keys"]

Blocks = Iterator[list[Sequence[Any]]]


def each(store: Store, where: str | None = None) -> Iterator[Item]:
    """Items in the order of their ids, of one state of the collection.

    They are read through a connection of their own: others search and write meanwhile, however
    long the caller takes over each item.

    Raises
    ------
    DamagedError
        At the first damaged row, and at the end if a row is missing.
    """
    if where is not None:
        parse(where)  # raises if the condition is wrong, before the first item is asked for
    with store.reading():  # raises if the collection was closed
        return _each(store, where)


def _each(store: Store, where: str | None) -> Iterator[Item]:
    with _blocks(store, where) as blocks:
        for rows in blocks:
            yield from map(to_item, rows)


def metadata_keys(store: Store, where: str | None = None) -> list[str]:
    """Keys of the metadata of all items that meet a condition, sorted."""
    keys: set[str] = set()
    with _blocks(store, where) as blocks:
        for rows in blocks:
            for text in {row[5] for row in rows}:
                keys.update(json.loads(text))
    return sorted(keys)


@contextmanager
def _blocks(store: Store, where: str | None) -> Iterator[Blocks]:
    """Rows that meet a condition, some thousand at a time."""
    condition = Condition("1") if where is None else parse(where)
    with (
        closing(Catalogue(store.folder, store.catalogue)) as own,
        own.reading() as connection,
        usable(store.folder, where or ""),
    ):
        tally = own.state().items
        yield rows_where(connection, store.folder, tally, condition.sql, condition.parameters)
