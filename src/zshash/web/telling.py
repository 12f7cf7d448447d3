"""JSON of items that many answers hold: it is made once for each item, and kept."""

import math
from collections.abc import Callable, Iterable
from typing import Any

from zshash.collection import Item
from zshash.collection.results import Match
from zshash.web.answers import to_json

__all__ = ["Telling"]


class Telling:
    """JSON of the items that were told last.

    An item that is another object than before is told anew: the collection makes another one when
    the item has changed.

    Parameters
    ----------
    facts : callable
        Facts about an item, and whether it has a small picture.
    most : int
        Number of items whose JSON is kept.
    """

    def __init__(self, facts: Callable[[Item, bool], dict[str, Any]], most: int = 16_384) -> None:
        self._facts, self._most = facts, most
        self._kept: dict[int, tuple[Item, bool, str]] = {}

    def matches(self, matches: Iterable[Match], pictured: set[int]) -> bytes:
        """JSON of the matches of a search, behind each other."""
        told = []
        for item, score, bits in matches:
            if not math.isfinite(score):
                raise ValueError("a score that is no number can not be told")
            apart = "null" if bits is None else bits
            known = self._item(item, item.id in pictured)
            told.append(f'{{"score":{score!r},"bits":{apart},{known}')
        return ",".join(told).encode()

    def _item(self, item: Item, is_pictured: bool) -> str:
        """JSON of an item, without its first bracket."""
        known = self._kept.get(item.id)
        if known is not None and known[0] is item and known[1] == is_pictured:
            return known[2]
        told = to_json(self._facts(item, is_pictured))[1:].decode()
        self._kept[item.id] = item, is_pictured, told
        if len(self._kept) > self._most:
            self._kept.pop(next(iter(self._kept)), None)
        return told
