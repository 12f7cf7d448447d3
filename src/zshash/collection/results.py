"""Results of a collection's operations: matches, added items, synced items, a view."""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash.collection.errors import CollectionError
from zshash.collection.notebook import MOST_SHOWN, as_page
from zshash.collection.storage.rows import Ids, Item
from zshash.index import CodeIndex
from zshash.learning.model import Model
from zshash.learning.readings import Reading

Thumbnails = Callable[[Sequence[int]], dict[int, bytes]]  # those of the given items, by id
FEW = 3  # matches in a short text

__all__ = [
    "Added",
    "Duplicates",
    "Found",
    "Group",
    "Match",
    "Relocated",
    "Removed",
    "Synced",
    "Verified",
    "View",
]


class Match(NamedTuple):
    """An item that was found.

    Attributes
    ----------
    item : Item
        The whole item; its fields are at hand as `id`, `code`, `path`, `labels` and `metadata`.
    score : float
        How well it fits, the higher the better. By bits it is 1 − 2·bits/n_bits; by real values
        the cosine between the values of the query and the ±1 bits of the item; by name the cosine
        with the meaning of the name, less 0.6 of the cosine with the best other seen category, or,
        where the network knows names, how likely the item shows what the name means (1 for items
        with such a label), or the cosine where nobody can tell. Of matches that were ranked again,
        it is the mean of two cosines, of real values and of features.
    bits : int or None
        Number of bits in which the codes of query and item differ; None by name.
    """

    item: Item
    score: float
    bits: int | None = None

    def __repr__(self) -> str:
        bits = "" if self.bits is None else f", bits={self.bits}"
        labels = f", labels={self.labels}" if self.labels else ""
        return f"Match(id={self.id}, score={self.score:.3g}{bits}, path={self.path!r}{labels})"

    @property
    def id(self) -> int:
        """Id of the item."""
        return self.item.id

    @property
    def code(self) -> bytes:
        """Packed code of the item."""
        return self.item.code

    @property
    def path(self) -> str | None:
        """Path or address of the item's picture, where it is known."""
        return self.item.source

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the item."""
        return self.item.labels

    @property
    def metadata(self) -> dict[str, Any]:
        """Metadata of the item."""
        return self.item.metadata


class Found(list[Match]):
    r"""Matches of one query, best first: by falling score, then by id.

    Attributes
    ----------
    total : int
        Number of matches on all pages: of all items that meet the condition, or of those within
        the radius.
    n_all : int
        The same, where the query limits `total`.
    offset : int
        Number of matches on the pages before this one.
    code : bytes or None
        Packed code of the query; None by name.
    model : str
        Checksum (sha256) of the model whose codes were compared.
    values : ndarray of shape (n_bits,), or None
        Real values of the query, where it has some: a search for them finds the same.
    pictured : set of int
        Ids of the matches that have a thumbnail; ids of other items may be among them.
    reading : Reading or None
        What was understood of a search by name, where the network knows names: the sense that was
        taken, other senses, words that were left out, whether anything looks like it.
    nothing : bool or None
        Whether nothing in the collection looks much like the query: what comes closest has less in
        common with it than items usually have with each other. None where that can not be told.
    failure : str or None
        Why a picture among many could not be read; nothing is found for it then.

    A notebook shows the matches as a row of thumbnails, as long as the collection is open.

    Examples
    --------
    >>> found = Found([Match(Item(7, b"\x0f"), 0.75, 1)], total=30)
    >>> found[0].id, found[0].score, len(found), found.total
    (7, 0.75, 1, 30)
    """

    def __init__(
        self,
        matches: Iterable[Match] = (),
        *,
        total: int = 0,
        n_all: int = 0,
        offset: int = 0,
        code: bytes | None = None,
        model: str = "",
        values: NDArray[np.float64] | None = None,
        pictured: set[int] | None = None,
        reading: Reading | None = None,
        nothing: bool | None = None,
        failure: str | None = None,
        thumbnails: Thumbnails | None = None,
    ) -> None:
        super().__init__(matches)
        self.total, self.offset, self.code, self.model = total, offset, code, model
        self.n_all = n_all or total
        self.values, self.pictured = values, set() if pictured is None else pictured
        self.reading, self.nothing, self.failure = reading, nothing, failure
        self._thumbnails = thumbnails

    def __repr__(self) -> str:
        few = ", ".join(
            f"id {own.id} ({own.score:.2f}) {own.path or ''}".strip() for own in self[:FEW]
        )
        more = ", …" if len(self) > FEW else ""
        return f"<Found {self._summary}{': ' if few else ''}{few}{more}>"

    @property
    def _summary(self) -> str:
        if self.failure is not None:
            return f"nothing: {self.failure}"
        return f"{len(self):,} of {self.total:,}"

    def _repr_html_(self) -> str:
        """What a notebook shows: the first matches with their thumbnails."""
        shown = self[:MOST_SHOWN]
        title = (
            self._summary if len(shown) == len(self) else f"{self._summary}, the first {len(shown)}"
        )
        known: dict[int, bytes] = {}
        if self._thumbnails is not None:
            with suppress(CollectionError):  # it may be closed by now
                known = self._thumbnails([match.id for match in shown])
        return as_page(f"Found {title}", shown, known)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_thumbnails": None}  # an open collection can not be pickled


class Added(NamedTuple):
    """Result of adding: new items, duplicates and failures.

    Attributes
    ----------
    ids : ndarray of int64
        Ids of the new items, in the order in which they came.
    duplicates : ndarray of int64
        For each thing that was there already, the id of the item that it equals.
    failures : tuple of str
        What could not be read, and why.
    """

    ids: Ids
    duplicates: Ids
    failures: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return _told(self, "ids", "duplicates", "failures")


class Removed(int):
    """Number of items that were removed, and what restores them.

    Attributes
    ----------
    ids : ndarray of int64
        Ids of the items.
    key : str or None
        What `Collection.restore` takes; None if they can not be restored.

    Examples
    --------
    >>> import numpy as np
    >>> removed = Removed(np.array([3, 9]), "17-5f3a9c01")
    >>> removed == 2, removed.ids.tolist(), removed
    (True, [3, 9], <Removed 2 items, key='17-5f3a9c01'>)
    """

    ids: Ids
    key: str | None

    def __new__(cls, ids: Ids, key: str | None = None) -> "Removed":  # noqa: D102, as in int
        removed = super().__new__(cls, len(ids))
        removed.ids, removed.key = ids, key
        return removed

    def __getnewargs__(self) -> tuple[Ids, str | None]:  # type: ignore[override]
        return self.ids, self.key

    def __repr__(self) -> str:
        return f"<Removed {int(self):,} items, key={self.key!r}>"

    def __str__(self) -> str:
        return str(int(self))


class Group(NamedTuple):
    """Items that are copies of each other, or look alike.

    Attributes
    ----------
    level : str
        "identical" for one item with other files of the same bytes, "same" for copies of one
        picture that are scaled, compressed, a little cropped or otherwise changed, "alike" for
        items whose codes differ in a few bits.
    items : tuple of Item
        In the order of their ids.
    copies : dict of int to list of str
        For ids of the items, the paths of other files with the same bytes.
    cropped : set of int
        Ids of the items that are cut out of another picture of the group.
    """

    level: str
    items: tuple[Item, ...]
    copies: dict[int, list[str]]
    cropped: AbstractSet[int] = frozenset()


class Duplicates(list[Group]):
    """Groups of items that are copies of each other, or look alike; first those of equal files.

    Attributes
    ----------
    unknown : int
        Number of items that could not be compared, because the collection has neither a thumbnail
        nor a perceptual hash of them.
    """

    def __init__(self, groups: Iterable[Group] = (), *, unknown: int = 0) -> None:
        super().__init__(groups)
        self.unknown = unknown


class Synced(NamedTuple):
    """Result of a sync: ids of the items, and what could not be read, and why.

    Attributes
    ----------
    added, changed, moved, removed : ndarray of int64
    failures : tuple of str
        What could not be read, and why.
    copies : dict of str to str
        Paths of files with the very content of an item, and for each the path of that item.
    told : int
        Number of files that can not be read and have not changed since an earlier call said so.
    paths : dict of int to tuple
        After a dry run, for each id the path before and the path afterwards; None is no path.
    """

    added: Ids
    changed: Ids
    moved: Ids
    removed: Ids
    failures: tuple[str, ...] = ()
    copies: dict[str, str] = {}  # noqa: RUF012, nobody changes it
    told: int = 0
    paths: dict[int, tuple[str | None, str | None]] = {}  # noqa: RUF012, nobody changes it

    def __repr__(self) -> str:
        return _told(self, "added", "changed", "moved", "removed", "failures")


class Relocated(NamedTuple):
    """Result of telling a collection that pictures have moved.

    Attributes
    ----------
    ids : ndarray of int64
        Ids of the items whose paths have changed.
    missing : tuple of str
        New paths where there is no file, or one of another size.
    """

    ids: Ids
    missing: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return _told(self, "ids", "missing")


class Remade(NamedTuple):
    """Result of making thumbnails again.

    Attributes
    ----------
    made : int
        Number of items that have a new thumbnail.
    fine : int
        Number of items whose thumbnail was as it should be.
    failures : tuple of str
        Why the other items keep what they have, a sentence each: their pictures are gone, changed
        or can not be read.
    """

    made: int
    fine: int
    failures: tuple[str, ...] = ()


class Verified(list[str]):
    """Everything that is wrong with a collection, a sentence each; empty if nothing is.

    Attributes
    ----------
    encoded : int
        Number of items that were encoded again, to compare their codes.
    not_encoded : int
        Number of items that were chosen for that, but have neither features in the collection nor
        a picture that is still there and unchanged.
    """

    def __init__(
        self, problems: Iterable[str] = (), *, encoded: int = 0, not_encoded: int = 0
    ) -> None:
        super().__init__(problems)
        self.encoded, self.not_encoded = encoded, not_encoded


@dataclass(frozen=True)
class View:
    """One state of a collection.

    Attributes
    ----------
    generation : int
        A number that grows whenever items change.
    model : Model
        The model that made the codes.
    index : CodeIndex
        Codes of all items. It stays as it is when the collection changes, unless it lies in a
        server.
    """

    generation: int
    model: Model
    index: CodeIndex


def _told(result: object, *names: str) -> str:
    """Short text for a result of many items: how many there are of each kind."""
    counts = (f"{len(getattr(result, name)):,} {name}" for name in names)
    return f"<{type(result).__name__} {', '.join(counts)}>"
