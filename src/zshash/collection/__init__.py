"""Pictures with their codes in a folder that survives a crash."""

from zshash.collection.collection import Collection
from zshash.collection.errors import CollectionError
from zshash.collection.files import is_collection
from zshash.collection.rows import Added, Item, Match, Synced

__all__ = [
    "Added",
    "Collection",
    "CollectionError",
    "Item",
    "Match",
    "Synced",
    "is_collection",
]
