"""Whether anything in a collection looks much like a query.

The likeness of a query and an item is the share of the query's real values whose signs agree with
the item's bits, less the share of the others, each value counted with its size: from −1 to 1. A
query's own likeness is the mean over its five best items. Nothing looks much like the query if this
is less than that of nearly all items, each with the five items that fit it best. The more items
there are, the nearer are the best of them, for the items as for the query.
"""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from zshash.collection.storage.rows import Ids
from zshash.collection.storage.state import State
from zshash.collection.storage.store import Store

__all__ = ["NEAR", "are_nothing", "likeness"]

NEAR = 5  # best items of a query
SAMPLE = 256  # items that tell what is typical
SHARE = 0.05  # of the items, which have less in common with their best ones than is typical
LEAST = 50  # items in a collection where that can be told
CHANGE = 0.1  # of the number of items, from which on it is told anew
_known: "WeakKeyDictionary[Store, tuple[str, int, float]]" = WeakKeyDictionary()


def likeness(similarities: NDArray[np.float64], ids: Ids, number: int | None) -> float:
    """Mean of the best similarities, without that of the item `number`.

    >>> likeness(np.array([1.0, 0.5, 0.25]), np.array([7, 8, 9]), 7)
    0.375
    """
    near = similarities[: NEAR + 1][ids[: NEAR + 1] != number][:NEAR]
    return float(near.mean()) if len(near) else np.nan


def are_nothing(
    store: Store, state: State, rows: dict[int, float], n: int
) -> Sequence[bool | None]:
    """For each of `n` queries, whether nothing looks much like it; inside `reading`.

    None stands for queries whose likeness is not among `rows`, and for collections where nobody can
    tell: small ones, and those with their codes in a server.
    """
    if not rows or store.is_shared or state.items.n < LEAST:
        return [None] * n
    least = _typical(store, state)
    return [bool(rows[row] < least) if row in rows else None for row in range(n)]


def _typical(store: Store, state: State) -> float:
    """The likeness that nearly all items have; remembered while about as many are there."""
    known = _known.get(store)
    if known and known[0] == state.model and abs(known[1] / state.items.n - 1) <= CHANGE:
        return known[2]
    index = store.mirror.index
    ids = index.ids[np.unique(np.linspace(0, len(index) - 1, SAMPLE).astype(np.int64))]
    bits, found = index.search(index.get(ids), NEAR + 1)
    similarities = 1.0 - 2.0 * bits / index.n_bits
    own = [likeness(*row) for row in zip(similarities, found, ids.tolist(), strict=True)]
    least = float(np.quantile(own, SHARE))
    _known[store] = (state.model, state.items.n, least)
    return least
