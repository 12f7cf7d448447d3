"""Features that a collection keeps beside the codes: how they are stored, and found again.

Features of pictures are kept as numbers of 16 bits, which rank as well as those of 32 and take half
the space. They are rounded before they are encoded, so that what is encoded again later, from the
features that are kept, gets the same code.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.collection.storage.rows import Ids
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import blobs
from zshash.learning.model import Model

__all__ = ["HALF", "SINGLE", "Vectors", "as_kept", "features_of", "from_stored", "to_stored"]

HALF, SINGLE = "<f2", "<f4"
LARGEST = 60_000.0  # of the numbers that 16 bits can hold
Vectors = dict[int, NDArray[np.float32]]


def as_kept(about: Mapping[str, Any], features: NDArray[np.float32]) -> NDArray[np.float32]:
    """Features as the collection with these settings will find them again."""
    if not about["keep_features"]:
        return features
    return features.astype(_kind(about, features)).astype(np.float32)


def to_stored(
    about: Mapping[str, Any], ids: Ids, features: NDArray[np.float32]
) -> dict[int, bytes]:
    """Features of items by id, as they are stored; empty if the collection keeps none."""
    if not about["keep_features"]:
        return {}
    table = np.ascontiguousarray(features, dtype=_kind(about, features))
    return {number: row.tobytes() for number, row in zip(ids.tolist(), table, strict=True)}


def _kind(about: Mapping[str, Any], features: NDArray[np.float32]) -> str:
    """Type of the stored numbers; features that 16 bits can not hold get 32."""
    kind: str = about.get("feature_type", SINGLE)
    is_large = kind == HALF and features.size and np.abs(features).max() > LARGEST
    return SINGLE if is_large else kind


def features_of(store: Store, model: Model, ids: Sequence[int]) -> Vectors:
    """Features of those of the given items that have some which the model can hash.

    Inside `reading`.
    """
    with store.looking() as connection:
        found = blobs(connection, store.folder, "features", ids)
    return from_stored(found, int(model.hasher.n_features_in_))


def from_stored(found: Mapping[int, bytes], n_features: int) -> Vectors:
    """Features of items by id; those of another length are left out.

    >>> from_stored({7: np.float32([1, 2]).tobytes(), 8: b"ab"}, 2)
    {7: array([1., 2.], dtype=float32)}
    """
    kinds = {np.dtype(kind).itemsize * n_features: kind for kind in (HALF, SINGLE)}
    return {
        number: np.frombuffer(value, dtype=kinds[len(value)]).astype(np.float32)
        for number, value in found.items()
        if len(value) in kinds
    }
