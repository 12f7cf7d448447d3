"""Exports of items, as clients ask for them, without any HTTP."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.collection.errors import CollectionError
from zshash.web.errors import ApiError
from zshash.web.export_forms import archive, as_csv, as_json, gathered
from zshash.web.orders import MOST_PICTURES, ExportOrder
from zshash.web.private import check_condition
from zshash.web.queries import ItemsQuery, condition
from zshash.web.served import ServedCollection

__all__ = ["Exports"]

AT_ONCE = 500  # items that are read together


class Exports:
    """Exports of a collection; what clients may not see is left out, as everywhere.

    Parameters
    ----------
    served : ServedCollection
    """

    def __init__(self, served: ServedCollection) -> None:
        self._served, self._collection = served, served.collection

    def chosen(self, order: ExportOrder) -> NDArray[np.int64]:
        """Ids of the items that are to be exported, ascending."""
        if order.ids is not None:
            ids = np.unique(order.ids).astype(np.int64)
            self._collection.items(ids)  # an unknown one is an error
        else:
            ids = self._found(ItemsQuery(label=order.label, where=order.where))
        if order.form == "zip" and len(ids) > MOST_PICTURES:
            raise ApiError(
                422,
                f"an archive holds at most {MOST_PICTURES} pictures, and these are {len(ids)}: "
                "export fewer at a time",
            )
        return ids

    def _found(self, query: ItemsQuery) -> NDArray[np.int64]:
        if query.where is not None:
            check_condition(query.where, self._served.settings)
        where = condition(query)
        return self._collection.ids if where is None else self._collection.find(where)

    def parts(self, form: str, ids: NDArray[np.int64]) -> Iterator[bytes]:
        """Items in a form, a part at a time; what is removed meanwhile is left out."""
        items = self._items(ids)
        if form == "zip":
            return archive(items, self._picture)
        shown = ("path",) if self._served.settings.paths else ()
        return gathered(as_csv(items, shown) if form == "csv" else as_json(items))

    def _items(self, ids: NDArray[np.int64]) -> Iterator[dict[str, Any]]:
        for start in range(0, len(ids), AT_ONCE):
            yield from self._served.portraits(ids[start : start + AT_ONCE])

    def _picture(self, number: int) -> bytes | None:
        try:
            return self._served.pictures.get(number)
        except (ApiError, CollectionError):
            return None
