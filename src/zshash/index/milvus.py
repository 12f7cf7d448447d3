"""Codes in a Milvus server, with the methods of `HammingIndex`."""

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash.codes import check_codes, check_integer, code_bytes
from zshash.index import _milvus_search as search
from zshash.index._checks import (
    INT64,
    check_ids,
    check_new_ids,
    check_vectors,
    check_width,
    next_ids,
    some,
)
from zshash.index._engine import Distances
from zshash.index._milvus_address import Address
from zshash.index._milvus_table import (
    CODE,
    ID,
    IDS_AT_ONCE,
    Hits,
    MilvusError,
    MilvusGone,
    Rows,
    Table,
    among,
    both,
    span,
)
from zshash.index._runs import Codes, Ids
from zshash.index.memory import HammingIndex

__all__ = ["Address", "MilvusError", "MilvusGone", "MilvusIndex", "MilvusPart", "notes_at"]

LAST_ID = int(INT64.max) - 1  # a server counts the id after this one, but does not return it
LONG_RUN = 64  # consecutive ids that are worth a condition of their own
RUNS_AT_ONCE = 64
LISTED_AT_ONCE = 32_768


class MilvusPart:
    """Some of the codes of a `MilvusIndex`, as its `subset` returns them, for searches.

    The codes stay in the index: codes that are removed there are gone here, too.
    """

    def __init__(self, table: Table, n_bits: int, conditions: Sequence[str] = ("",)) -> None:
        self._table, self._n_bits, self._conditions = table, n_bits, tuple(conditions)

    @property
    def n_bits(self) -> int:
        """Length of the codes in bits."""
        return self._n_bits

    @property
    def ids(self) -> Ids:
        """All ids in ascending order (n,)."""
        parts = [rows.ids for rows in self._rows(codes=False)]
        return np.sort(np.concatenate([np.empty(0, dtype=np.int64), *parts]))

    @property
    def codes(self) -> Codes:
        """All codes in the order of `ids` (n, bytes)."""
        ids, codes = self._joined(self._rows(codes=True))
        return codes[np.argsort(ids)]

    def __len__(self) -> int:
        return sum(self._table.count(condition) for condition in self._conditions)

    def __contains__(self, item: object) -> bool:
        if not isinstance(item, int | np.integer) or not INT64.min <= item <= INT64.max:
            return False
        return bool(len(self._known(np.array([item], dtype=np.int64), codes=False).ids))

    def pages(self) -> Iterator[tuple[Ids, Codes]]:
        """Ids and codes, some thousand at a time; for a whole index in ascending order of ids."""
        for rows in self._rows(codes=True):
            if len(rows.ids):
                yield rows.ids, rows.codes

    def get(self, ids: ArrayLike) -> Codes:
        """Codes under the given ids, a row each."""
        wanted = check_ids(ids)
        found = self._known(np.unique(wanted), codes=True)
        unknown = np.setdiff1d(wanted, found.ids)
        if len(unknown):
            raise ValueError(f"the index does not hold {some(unknown)}")
        order = np.argsort(found.ids)
        return found.codes[order[np.searchsorted(found.ids, wanted, sorter=order)]]

    def subset(self, ids: ArrayLike) -> "MilvusPart":
        """Index of the codes under the given ids, with the same ids; it holds no codes here."""
        wanted = np.unique(check_ids(ids))
        part = MilvusPart(self._table, self._n_bits, _conditions(wanted))
        if len(part) < len(wanted) or self._conditions != ("",):
            unknown = np.setdiff1d(wanted, self._known(wanted, codes=False).ids)
            if len(unknown):
                raise ValueError(f"the index does not hold {some(unknown)}")
        return part

    def in_memory(self) -> HammingIndex:
        """All codes in an index in memory."""
        index = HammingIndex(self._n_bits)
        for ids, codes in self.pages():
            index.add(codes, ids)
        return index

    def prepare(self) -> None:
        """Have the server write all rows from its log to its files, and index them."""
        self._table.flush()

    def search(self, queries: ArrayLike, k: int) -> tuple[Distances, Ids]:
        """Find the `k` nearest codes of each query; see `HammingIndex.search`."""
        checked = check_codes("queries", queries, self._n_bits)
        k = min(check_integer("k", k, 1), len(self))
        if not k or not len(checked):
            shape = (len(checked), k)
            return np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int64)
        found = self._each(
            checked,
            lambda condition: search.nearest(self._table, checked, k, self._n_bits, condition),
        )
        k = min(k, *(len(hits.ids) for hits in found))  # others may remove some meanwhile
        return (
            np.stack([hits.distances[:k] for hits in found]),
            np.stack([hits.ids[:k] for hits in found]),
        )

    def radius(self, queries: ArrayLike, r: int) -> tuple[Ids, Distances, Ids]:
        """Find all codes within distance `r` of each query; see `HammingIndex.radius`."""
        checked = check_codes("queries", queries, self._n_bits)
        r = min(check_integer("r", r, 0), self._n_bits)
        found = self._each(
            checked, lambda condition: search.within(self._table, checked, r, condition)
        )
        limits = np.cumsum([0, *(len(hits.ids) for hits in found)], dtype=np.int64)
        whole = (search.NOTHING, *found)
        return (
            limits,
            np.concatenate([hits.distances for hits in whole]),
            np.concatenate([hits.ids for hits in whole]),
        )

    def search_real(self, vectors: ArrayLike, k: int) -> tuple[NDArray[np.float64], Ids]:
        """Find the `k` codes of the largest inner product; see `HammingIndex.search_real`.

        The server can not do this: all codes are fetched from it, some thousand at a time.
        """
        vectors = check_vectors(vectors, self._n_bits)
        k = check_integer("k", k, 1)
        scores = np.empty((len(vectors), 0))
        ids = np.empty((len(vectors), 0), dtype=np.int64)
        for page_ids, page_codes in self.pages():
            page = HammingIndex(self._n_bits)
            page.add(page_codes, page_ids)
            own_scores, own_ids = page.search_real(vectors, k)
            scores, ids = np.hstack([scores, own_scores]), np.hstack([ids, own_ids])
            order = np.lexsort((ids, -scores), axis=1)[:, :k]
            scores = np.take_along_axis(scores, order, axis=1)
            ids = np.take_along_axis(ids, order, axis=1)
        return scores, ids

    def _each(self, queries: Codes, ask: Any) -> list[Hits]:
        """Results of `ask` for all conditions, joined for each query."""
        answers = [ask(condition) for condition in self._conditions]
        if len(answers) == 1:
            found: list[Hits] = answers[0]
            return found
        return [
            search.ordered([answer[place] for answer in answers]) for place in range(len(queries))
        ]

    def _rows(self, *, codes: bool) -> Iterator[Rows]:
        for condition in self._conditions:
            yield from search.all_rows(self._table, condition, codes=codes)

    def _known(self, ids: Ids, *, codes: bool) -> Rows:
        """Rows with the given ids; unknown ids are left out."""
        at_once = min(IDS_AT_ONCE, self._table.limit)
        return self._joined(
            self._table.rows(both(among(ids[start : start + at_once]), condition), codes=codes)
            for start in range(0, len(ids), at_once)
            for condition in self._conditions
        )

    def _joined(self, parts: Iterator[Rows]) -> Rows:
        kept = [rows for rows in parts if len(rows.ids)]
        nothing = np.empty((0, code_bytes(self._n_bits)), dtype=np.uint8)
        codes = [rows.codes for rows in kept if rows.codes.size]
        return Rows(
            np.concatenate([np.empty(0, dtype=np.int64), *(rows.ids for rows in kept)]),
            np.concatenate([nothing, *codes]),
        )


class MilvusIndex(MilvusPart):
    """Packed codes under integer ids in a Milvus server, searched exactly by Hamming distance.

    The methods are those of `HammingIndex`: neighbours come ordered by (distance, id), however many
    are at the same distance. No codes are held in this process. Searches see all that this object
    has written; what others have written is certainly seen after `refresh`. One process at a time
    may write.

    Parameters
    ----------
    address : str
        ``milvus://host:port/name``; ``milvus://user:password@host:port/name``, with
        ``?secure=true`` for TLS, ``?token=…``, ``?timeout=…`` (seconds that an answer may take). A
        token or ``user:password`` may be in the environment as ``ZSHASH_MILVUS_TOKEN`` instead.
    n_bits : int
        Length of the codes, from 8 to 1024 bits. The collection of this name is made if the
        server has none; one with another length, or with other fields, is refused.
    notes : dict, optional
        Facts that are written beside the codes if the collection is made.

    Examples
    --------
    >>> index = MilvusIndex("milvus://localhost:19530/birds", n_bits=64)  # doctest: +SKIP
    >>> index.add(codes, ids=[30, 20, 10])  # doctest: +SKIP
    >>> distances, ids = index.search(queries, k=2)  # doctest: +SKIP
    """

    def __init__(
        self, address: str | Address, n_bits: int, notes: dict[str, str] | None = None
    ) -> None:
        n_bits = check_width(n_bits)
        self.address = address if isinstance(address, Address) else Address.parse(address)
        super().__init__(Table(self.address), n_bits)
        try:
            self.ensure(notes)
        except BaseException:
            self._table.close()
            raise

    def ensure(self, notes: dict[str, str] | None = None) -> None:
        """Have the server load the collection; make it first if it does not exist."""
        if self._table.exists:
            self._check_fields()
            self._table.load()
        else:
            self._table.create(self._n_bits, notes or {})

    def _check_fields(self) -> None:
        """Refuse a collection with other fields, or with codes of another length."""
        fields, width = self._table.fields(), 8 * code_bytes(self._n_bits)
        found = fields.get(CODE, ("", 0))[1]
        if fields != {ID: ("*INT64", 0), CODE: ("BINARY_VECTOR", found)}:
            raise ValueError(
                f"{self.address}: a collection with other fields than {ID} and {CODE} "
                f"({', '.join(fields)}): choose another name"
            )
        n_bits = int(self._table.notes().get("n_bits", width))
        if found != width or n_bits != self._n_bits:
            length = n_bits if found == width else found
            raise ValueError(
                f"{self.address}: its codes have {length} bits, not {self._n_bits}: choose "
                "another name"
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.address)!r}, n_bits={self._n_bits})"

    def close(self) -> None:
        """End the connection."""
        self._table.close()

    def refresh(self) -> None:
        """Make later searches see everything that anybody has written until now."""
        self._table.refresh()

    def add(self, codes: ArrayLike, ids: ArrayLike | None = None) -> None:
        """Add codes (n, bytes) under new ids (n,), by default those after the largest ever used.

        An id that is taken or given twice is refused, and then nothing is added. If the server
        fails, some may have been added: `put` the same codes under the same ids again.
        """
        checked = check_codes("codes", codes, self._n_bits)
        next_id = int(self._table.notes().get("next_id", 0))
        if ids is None:
            self.put(checked, next_ids(next_id, len(checked), LAST_ID))
        else:
            wanted = _check_given(ids, len(checked))
            self._check_free(wanted[wanted < next_id])
            self.put(checked, wanted)

    def _check_free(self, ids: Ids) -> None:
        taken = np.sort(self._known(ids, codes=False).ids)
        if len(taken):
            raise ValueError(f"the index already holds {some(taken)}; remove them first")

    def put(self, codes: ArrayLike, ids: ArrayLike) -> None:
        """Store codes (n, bytes) under ids (n,), in place of earlier ones; twice does no harm."""
        checked = check_codes("codes", codes, self._n_bits)
        wanted = _check_given(ids, len(checked))
        if not len(wanted):
            return
        next_id = int(wanted.max()) + 1
        if next_id > int(self._table.notes().get("next_id", 0)):
            self._table.note(next_id=next_id)
        self._table.put(wanted, checked)

    def remove(self, ids: ArrayLike) -> int:
        """Remove the codes under `ids` and return how many there were.

        If an id is unknown, ValueError is raised and nothing is removed.
        """
        unwanted = np.unique(check_ids(ids))
        unknown = np.setdiff1d(unwanted, self._known(unwanted, codes=False).ids)
        if len(unknown):
            raise ValueError(f"the index does not hold {some(unknown)}, so nothing was removed")
        self._table.delete(unwanted)
        return len(unwanted)

    def discard(self, ids: ArrayLike) -> None:
        """Remove the codes under `ids`; unknown ids are ignored."""
        self._table.delete(np.unique(check_ids(ids)))

    def clear(self, n_bits: int | None = None, notes: dict[str, str] | None = None) -> None:
        """Delete all codes and notes; later codes may have another length."""
        self._n_bits = check_width(n_bits or self._n_bits)
        if self._table.exists:
            self._table.drop()
        self._table.create(self._n_bits, notes or {})

    def with_bits(self, n_bits: int) -> "MilvusIndex":
        """The same index with codes of another length, after another process called `clear`."""
        other = copy(self)
        other._n_bits = check_width(n_bits)
        return other

    def notes(self) -> dict[str, str]:
        """Facts that `note` wrote beside the codes."""
        return self._table.notes()

    def note(self, **facts: object) -> None:
        """Write facts beside the codes; other facts stay."""
        self._table.note(**facts)


def notes_at(address: Address) -> dict[str, str] | None:
    """Facts beside the codes at an address, or None if there is no collection."""
    table = Table(address)
    try:
        return table.notes() if table.exists else None
    finally:
        table.close()


def _check_given(ids: ArrayLike, n: int) -> Ids:
    """Ids for `n` codes, all different, that a server can return."""
    checked = check_new_ids(ids, n)
    if n and checked.max() > LAST_ID:
        raise ValueError(
            f"Milvus does not return {some(checked.max(keepdims=True))}: use a smaller id"
        )
    return checked


def _conditions(ids: Ids) -> list[str]:
    """Conditions that divide the given ids, which ascend and differ, among them."""
    runs = np.split(ids, np.flatnonzero(ids[1:] != ids[:-1] + 1) + 1)
    long = [run for run in runs if len(run) >= LONG_RUN]
    others = np.concatenate([ids[:0], *(run for run in runs if len(run) < LONG_RUN)])
    conditions = []
    for start in range(0, len(long), RUNS_AT_ONCE):
        spans = [span(int(run[0]), int(run[-1])) for run in long[start : start + RUNS_AT_ONCE]]
        conditions.append(f"({' or '.join(spans)})")
    for start in range(0, len(others), LISTED_AT_ONCE):
        conditions.append(among(others[start : start + LISTED_AT_ONCE]))
    return conditions
