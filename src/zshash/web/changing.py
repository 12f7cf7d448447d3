"""Changes to the items of a collection, as clients ask for them, without any HTTP."""

from typing import Any

from zshash.collection import Collection
from zshash.web.orders import LabelOrder, RemoveOrder, RestoreOrder

__all__ = ["Changes"]


class Changes:
    """Changes to a collection: each method does the work of a route.

    Parameters
    ----------
    collection : Collection
    """

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def remove(self, order: RemoveOrder) -> dict[str, Any]:
        """Remove items."""
        removed = self._collection.remove(order.ids)
        return {"removed": removed.ids.tolist(), "undo": removed.key}

    def restore(self, order: RestoreOrder) -> dict[str, Any]:
        """Undo a removal, also one that another process of the server has made."""
        return {"restored": self._collection.restore(order.undo).tolist()}

    def label(self, order: LabelOrder) -> dict[str, Any]:
        """Give items a label, or take labels away."""
        changed = self._collection.label(order.ids, order.label, how=order.how)
        return {"labelled": sorted(set(order.ids)), "changed": changed}
