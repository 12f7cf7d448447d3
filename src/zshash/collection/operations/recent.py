"""Items that were read lately, kept in memory as the catalogue has them.

Reading an item takes longer than finding it: its row is fetched, checked, and taken apart. An item
is kept until a change of it, or its removal, is in the catalogue's log.
"""

from collections.abc import Sequence

from zshash.collection.operations.items import items
from zshash.collection.storage.rows import Item
from zshash.collection.storage.state import State
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import logged

__all__ = ["Recent"]


class Recent:
    """The items of one collection that were read last; nobody may change what they hold.

    Parameters
    ----------
    most : int
        Number of items that are kept.
    """

    def __init__(self, most: int = 16_384) -> None:
        self._most, self._generation = most, -1
        self._kept: dict[int, Item] = {}

    def items(self, store: Store, state: State, ids: Sequence[int]) -> dict[int, Item]:
        """Items with the given ids, by id, inside `reading`."""
        self._follow(store, state)
        absent = [number for number in ids if number not in self._kept]
        found = {number: self._kept[number] for number in ids if number in self._kept}
        if absent:
            new = dict(zip(absent, items(store, absent), strict=True))
            found |= new
            self._keep(new)
        return found

    def _follow(self, store: Store, state: State) -> None:
        """Forget what has changed since the items were read."""
        if self._generation == state.generation:
            return
        log = None
        if self._kept and state.base <= self._generation <= state.generation:
            with store.looking() as connection:
                log = logged(connection, self._generation)
        if log is None:
            self._kept.clear()
        else:
            for number, _ in log:
                self._kept.pop(number, None)
        self._generation = state.generation

    def _keep(self, new: dict[int, Item]) -> None:
        self._kept |= new
        for number in list(self._kept)[: max(0, len(self._kept) - self._most)]:
            del self._kept[number]
