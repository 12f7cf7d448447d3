"""Changes to the items of a collection, as clients ask for them, without any HTTP."""

from pathlib import Path
from typing import Any

from zshash.web.jobs import Job, JobState
from zshash.web.orders import LabelOrder, RemoveOrder, RestoreOrder
from zshash.web.served import ServedCollection

__all__ = ["Changes"]


class Changes:
    """Changes to a collection: each method does the work of a route.

    Parameters
    ----------
    served : ServedCollection
    place : Path
        Folder that the processes of a server share.
    """

    def __init__(self, served: ServedCollection, place: Path) -> None:
        self._served, self._collection = served, served.collection
        self._refit = Job(served.collection.path, place, "refit", served.limits)

    def remove(self, order: RemoveOrder) -> dict[str, Any]:
        """Remove items."""
        removed = self._served.remove(order.ids, order.for_good)
        return {"removed": removed.ids.tolist(), "undo": removed.key}

    def restore(self, order: RestoreOrder) -> dict[str, Any]:
        """Undo a removal, also one that another process of the server has made."""
        return {"restored": self._collection.restore(order.undo).tolist()}

    def label(self, order: LabelOrder) -> dict[str, Any]:
        """Give items a label, or take labels away."""
        changed = self._collection.label(order.ids, order.label, how=order.how)
        return {"labelled": sorted(set(order.ids)), "changed": changed}

    def refit(self) -> dict[str, Any]:
        """Begin to learn again, unless that is under way."""
        return self._told(self._refit.start(self._collection.generation))

    def refit_state(self) -> dict[str, Any]:
        """How far learning again is."""
        return self._told(self._refit.state())

    def _told(self, state: JobState) -> dict[str, Any]:
        facts = {name: getattr(state, name) for name in ("state", "part", "done", "text")}
        return facts | {"n_unlearned": self._collection.n_unlearned}

    def close(self) -> None:
        """End learning."""
        self._refit.close()
