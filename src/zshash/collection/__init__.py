"""Pictures with their codes in a folder that survives a crash."""

from zshash.collection.collection import Collection
from zshash.collection.errors import CollectionError, OtherModel
from zshash.collection.operations.queries import Query
from zshash.collection.results import (
    Added,
    Duplicates,
    Found,
    Group,
    Match,
    Relocated,
    Remade,
    Removed,
    Synced,
    View,
)
from zshash.collection.storage.files import is_collection
from zshash.collection.storage.removed import Removal
from zshash.collection.storage.rows import Item

__all__ = [
    "Added",
    "Collection",
    "CollectionError",
    "Duplicates",
    "Found",
    "Group",
    "Item",
    "Match",
    "OtherModel",
    "Query",
    "Relocated",
    "Remade",
    "Removal",
    "Removed",
    "Synced",
    "View",
    "is_collection",
]
