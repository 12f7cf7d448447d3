"""Queries are encoded by the model, and items are ranked: by bits, by real values, by name.

`ask` encodes queries, `project` their pictures and features; `Asked.rank` ranks the items.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash.codes import check_codes, code_bytes, unpack
from zshash.collection.operations.likeness import NEAR, likeness
from zshash.collection.operations.queries import Query, Sample
from zshash.collection.results import Found, Match, Thumbnails
from zshash.collection.storage.rows import Ids, Item
from zshash.datasets import Dataset, Pictures
from zshash.index import CodeIndex
from zshash.index._checks import check_vectors
from zshash.learning.model import Model
from zshash.learning.name_rule import Query as Name
from zshash.learning.readings import Reading

__all__ = ["Asked", "Ranking", "ask", "project"]

RankByName = Callable[[Name, int], tuple[NDArray[np.float64], Ids]]  # scores and ids of the best k
RankByReading = Callable[[Reading, int], tuple[NDArray[np.float64], Ids, Reading]]
Understand = Callable[[Query, NDArray[np.float64]], "Name | Reading"]
Features = dict[int, NDArray[np.float32]]


class Ranking(NamedTuple):
    """A page of the items that a query finds, best first.

    Attributes
    ----------
    ids : ndarray of int64
    scores : ndarray of float64
    bits : ndarray of int32, or None
        Numbers of bits that differ, where the search has counted them.
    total : int
        Number of items on all pages.
    n_all : int
        The same, if the query did not limit it by `most`.
    """

    ids: Ids = np.empty(0, dtype=np.int64)
    scores: NDArray[np.float64] = np.empty(0)
    bits: NDArray[np.int32] | None = None
    total: int = 0
    n_all: int = 0

    def page(self, query: Query) -> "Ranking":
        """Page of a query in this ranking, which begins with the best item."""
        page = slice(query.offset, min(self.total, query.page.stop or self.total))
        bits = None if self.bits is None else self.bits[page]
        return Ranking(self.ids[page], self.scores[page], bits, self.total, self.n_all)


@dataclass
class Asked:
    """Queries, encoded by one model.

    Attributes
    ----------
    model : Model
    queries : list of Query
    codes : ndarray of shape (n, bytes), uint8
        Packed codes of the queries, except of names.
    values : ndarray of shape (n, n_bits), float64
        Real values of the queries that have some.
    names : dict
        What the names mean, by row, where the network knows no names.
    readings : dict
        What was understood of names, by row, where the network knows names.
    failures : dict
        Why pictures could not be read, by row.
    features : dict
        Features of pictures, samples and items, by row.
    valued : set of int
        Rows of the queries that have real values.
    likeness : dict of int to float
        How much the best items look like the query, by row, once `rank` has compared it with all.
    """

    model: Model
    queries: Sequence[Query]
    codes: NDArray[np.uint8]
    values: NDArray[np.float64]
    names: dict[int, Name]
    readings: dict[int, Reading]
    failures: dict[int, str]
    features: Features
    valued: set[int]
    likeness: dict[int, float] = field(default_factory=dict)

    def take_items(self, codes_of: Callable[[Sequence[int]], NDArray[np.uint8]]) -> None:
        """Fill in the codes of queries for items.

        A real value gets the sign of its bit, should rounding have changed that, so that nothing
        fits an item better than the item itself.
        """
        wanted = {row: own.item for row, own in enumerate(self.queries) if own.item is not None}
        if wanted:
            rows = list(wanted)
            self.codes[rows] = codes_of(list(wanted.values()))
            signs = 2.0 * unpack(self.codes[rows], self.values.shape[1]) - 1.0
            self.values[rows] = np.copysign(self.values[rows], signs)

    def found(
        self,
        rankings: Sequence[Ranking],
        items: Mapping[int, Item],
        pictured: set[int],
        nothing: Sequence[bool | None],
        thumbnails: Thumbnails | None = None,
    ) -> list[Found]:
        """Matches of each query: the items of its ranking, with scores and bits."""
        answers = []
        for row, (query, ranking) in enumerate(zip(self.queries, rankings, strict=True)):
            code = self.code_of(row)
            own = [items[number] for number in ranking.ids.tolist()]
            if ranking.bits is not None:
                bits = ranking.bits.tolist()
            else:
                bits = [None if code is None else item.bits_from(code) for item in own]
            answers.append(
                Found(
                    map(Match, own, ranking.scores.tolist(), bits),
                    total=ranking.total,
                    n_all=ranking.n_all,
                    offset=query.offset,
                    code=code,
                    model=self.model.checksum,
                    values=self.values_of(row),
                    pictured=pictured,
                    reading=self.readings.get(row),
                    nothing=self._is_nothing(row, nothing[row]),
                    failure=self.failures.get(row),
                    thumbnails=thumbnails,
                )
            )
        return answers

    def code_of(self, row: int) -> bytes | None:
        """Packed code of a query, or None by name and for a picture that could not be read."""
        is_known = not self._is_named(row) and row not in self.failures
        return self.codes[row].tobytes() if is_known else None

    def values_of(self, row: int) -> NDArray[np.float64] | None:
        """Real values of a query, or None where it has none, and for names."""
        is_known = row in self.valued and not self._is_named(row)
        return self.values[row] if is_known else None

    def _is_nothing(self, row: int, nothing: bool | None) -> bool | None:
        reading = self.readings.get(row)
        return reading.nothing if reading is not None and reading.is_plain else nothing

    def _is_named(self, row: int) -> bool:
        return row in self.names or row in self.readings

    def rank(
        self, index: CodeIndex, n: int, by_name: RankByName, by_reading: RankByReading
    ) -> list[Ranking]:
        """For each query, its page of the `n` items of an index; two functions rank by name.

        Queries with `rerank` get all pages up to theirs, for `reranking.rerank`.
        """
        rankings = [Ranking()] * len(self.queries)
        for row, ranking in self._by_bits(index, n):
            rankings[row] = ranking
        for row, ranking in self._by_radius(index):
            rankings[row] = ranking
        for row, ranking in self._by_values(index, n):
            rankings[row] = ranking
        for row, name in self.names.items():
            query = self.queries[row]
            rankings[row] = _page(query, *by_name(name, query.reach), None, n)
        for row, reading in list(self.readings.items()):
            query = self.queries[row]
            scores, ids, self.readings[row] = by_reading(reading, query.reach)
            rankings[row] = _page(query, scores, ids, None, n)
        return rankings

    def _rows(self, *, real: bool) -> list[int]:
        """Rows of the queries that are compared by real values, or by bits."""
        return [
            row
            for row, query in enumerate(self.queries)
            if (query.is_real and row in self.valued) == real
            and not self._is_named(row)
            and row not in self.failures
        ]

    def _by_bits(self, index: CodeIndex, n: int) -> Iterator[tuple[int, Ranking]]:
        rows = [row for row in self._rows(real=False) if not self.queries[row].is_ball]
        if rows:
            reach = self._reach(rows)
            near = zip(rows, *index.search(self.codes[rows], reach), strict=True)
            for row, bits, ids in near:
                number = self.queries[row].item
                if number is not None and self.queries[row].radius is None:
                    self.likeness[row] = likeness(self._similarity(bits), ids, number)
                yield row, self._near(row, bits, ids, n, index)

    def _near(
        self, row: int, bits: NDArray[np.int32], ids: Ids, n: int, index: CodeIndex
    ) -> Ranking:
        """Page of a query among the nearest items; those beyond its radius do not count."""
        query = self.queries[row]
        if query.radius is not None:
            n = int(np.searchsorted(bits[: query.reach], query.radius, side="right"))
            bits, ids = bits[:n], ids[:n]
        return _page(query, self._similarity(bits), ids, bits, n, index)

    def _by_radius(self, index: CodeIndex) -> Iterator[tuple[int, Ranking]]:
        rows = [row for row in self._rows(real=False) if self.queries[row].is_ball]
        for radius in sorted({self.queries[row].radius or 0 for row in rows}):
            own = [row for row in rows if self.queries[row].radius == radius]
            limits, bits, ids = index.radius(self.codes[own], radius)
            for row, begin, end in zip(own, limits[:-1], limits[1:], strict=True):
                part = slice(int(begin), int(end))
                scores = self._similarity(bits[part])
                near, n = (ids[part], bits[part]), len(scores)
                yield row, _page(self.queries[row], scores, *near, n, index)

    def _by_values(self, index: CodeIndex, n: int) -> Iterator[tuple[int, Ranking]]:
        rows = self._rows(real=True)
        if rows:
            reach = self._reach(rows)
            values = self.values[rows]
            lengths = np.linalg.norm(values, axis=1) * np.sqrt(values.shape[1])
            products, ids = index.search_real(values, reach)
            cosines = products / np.where(lengths, lengths, 1.0)[:, None]
            sums = np.abs(values).sum(axis=1)
            shares = products[:, : NEAR + 1] / np.where(sums, sums, np.nan)[:, None]
            for place, (row, scores, own) in enumerate(zip(rows, cosines, ids, strict=True)):
                self.likeness[row] = likeness(shares[place], own, self.queries[row].item)
                yield row, _page(self.queries[row], scores, own, None, n, index)

    def _reach(self, rows: Sequence[int]) -> int:
        """Number of items to rank, which are enough to tell whether any looks like a query."""
        return max(NEAR + 1, *(self.queries[row].reach for row in rows))

    def _similarity(self, bits: NDArray[np.int32]) -> NDArray[np.float64]:
        """Scores from numbers of differing bits."""
        return np.asarray(1 - 2 * bits / self.values.shape[1])


def _page(
    query: Query,
    scores: NDArray[np.float64],
    ids: Ids,
    bits: NDArray[np.int32] | None,
    n: int,
    index: CodeIndex | None = None,
) -> Ranking:
    """Page of a query in a ranking of `n` items; the arrays hold the first entries of it.

    A query that is to be ranked again gets all of these entries.
    """
    if query.item is not None and index is not None:
        ids = _itself_first(query.item, scores, ids, index)
    total = n if query.most is None else min(n, query.most)
    first = Ranking(ids, scores, bits, total, n)
    return first.page(query) if query.rerank is None else first


def _itself_first(number: int, scores: NDArray[np.float64], ids: Ids, index: CodeIndex) -> Ids:
    """Ids in the order of a ranking, where an item that is searched for is the first of its ties.

    The best score is its own. Where others with that score fill the ranking, it takes the place
    of the last one.
    """
    place = int(np.flatnonzero(ids == number)[0]) if number in ids else len(ids) - 1
    if place < 0 or scores[place] < scores[0] or (ids[place] != number and number not in index):
        return ids
    return np.concatenate([[number], ids[:place], ids[place + 1 :]])


def ask(
    model: Model, queries: Sequence[Query], understand: Understand, kept: Features | None = None
) -> Asked:
    """Encode queries: codes, values and meanings; `Asked.take_items` adds the codes of items.

    `kept` are the features of items that are searched for, by row, as far as they are known.
    """
    n_bits = int(model.hasher.n_bits)
    projected, failures, features = _projected(model, queries, kept or {})
    codes = np.zeros((len(queries), code_bytes(n_bits)), dtype=np.uint8)
    names: dict[int, Name] = {}
    readings: dict[int, Reading] = {}
    for row, query in enumerate(queries):
        if query.values is not None:
            projected[row] = _values(query.values, n_bits)
        elif query.code is not None:
            codes[row] = _code(query.code, n_bits)
        if query.is_named and row not in failures:
            understood = understand(query, projected[row])
            if isinstance(understood, Reading):
                readings[row] = understood
            else:
                names[row] = understood
    shown = [row for row, query in enumerate(queries) if query.is_shown]
    if shown:
        codes[shown] = model.hasher.quantize(projected[shown])
    valued = {*shown, *(kept or ())} - failures.keys()
    return Asked(model, queries, codes, projected, names, readings, failures, features, valued)


def _values(values: Any, n_bits: int) -> NDArray[np.float64]:
    """Real values (n_bits,) of a query, checked."""
    row = np.asarray(values)
    if row.ndim == 1 and len(row) != n_bits:
        raise ValueError(f"{len(row)} real values, and the collection's codes have {n_bits} bits")
    checked: NDArray[np.float64] = check_vectors(row[None], n_bits)[0]
    return checked


def _code(code: Any, n_bits: int) -> NDArray[np.uint8]:
    """Packed code of a query, checked, as an array (bytes,)."""
    packed = np.frombuffer(code, dtype=np.uint8) if isinstance(code, bytes) else np.asarray(code)
    width = code_bytes(n_bits)
    if np.ndim(packed) == 1 and len(packed) != width:
        raise ValueError(f"a code of {len(packed)} bytes, and the collection's have {width}")
    checked: NDArray[np.uint8] = check_codes("code", np.atleast_2d(packed), n_bits)[0]
    return checked


def project(model: Model, queries: Sequence[Query]) -> tuple[NDArray[np.float64], dict[int, str]]:
    """Real values (n, n_bits) of queries, and why some pictures could not be read, by row.

    Queries that are neither pictures nor features have zeros.
    """
    values, failures, _ = _projected(model, queries, {})
    return values, failures


def _projected(
    model: Model, queries: Sequence[Query], kept: Features
) -> tuple[NDArray[np.float64], dict[int, str], Features]:
    """Do the same as `project`; the features that values were made of come with them."""
    values = np.zeros((len(queries), int(model.hasher.n_bits)))
    left = {}
    for row, query in enumerate(queries):
        known = query.projected
        if known is not None and known.model is model and query.rerank is None:
            values[row] = known.values
        elif query.is_read:
            left[row] = query
    features, failures = _features(model, left) if left else ({}, {})
    features |= kept
    if features:
        values[list(features)] = model.project(np.stack(list(features.values())))
    return values, failures, features


def _features(model: Model, queries: dict[int, Query]) -> tuple[Features, dict[int, str]]:
    """Features by row, and why some pictures could not be read, by row."""
    features = _of_memory(model, queries)
    failures: dict[int, str] = {}
    for samples in _by_data(queries):
        data, _, source = next(iter(samples.values()))
        if isinstance(data, Dataset):
            X = model.features(data, source).X
            features |= {row: X[sample.row] for row, sample in samples.items()}
        else:
            failures |= _read_files(model, data, samples, features)
    return features, failures


def _of_memory(model: Model, queries: dict[int, Query]) -> Features:
    """Features of pictures that were given as bytes or pixels."""
    pictures = {row: query.picture for row, query in queries.items() if query.picture is not None}
    if not pictures:
        return {}
    reader = model.picture_reader
    made = reader.network.extract(list(pictures.values()), limits=reader.limits)
    model.check(Dataset(made, extractor=reader.facts()), "the query")
    return dict(zip(pictures, made, strict=True))


def _by_data(queries: dict[int, Query]) -> list[dict[int, Sample]]:
    """Samples of the same data, by row."""
    groups: dict[int, dict[int, Sample]] = {}
    for row, query in queries.items():
        if query.sample is not None:
            groups.setdefault(id(query.sample.data), {})[row] = query.sample
    return list(groups.values())


def _read_files(
    model: Model, data: Pictures, samples: dict[int, Sample], features: Features
) -> dict[int, str]:
    """Add the features of pictures to `features`; return why some could not be read, by row."""
    wanted = [sample.row for sample in samples.values()]
    pictures = data if wanted == list(range(len(data))) else data.select(np.array(wanted))
    dataset, failures = model.picture_reader.readable_features(pictures)
    model.check(dataset, next(iter(samples.values())).source)
    made = iter(dataset.X)
    lost = {}
    for place, row in enumerate(samples):
        if place in failures:
            lost[row] = failures[place]
        else:
            features[row] = next(made)
    return lost
