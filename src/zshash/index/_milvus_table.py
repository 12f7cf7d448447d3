"""A collection of a Milvus server: all requests to the server, and messages about its errors.

Requests are divided so that they stay within the default limits of a server: an answer of at most
16,384 rows to a query, and messages of some megabytes.

A reader waits until the server has caught up with a timestamp, the *floor*: the time of its own
last write, or of its last `refresh`. So it sees everything written before, without the fifth of a
second that a server needs to show what is being written right now.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from zshash._extras import needs
from zshash.codes import code_bytes
from zshash.index._checks import INT64
from zshash.index._engine import Distances
from zshash.index._milvus_address import Address
from zshash.index._runs import Codes, Ids

__all__ = ["Hits", "MilvusError", "MilvusGone", "Rows", "Table", "among", "both", "span"]

LIMIT = 16_384  # rows of an answer to one query
HITS_AT_ONCE = 2**21  # rows of an answer to several queries
QUERIES_AT_ONCE = 256
ROWS_AT_ONCE = 16_384
IDS_AT_ONCE = 8_192
SECONDS_TO_CONNECT, SECONDS_TO_LOAD, SECONDS_BETWEEN = 3.0, 600.0, 0.2
ID, CODE, PREFIX = "id", "code", "zshash."
GONE = {  # the server's error numbers, and the messages for them
    100: "the server has no such collection any more: open it again",
    101: "the server has not loaded this collection: try again, or open it again",
}


class MilvusError(OSError):
    """A server does not answer or does not do what was asked; the message names the cure."""


class MilvusGone(MilvusError):  # noqa: N818, reads like what it says
    """A collection does not exist any more, or the server has not loaded it yet."""


class Hits(NamedTuple):
    """Rows found for one query, in no particular order."""

    distances: Distances
    ids: Ids


class Rows(NamedTuple):
    """Ids (n,) and codes (n, bytes); codes are empty if they were not asked for."""

    ids: Ids
    codes: Codes


class Table:
    """A collection of a Milvus server.

    Parameters
    ----------
    address : Address

    Attributes
    ----------
    limit : int
        Most rows of an answer to one query.
    """

    def __init__(self, address: Address) -> None:
        self.address, self.limit, self._floor = address, LIMIT, 0
        with needs("milvus"):
            import pymilvus
        with needs("milvus"):
            import grpc
        # All errors are raised, too: the library need not print a page about each.
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
        self._errors = (pymilvus.MilvusException, grpc.RpcError)
        try:
            self._client = pymilvus.MilvusClient(
                uri=address.uri,
                token=address.token,
                timeout=SECONDS_TO_CONNECT,
                dedicated=True,  # otherwise closing one connection closes all of them
            )
        except self._errors as error:
            raise MilvusError(
                f"{address}: no Milvus server answers there, or it does not let us in: start it, "
                f"or correct the address ({_reason(error)})"
            ) from error
        try:
            self.refresh()
        except BaseException:
            self.close()
            raise

    def refresh(self) -> None:
        """Make later answers include everything that anybody has written until now."""
        with self._reporting():
            now = int(self._client._get_connection().alloc_timestamp(**self._patience))
        self._floor = max(self._floor, now)  # another thread may have a later one

    def close(self) -> None:
        """End the connection."""
        self._client.close()

    @property
    def exists(self) -> bool:
        """Whether the server has such a collection."""
        with self._reporting():
            return bool(self._client.has_collection(self.address.name, **self._patience))

    def create(self, n_bits: int, facts: dict[str, str]) -> None:
        """Make the collection, with facts beside its rows."""
        from pymilvus import DataType

        with self._reporting():
            schema = self._client.create_schema(auto_id=False, enable_dynamic_field=False)
            schema.add_field(ID, DataType.INT64, is_primary=True)
            schema.add_field(CODE, DataType.BINARY_VECTOR, dim=8 * code_bytes(n_bits))
            self._client.create_collection(
                self.address.name,
                schema=schema,
                num_shards=1,
                consistency_level="Strong",
                properties=_properties({**facts, "n_bits": n_bits}),
                **self._patience,
            )
        self.load()

    def load(self) -> None:
        """Load the collection into the server's memory, with an index that is exact."""
        with self._reporting():
            if not self._client.list_indexes(self.address.name, CODE):
                wanted = self._client.prepare_index_params()
                wanted.add_index(CODE, index_type="BIN_FLAT", metric_type="HAMMING")
                self._client.create_index(self.address.name, wanted, **self._patience)
            self._client.load_collection(self.address.name, timeout=SECONDS_TO_LOAD)
        self.refresh()

    def drop(self) -> None:
        """Delete the collection with all its rows."""
        with self._reporting():
            self._client.drop_collection(self.address.name, **self._patience)

    def fields(self) -> dict[str, tuple[str, int]]:
        """Kind and length in bits of each field; the kind of the primary one begins with *."""
        with self._reporting():
            about = self._client.describe_collection(self.address.name, **self._patience)
        return {
            own["name"]: (
                f"{'*' if own.get('is_primary') else ''}{own['type'].name}",
                int(own["params"].get("dim", 0)),
            )
            for own in about["fields"]
        }

    def notes(self) -> dict[str, str]:
        """Facts that `note` wrote."""
        with self._reporting():
            about = self._client.describe_collection(self.address.name, **self._patience)
        return {
            key.removeprefix(PREFIX): str(value)
            for key, value in about["properties"].items()
            if key.startswith(PREFIX)
        }

    def note(self, **facts: object) -> None:
        """Write facts beside the rows, in one step; other facts stay."""
        with self._reporting():
            self._client.alter_collection_properties(
                self.address.name, _properties(facts), **self._patience
            )

    def put(self, ids: Ids, codes: Codes) -> None:
        """Write rows, in place of those with the same ids; doing it twice does no harm."""
        # The client remembers the length of codes. If another process has made the collection anew
        # with another length, the client would silently send wrong bytes.
        self._client._get_connection()._invalidate_schema(self.address.name)
        for start in range(0, len(ids), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            data = [
                {ID: number, CODE: code.tobytes()}
                for number, code in zip(ids[rows].tolist(), codes[rows], strict=True)
            ]
            with self._reporting():
                self._client.upsert(self.address.name, data, **self._patience)
        self.refresh()

    def delete(self, ids: Ids) -> None:
        """Delete the rows with the given ids; unknown ids are ignored."""
        for start in range(0, len(ids), IDS_AT_ONCE):
            condition = among(ids[start : start + IDS_AT_ONCE])
            with self._reporting():
                self._client.delete(self.address.name, filter=condition, **self._patience)
        self.refresh()

    def flush(self) -> None:
        """Have the server write all rows from its log to its files, and index them."""
        end = time.monotonic() + SECONDS_TO_LOAD
        with self._reporting():
            self._client.flush(self.address.name, timeout=SECONDS_TO_LOAD)
            while self._n_waiting() and time.monotonic() < end:
                time.sleep(SECONDS_BETWEEN)

    def _n_waiting(self) -> int:
        """Number of rows that are not in the server's index yet."""
        about = self._client.describe_index(self.address.name, CODE, **self._patience)
        return int(about.get("pending_index_rows", 0))

    def count(self, condition: str = "") -> int:
        """Number of rows that meet a condition."""
        found = self._query(condition, output_fields=["count(*)"])
        return int(found[0]["count(*)"])

    def rows(self, condition: str, *, codes: bool) -> Rows:
        """Rows that meet a condition, at most `limit` of them, in no particular order."""
        found = self._query(condition, output_fields=[ID, CODE][: 1 + codes], limit=self.limit)
        ids = np.fromiter((row[ID] for row in found), dtype=np.int64, count=len(found))
        data = b"".join(row[CODE][0] for row in found) if codes else b""
        table = np.frombuffer(data, dtype=np.uint8)
        return Rows(ids, table.reshape(len(ids), -1) if len(ids) else table.reshape(0, 0))

    def nearest(self, queries: Codes, limit: int, condition: str = "") -> Iterator[Hits]:
        """The nearest rows of each query; chance decides among those at the largest distance."""
        return self._search(queries, limit, condition, {})

    def between(
        self, queries: Codes, low: int, high: int, limit: int, condition: str = ""
    ) -> Iterator[Hits]:
        """Rows at a distance of `low` or more and less than `high`, the nearest of them."""
        bounds = {"radius": high, "range_filter": low}
        return self._search(queries, limit, condition, bounds)

    def _search(
        self, queries: Codes, limit: int, condition: str, bounds: dict[str, int]
    ) -> Iterator[Hits]:
        at_once = max(1, min(QUERIES_AT_ONCE, HITS_AT_ONCE // limit))
        for start in range(0, len(queries), at_once):
            with self._reporting():
                found = self._client.search(
                    self.address.name,
                    [query.tobytes() for query in queries[start : start + at_once]],
                    filter=condition,
                    limit=limit,
                    anns_field=CODE,
                    search_params={"metric_type": "HAMMING", "params": bounds},
                    **self._reading,
                )
            for hits in found:
                yield Hits(
                    np.array(hits.distances, dtype=np.int32), np.array(hits.ids, dtype=np.int64)
                )

    def _query(self, condition: str, **wanted: Any) -> Any:
        with self._reporting():
            return self._client.query(
                self.address.name, filter=condition, **wanted, **self._reading
            )

    @property
    def _patience(self) -> dict[str, float]:
        return {"timeout": self.address.timeout}

    @property
    def _reading(self) -> dict[str, Any]:
        return {
            "consistency_level": "Customized",
            "guarantee_timestamp": self._floor,
            **self._patience,
        }

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Turn errors of the client library into one sentence."""
        try:
            yield
        except self._errors as error:
            if (code := getattr(error, "code", None)) in GONE:
                raise MilvusGone(f"{self.address}: {GONE[code]}") from error
            raise MilvusError(
                f"{self.address}: the Milvus server does not do what was asked: see that it runs, "
                f"and try again ({_reason(error)})"
            ) from error


def _properties(facts: dict[str, Any]) -> dict[str, str]:
    return {f"{PREFIX}{key}": str(value) for key, value in facts.items()}


def _reason(error: Exception) -> str:
    """Short text of an error of the client library."""
    details = getattr(error, "details", None)
    text = details() if callable(details) else getattr(error, "message", "")
    return " ".join(str(text or error).split())[:200]


def span(first: int, last: int) -> str:
    """Condition for ids from `first` to `last`; the lowest int64 can not be written in one.

    >>> span(3, 9), span(int(INT64.min), 9), span(int(INT64.min), int(INT64.max))
    ('(id >= 3 and id <= 9)', '(id <= 9)', '')
    """
    parts = [f"{ID} >= {first}"] if first > INT64.min else []
    parts += [f"{ID} <= {last}"] if last < INT64.max else []
    return f"({' and '.join(parts)})" if parts else ""


def among(ids: Sequence[int] | Ids) -> str:
    """Condition for the given ids.

    >>> among([3, -4])
    'id in [3, -4]'
    """
    numbers = np.asarray(ids, dtype=np.int64)
    others = numbers[numbers > INT64.min]
    condition = f"{ID} in {others.tolist()}"
    return condition if len(others) == len(numbers) else f"({condition} or {ID} < {-INT64.max})"


def both(one: str, other: str) -> str:
    """Condition that two conditions are met, either of which may be empty.

    >>> both("(id <= 9)", ""), both("(id <= 9)", "id in [3]")
    ('(id <= 9)', '(id <= 9) and id in [3]')
    """
    return f"{one} and {other}" if one and other else one or other
