"""Plan of a sync: what has to be done so that items and the files of a folder agree.

Items follow contents. An item whose content is still at its path stays. An item whose content is
at another path has moved there. An item whose content is gone takes the new content of its path,
if no other item has that content; otherwise the item is removed. Contents without an item are
added.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zshash.collection.operations.pictures import Look
from zshash.collection.storage.rows import Row, to_item

__all__ = ["Place", "Plan", "make_plan"]

Place = tuple[str, Look]


@dataclass
class Plan:
    """Ids of items with their files from now on; ids to remove; files to add.

    `copies` are other files with the content of an item, and for each the file of that item.
    """

    touched: dict[int, Place] = field(default_factory=dict)
    moved: dict[int, Place] = field(default_factory=dict)
    changed: dict[int, Place] = field(default_factory=dict)
    removed: list[int] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    copies: dict[str, str] = field(default_factory=dict)


def make_plan(
    paths: Sequence[str],
    below: Sequence[Row],
    looks: Mapping[str, Look],
    unread: Mapping[str, str],
    owners: Mapping[bytes, Row],
) -> Plan:
    """Plan for each item and each file.

    Parameters
    ----------
    paths : list of str
        The files of the folder.
    below : list of Row
        The items whose sources lie in it.
    looks, unread
        Content of each file; why some files can not be read: their items stay as they are.
    owners : mapping
        For each content that an item has, that item, wherever its source is.
    """
    plan, there = Plan(), set(paths)
    sources = {row.id: to_item(row).source or "" for row in below}
    # Items that were added as codes or features: nothing is known about their files.
    bare = {row.id for row in below if row.size is None}
    theirs = {sources[number] for number in bare}
    homes = _homes(looks, theirs - {sources[row.id] for row in below if row.id not in bare})
    for content, places in homes.items():
        if content in owners:
            _place(plan, owners[content], places, looks, unread, set(sources))
    free = {content: places for content, places in homes.items() if content not in owners}
    for row in below:
        source = sources[row.id]
        if row.id in bare:
            is_gone = source not in there
        else:
            is_kept = source in unread or row.content in homes
            is_gone = not is_kept and not _take(plan, row, source, looks, free)
        if is_gone:
            plan.removed.append(row.id)
    plan.added = [places[0] for places in free.values()]
    plan.copies = _copies(plan, homes, owners)
    return plan


def _homes(looks: Mapping[str, Look], taken: set[str]) -> dict[bytes, list[str]]:
    """Files that hold each content, without those in `taken`, which belong to items."""
    homes: dict[bytes, list[str]] = {}
    for path, look in looks.items():
        if path not in taken:
            homes.setdefault(look.content, []).append(path)
    return homes


def _place(
    plan: Plan,
    owner: Row,
    places: Sequence[str],
    looks: Mapping[str, Look],
    unread: Mapping[str, str],
    below: set[int],
) -> None:
    """Leave an item where its content still is, else let it move there."""
    source = to_item(owner).source or ""
    if source in places:
        look = looks[source]
        if (owner.size, owner.mtime_ns) != (look.size, look.mtime_ns):
            plan.touched[owner.id] = source, look
    elif owner.size is None or not source or source in unread:
        return
    elif owner.id in below or _is_missing(source):
        plan.moved[owner.id] = places[0], looks[places[0]]


def _copies(
    plan: Plan, homes: Mapping[bytes, Sequence[str]], owners: Mapping[bytes, Row]
) -> dict[str, str]:
    """For each file whose content an item has, or will have, from elsewhere: the item's file."""
    kept = {look.content: path for path, look in (plan.moved | plan.changed).values()}
    copies: dict[str, str] = {}
    for content, places in homes.items():
        source = (to_item(owners[content]).source or "") if content in owners else places[0]
        original = kept.get(content, source)
        copies |= {path: original for path in places if original and path != original}
    return copies


def _is_missing(source: str) -> bool:
    """Whether a file is gone; one that can not be checked may still be there."""
    try:
        return not Path(source).exists()
    except OSError:
        return False


def _take(
    plan: Plan, row: Row, source: str, looks: Mapping[str, Look], free: dict[bytes, list[str]]
) -> bool:
    """Let an item whose content is gone have the new content of its path, if that is free."""
    look = looks.get(source)
    if look is None or look.content not in free:
        return False
    del free[look.content]
    plan.changed[row.id] = source, look
    return True
