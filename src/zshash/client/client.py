"""The collection on a server, with the face of a `Collection`."""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash.client.asking import (
    as_json,
    file_of,
    found_of,
    how_of,
    ids_of,
    is_picture,
    item_of,
    left,
    names_of,
    picture_of,
)
from zshash.client.connections import Connections
from zshash.client.forms import as_form
from zshash.collection import Found, Item
from zshash.collection.operations.queries import Query, make_queries

__all__ = ["Client"]

PAGE, MOST = 200, 10_000  # results of one answer, and on all pages of a search
AT_ONCE, RESULTS = 256, 20_480  # searches of one request, and their results together
FILES = 16  # pictures that are sent together
SECONDS = 0.5  # between two looks at work that takes a while
OCTETS = "application/octet-stream"


class Client:
    """A collection that `zshash serve` serves. Threads may share it.

    Parameters
    ----------
    address : str
        Such as ``http://127.0.0.1:8000``; with https, the server's certificate is checked.
    token : str, optional
        Token of the server, if it asks for one.
    timeout : float
        Longest time in seconds to wait for an answer.
    retries : int
        How often a request is sent again that the server was too busy for (status 429).

    Raises
    ------
    ServerError
        All methods, if the server refuses; it has `status`, `detail` and `suggestions`.
    ConnectionError, TimeoutError
        All methods, if the server does not answer.

    Examples
    --------
    >>> import zshash
    >>> with zshash.Client("http://127.0.0.1:8000") as album:  # doctest: +SKIP
    ...     found = album.search("holiday.jpg", k=20)
    >>> found[0].id, found[0].score, found.total  # doctest: +SKIP
    (12, 0.83, 4100)
    """

    def __init__(
        self, address: str, token: str | None = None, *, timeout: float = 60.0, retries: int = 5
    ) -> None:
        self.address = address
        self._server = Connections(address, token, timeout, retries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.address!r}>"

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        self._server.close()

    def info(self) -> dict[str, Any]:
        """Facts about the collection and the server."""
        facts: dict[str, Any] = self._server.ask("GET", "/info")
        return facts

    def search(
        self,
        query: Any = None,
        *,
        name: Any = None,
        without: str | Sequence[str] = (),
        item: int | ArrayLike | None = None,
        code: bytes | ArrayLike | None = None,
        values: ArrayLike | None = None,
        k: int | None = None,
        radius: int | None = None,
        offset: int = 0,
        where: str | None = None,
        distance: str | None = None,
        model: str | None = None,
    ) -> Found | list[Found]:
        """The items that fit a query best, best first, as `Collection.search` finds them.

        The parameters are those of `Collection.search`; `rerank` is not among them. Pictures are
        sent one after the other, all other queries many at a time. A server finds at most 10,000
        items. `Found.reading` has the fields of `query.reading` in the answer.
        """
        page = {"k": k, "radius": radius, "offset": offset, "distance": distance, "model": model}
        queries, is_many = make_queries(query, name, item, code, values, without, **page)
        if is_many and queries and not any(map(is_picture, queries)):
            return self._batches(queries, where)
        found = [self._search(own, where) for own in queries]
        return found if is_many else found[0]

    def _search(self, query: Query, where: str | None) -> Found:
        """Matches of one query, from as many answers as they need."""
        last = MOST if query.page.stop is None else min(query.page.stop, MOST)
        found: Found | None = None
        while found is None or (len(found) + query.offset < last and len(found) % PAGE == 0):
            at = query.offset + (0 if found is None else len(found))
            k = MOST if query.radius is not None else max(last, 1)  # all within it are counted
            how = {"k": k, "offset": at, "limit": min(PAGE, max(last - at, 1))}
            answer = self._ask(query, left(how | how_of(query, where)))
            part = found_of(answer, query)
            if found is None:
                found = part
            else:
                found.extend(part)
            if not len(part):
                break
        return found

    def _ask(self, query: Query, how: dict[str, Any]) -> Any:
        if not is_picture(query):
            return self._server.ask("POST", "/search", body=as_json(query) | how)
        names = {name: own for name, own in names_of(query).items() if own}
        return self._server.ask(
            "POST", "/search", query=how | names, body=picture_of(query), kind="image/*"
        )

    def _batches(self, queries: Sequence[Query], where: str | None) -> list[Found]:
        """Matches of many queries that are not pictures, by few requests."""
        last = queries[0].page.stop
        if last is None or last > RESULTS or queries[0].radius is not None:
            return [self._search(query, where) for query in queries]
        found: list[Found] = []
        how = left({"k": last, "offset": queries[0].offset} | how_of(queries[0], where))
        n = max(1, min(AT_ONCE, RESULTS // last))
        for start in range(0, len(queries), n):
            part = queries[start : start + n]
            body = {"queries": [as_json(query) for query in part]} | how
            answers = self._server.ask("POST", "/search/batch", body=body)["answers"]
            found += [found_of(*pair) for pair in zip(answers, part, strict=True)]
        return found

    def nearest(
        self, features: ArrayLike, k: int = 10, **how: Any
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Ids and scores (n, k) of the items nearest to features (n, d): the quickest way.

        Parameters
        ----------
        features : ndarray of shape (n, d)
            At most 1,024 rows.
        k : int
        **how
            `radius`, `distance`, `where` and `offset`, as for `search`.

        Returns
        -------
        ids, scores : ndarray
            Where there are fewer than `k`, the rest is −1, and NaN.
        """
        rows = np.ascontiguousarray(features, dtype="<f4")
        content = self._server.read(
            "POST",
            "/search/batch",
            query=how | {"k": k},
            body=rows.tobytes(),
            kind=OCTETS,
            accept=OCTETS,
        )
        n, width = np.frombuffer(content, "<u4", 2).tolist()
        ids = np.frombuffer(content, "<i8", n * width, 8).reshape(n, width)
        scores = np.frombuffer(content, "<f4", n * width, 8 + ids.nbytes).reshape(n, width)
        return ids, scores

    def items(self, where: str | None = None, *, label: str | Sequence[str] = ()) -> Iterator[Item]:
        """All items, or those that meet a condition, one after the other as they come."""
        query = {"where": where, "label": [label] if isinstance(label, str) else list(label)}
        for told in self._server.lines("/items", query=query):
            yield item_of(told)

    def names(self, begins: str, limit: int = 8) -> list[dict[str, Any]]:
        """Names of which a word begins so: labels, what the network knows, other nouns."""
        query = {"begins": begins, "limit": limit}
        found: list[dict[str, Any]] = self._server.ask("GET", "/names", query=query)["names"]
        return found

    def thumbnail(self, number: int) -> bytes:
        """The small picture of an item, as the bytes of a file."""
        return self._server.read("GET", f"/items/{number}/thumbnail", accept="image/*")

    def picture(self, number: int, side: int | None = None) -> bytes:
        """The picture of an item, as the bytes of a file, its longer side about `side` pixels."""
        path = f"/items/{number}/picture"
        return self._server.read("GET", path, query={"side": side}, accept="image/*")

    def add(self, pictures: Any, *, labels: str | Sequence[str] = ()) -> dict[str, list[Any]]:
        """Add pictures, given as paths or bytes; `labels` are those of all of them.

        Returns
        -------
        dict
            Lists of the ids `added`, of the `duplicates` that were there, and of `failures`.
        """
        one = isinstance(pictures, str | bytes | os.PathLike)
        files = [file_of(own) for own in ([pictures] if one else pictures)]
        fields = [("label", own) for own in ([labels] if isinstance(labels, str) else labels)]
        report: dict[str, list[Any]] = {"added": [], "duplicates": [], "failures": []}
        for start in range(0, len(files), FILES):
            kind, body = as_form(files[start : start + FILES], fields)
            told = self._server.ask("POST", "/items", body=body, kind=kind, again=False)
            for name, own in report.items():
                own += told[name]
        return report

    def remove(self, ids: int | Iterable[int], *, for_good: bool = False) -> str | None:
        """Remove items; the key that `restore` takes to undo it, or None if it can not be.

        With `for_good`, nothing of the items is kept.
        """
        body = {"ids": ids_of(ids), "for_good": for_good}
        undo: str | None = self._server.ask("POST", "/items/remove", body=body, again=False)["undo"]
        return undo

    def restore(self, undo: str) -> list[int]:
        """Bring back what `remove` has removed, under the same ids."""
        told = self._server.ask("POST", "/items/restore", body={"undo": undo}, again=False)
        ids: list[int] = told["restored"]
        return ids

    def label(self, ids: int | Iterable[int], label: str | None, how: str = "set") -> list[int]:
        """Give items a label: in place of theirs ("set"), "also", or take it away ("without")."""
        body = {"ids": ids_of(ids), "label": label, "how": how}
        given: list[int] = self._server.ask("POST", "/items/label", body=body)["labelled"]
        return given

    def refit(self, wait: bool = True) -> dict[str, Any]:
        """Have the model learn again from all items; the state of that work, or its end."""
        state: dict[str, Any] = self._server.ask("POST", "/refit", again=False)
        while wait and state["state"] == "running":
            time.sleep(SECONDS)
            state = self._server.ask("GET", "/refit")
        return state
