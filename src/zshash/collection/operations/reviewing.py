"""Groups of copies that a person has looked at and keeps whole: they are not shown again.

The collection remembers the contents of their items. So a group stays known when it loses items,
or when its pictures are removed and added again; a group with a new picture is shown again.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b

from zshash.collection.errors import CollectionError
from zshash.collection.results import Group
from zshash.collection.storage.rows import Item
from zshash.collection.storage.store import Store

__all__ = ["Reviewed", "forget_kept", "group_key", "keep_group", "reviewed"]

SETTING = "reviewed"
KEY_BYTES = 8


def mark_of(item: Item) -> str:
    """What stands for an item: its content, or its id where it has none."""
    return f"id {item.id}" if item.content is None else item.content.hex()


def group_key(marks: Iterable[str]) -> str:
    """Key of a group of items, from what stands for them; their order does not matter.

    >>> group_key(["b", "a"]) == group_key(["a", "b"]) != group_key(["a"])
    True
    """
    return blake2b("\n".join(sorted(marks)).encode(), digest_size=KEY_BYTES).hexdigest()


class Reviewed:
    """Groups that are kept whole.

    Parameters
    ----------
    groups : dict of str to list of str
        For the key of each group, what stands for its items.
    """

    def __init__(self, groups: dict[str, list[str]]) -> None:
        self.groups = groups
        self._of: dict[str, list[set[str]]] = {}
        for marks in groups.values():
            for mark in marks:
                self._of.setdefault(mark, []).append(set(marks))

    def __contains__(self, marks: object) -> bool:
        """Whether a group, or a larger one that it is a part of, is kept whole.

        >>> reviewed = Reviewed({"k": ["a", "b", "c"]})
        >>> ["a", "c"] in reviewed, ["a", "d"] in reviewed
        (True, False)
        """
        own = set(marks)  # type: ignore[call-overload]
        return bool(own) and any(own <= whole for whole in self._of.get(min(own), ()))

    def without(self, groups: Iterable[Group]) -> list[Group]:
        """The groups that nobody has looked at."""
        return [one for one in groups if [mark_of(item) for item in one.items] not in self]


def reviewed(store: Store) -> Reviewed:
    """The groups that a collection keeps whole."""
    with store.reading(), store.looking():
        return Reviewed(_known(store))


def _known(store: Store) -> dict[str, list[str]]:
    catalogue = store.catalogue
    return dict(catalogue.setting(SETTING)) if catalogue.has_setting(SETTING) else {}


def keep_group(store: Store, items: Sequence[Item]) -> str:
    """Remember that all items of a group are wanted; return the key of the group."""
    marks = sorted(map(mark_of, items))
    if len(marks) < 1:
        raise CollectionError(f"{store.folder}: a group without items can not be kept")
    key = group_key(marks)
    _change(store, key, marks)
    return key


def forget_kept(store: Store, key: str) -> None:
    """Undo `keep_group`."""
    _change(store, key, None)


def _change(store: Store, key: str, marks: list[str] | None) -> None:
    with store.writing(), store.alone(), store.catalogue.writing():
        known = _known(store)
        if marks is None and key not in known:
            raise CollectionError(f"{store.folder}: nothing is kept under the key {key!r}")
        known.pop(key, None)
        store.catalogue.put_setting(SETTING, known if marks is None else known | {key: marks})
