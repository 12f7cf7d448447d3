"""Pictures with their codes in a folder that survives a crash."""

from zshash.collection.collection import Collection
from zshash.collection.errors import CollectionError
from zshash.collection.files import is_collection
from zshash.collection.rows import Added, Found, Item, Match, Page, Synced

__all__ = [
    "Added",
    "Collection",
    "CollectionError",
    "Found",
    "Item",
    "Match",
    "Page",
    "Synced",
    "is_collection",
]
