"""Items that are there more than once: equal files, copies of one picture, look-alikes."""

from zshash.collection.errors import CollectionError
from zshash.collection.operations import alike
from zshash.collection.operations.items import items
from zshash.collection.operations.same_files import same_files
from zshash.collection.results import Duplicates, Group
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import items_of

__all__ = ["ALIKE", "IDENTICAL", "LEVELS", "SAME", "duplicates"]

IDENTICAL, SAME, ALIKE = "identical", "same", "alike"
LEVELS = (IDENTICAL, SAME, ALIKE)


def duplicates(store: Store, level: str, r: int) -> Duplicates:
    """Groups of items at a level; with the level "same" also those of equal files."""
    if level not in LEVELS:
        raise CollectionError(f"level is {', '.join(LEVELS[:-1])} or {ALIKE}, not {level!r}")
    if level == ALIKE:
        return _alike(store, r)
    found = _same(store) if level == SAME else Duplicates()
    return Duplicates([*_identical(store), *found], unknown=found.unknown)


def _alike(store: Store, r: int) -> Duplicates:
    with store.reading() as state:
        groups = alike.groups(store.in_memory(state), r)
        return Duplicates(Group(ALIKE, tuple(items(store, ids)), {}) for ids in groups)


def _identical(store: Store) -> list[Group]:
    with store.reading():
        copies = same_files(store)
        found = items(store, sorted(copies))
    return [Group(IDENTICAL, (item,), {item.id: copies[item.id]}) for item in found]


def _same(store: Store) -> Duplicates:
    from zshash.collection.operations.same_pictures import same_pictures  # needs Pillow

    found = same_pictures(store)
    ids = [number for group in found.groups for number in group]
    with store.reading(), store.looking() as connection:
        there, copies = items_of(connection, store.folder, ids), same_files(store, ids)
    groups = [
        Group(
            SAME,
            tuple(there[n] for n in group if n in there),
            {n: copies[n] for n in group if n in copies},
            found.cropped & set(group),
        )
        for group in found.groups
    ]
    # another process may have removed items meanwhile
    return Duplicates((one for one in groups if len(one.items) > 1), unknown=found.unknown)
