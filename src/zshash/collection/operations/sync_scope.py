"""What a sync looks at: the picture files of a folder or of a list, and their items."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from zshash._interrupts import interruptible
from zshash.collection.errors import CollectionError
from zshash.collection.operations.fields import stored_source
from zshash.collection.storage.rows import Row, to_item
from zshash.collection.storage.store import Store
from zshash.collection.storage.tables import rows_where
from zshash.datasets import Pictures
from zshash.datasets.listing import pictures_below

__all__ = ["MissingFolder", "Scope", "below", "items_below", "scope_of"]


class MissingFolder(CollectionError):  # noqa: N818, the folder is the error
    """The folder of pictures that was asked for is not there; it may have moved."""


class Scope(NamedTuple):
    """Files and items that a sync compares.

    Attributes
    ----------
    root : Path
        A folder, a picture or a list of pictures.
    paths : list of str
        Picture files that are there.
    rows : list of Row
        Items whose sources belong to the scope, whether their files are there or not.
    contains : callable
        Whether a path belongs to the scope.
    """

    root: Path
    paths: list[str]
    rows: list[Row]
    contains: Callable[[str], bool]


def scope_of(store: Store, source: str | Path) -> Scope:
    """Files and items of a folder, of a picture, or of a list of pictures.

    Raises
    ------
    CollectionError
        If nothing is there, or no picture is left of those in the collection.
    """
    root = Path(os.path.abspath(source))  # noqa: PTH100, drops what is before ".."
    if root.is_dir():
        rows = items_below(store, root)
        with interruptible():
            paths = [str(path) for path in pictures_below(root, root.parent)]
        paths += _left_out(paths, rows)
        scope = Scope(root, paths, rows, below(root))
    elif root.exists():
        listed = _listed(store, root)
        paths = [path for path in listed if os.path.lexists(path)]
        scope = Scope(root, paths, _items_at(store, listed), listed.__contains__)
    else:
        raise MissingFolder(
            f"{root}: there is no such folder, so nothing was added or removed; is its disk there?"
        )
    if scope.rows and not paths:
        raise CollectionError(
            f"{root}: no picture is left there of {len(scope.rows)} in the collection: is its disk "
            "there? Remove them by their path if they are to go"
        )
    return scope


def _left_out(paths: list[str], rows: list[Row]) -> list[str]:
    """Files of items that are there, but are not listed, as links that lead nowhere are not."""
    listed = set(paths)
    sources = dict.fromkeys(to_item(row).source or "" for row in rows)
    return [path for path in sources if path not in listed and os.path.lexists(path)]


def _listed(store: Store, root: Path) -> dict[str, None]:
    """Paths of the pictures in a list, each once."""
    with interruptible():
        data = store.model.open(str(root))
    if not isinstance(data, Pictures) or not data.paths:
        raise CollectionError(
            f"{root}: it holds no paths of pictures, so there are no files to compare items with"
        )
    return dict.fromkeys(map(os.path.abspath, data.paths))


def below(root: Path) -> Callable[[str], bool]:
    """A function that tells whether a path lies in a folder.

    >>> below(Path("/photos"))("/photos/a.jpg"), below(Path("/photos"))("/photos2/a.jpg")
    (True, False)
    """
    prefix = _prefix(root)
    return lambda path: path.startswith(prefix)


def _prefix(root: Path) -> str:
    return str(root).rstrip(os.sep) + os.sep


def items_below(store: Store, root: Path) -> list[Row]:
    """Items whose sources lie in a folder."""
    prefix = _prefix(root)
    raw = prefix.encode("utf-8", "surrogatepass")
    wanted = {(len(prefix), stored_source(prefix)), (len(raw), raw)}
    condition = "(" + " OR ".join(["substr(source, 1, ?) = ?"] * len(wanted)) + ")"
    values = [value for pair in wanted for value in pair]
    with store.looking() as connection:
        tally = store.catalogue.state().items
        blocks = rows_where(connection, store.folder, tally, condition, values)
        return [Row._make(row[:9]) for rows in blocks for row in rows]


def _items_at(store: Store, paths: dict[str, None]) -> list[Row]:
    """Items whose sources are among the given paths."""
    with store.looking() as connection:
        blocks = rows_where(connection, store.folder, store.catalogue.state().items)
        found = (Row._make(row[:9]) for rows in blocks for row in rows)
        return [row for row in found if to_item(row).source in paths]
