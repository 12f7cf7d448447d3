"""Finding items: by code, by picture, by condition; what is given out is checked first."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zshash.collection.errors import BusyError, CollectionError, DamagedError
from zshash.collection.filtering import find, meeting, subset
from zshash.collection.rows import Found, Ids, Item, Match, Page, Ranking
from zshash.collection.state import State
from zshash.collection.store import Store
from zshash.collection.tables import blobs, checksums, items_of
from zshash.datasets import Dataset, Pictures
from zshash.encoding import Encoder
from zshash.index import CodeIndex

__all__ = [
    "DISTANCES",
    "OtherModel",
    "best_page",
    "items",
    "pages",
    "projection_of_query",
    "thumbnail",
    "weighted_pages",
    "within",
]

ATTEMPTS, MORE_ATTEMPTS = 3, 20
Rank = Callable[[CodeIndex, int], list[Ranking]]  # of an index at a generation
Search = Callable[[CodeIndex, int], tuple[NDArray[Any], Ids]]  # how many in an index
Used = TypeVar("Used")

HAMMING, ASYMMETRIC = DISTANCES = ("hamming", "asymmetric")
QUERY = "give the path or the bytes of a picture, its pixels (uint8), or features (d,)"


class OtherModel(CollectionError):  # noqa: N818, the model is the error
    """Codes of a model that the collection no longer has."""


def check_ids(ids: ArrayLike) -> Ids:
    """Ids as an array of int64."""
    array = np.atleast_1d(np.asarray(ids))
    is_good = array.ndim == 1 and (array.dtype.kind in "iu" or not array.size)
    if not is_good or (array.size and array.max() > np.iinfo(np.int64).max):
        raise CollectionError("ids are whole numbers, as `Collection.ids` gives them")
    return array.astype(np.int64)


def check_known(store: Store, ids: Ids, what: str = "") -> None:
    """Refuse ids that nothing has; `what` is added to the message."""
    with store.looking() as connection:
        there = checksums(connection, "items", ids.tolist()) if store.is_shared else None
    known = list(there) if there is not None else store.mirror.index.ids
    unknown = ids[~np.isin(ids, known)]
    if len(unknown):
        more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
        raise CollectionError(f"{store.folder}: there is no item {unknown[0]}{more}{what}")


def items(store: Store, ids: Sequence[int]) -> list[Item]:
    """The items under ids that the index has: each as it was written, with the code searched."""
    with store.looking() as connection:
        found = items_of(connection, store.folder, sorted(set(ids)))
    absent = next((number for number in ids if number not in found), None)
    wrong = store.mirror.check(ids, (found[n].code if n in found else None for n in ids))
    if absent is not None or wrong is not None:
        raise DamagedError(
            f"{store.folder}: item {wrong if absent is None else absent} is not in the catalogue "
            "as it is in the index: zshash verify lists all that is wrong; restore it from a copy"
        )
    return [found[number] for number in ids]


def consistent(
    store: Store,
    rank: Rank,
    where: str | None,
    use: Callable[[list[Ranking], State], Used],
    encoder: Encoder | None = None,
) -> Used:
    """What `use` makes of the items that `rank` finds, in a state of the collection that has them.

    Ranking needs no catalogue, so others may read and write meanwhile; if what they write is in
    the way too often, it is done once more while they wait.

    Raises
    ------
    OtherModel
        If the collection has another model than `encoder` by now.
    """
    for _ in range(ATTEMPTS):
        with store.reading() as state:
            _check_encoder(store, encoder)
            index = store.mirror.index
        try:
            part = index if where is None else subset(store, index, where, state.generation)
            if part is None:
                continue
            rankings = rank(part, state.generation)
        except OSError:  # of a server; a writer may have put another index in its place
            with store.reading() as now:
                if now.generation == state.generation:
                    raise
            continue
        with store.reading() as now:
            if now.generation == state.generation:
                return use(rankings, now)
    if store.is_shared:
        return _as_of_now(store, rank, where, use, encoder)
    ids = None if where is None else find(store, where)
    with store.reading() as state:
        _check_encoder(store, encoder)
        index = store.mirror.index
        if ids is not None:
            index = index.subset(ids[np.isin(ids, index.ids)])
        return use(rank(index, state.generation), state)


def _as_of_now(
    store: Store,
    rank: Rank,
    where: str | None,
    use: Callable[[list[Ranking], State], Used],
    encoder: Encoder | None,
) -> Used:
    """The same where other processes write to the index without end.

    What they add has higher ids and is left out. If they change nothing else meanwhile, what is
    found is what the collection was at the start.
    """
    for _ in range(MORE_ATTEMPTS):
        with store.reading() as state:
            _check_encoder(store, encoder)
            with store.looking() as connection:
                ids = meeting(connection, store.folder, where) if where else store.ids()
            try:
                rankings = rank(store.mirror.index.subset(ids), state.generation)
            except (OSError, ValueError):
                if not store.has_changed(state):
                    raise
                continue
            if not store.has_changed(state):
                return use(rankings, state)
    raise BusyError(f"{store.folder}: it changes faster than it can be searched: try again later")


def _check_encoder(store: Store, encoder: Encoder | None) -> None:
    if encoder is not None and store.encoder is not encoder:
        raise OtherModel(f"{store.folder}: it has been given another model meanwhile: try again")


def pages(
    store: Store,
    codes: NDArray[np.uint8],
    wanted: Sequence[Page],
    where: str | None,
    encoder: Encoder | None = None,
) -> list[Found]:
    """Of each code the page that is wanted of its nearest items."""
    return _searched(store, lambda index, k: index.search(codes, k), wanted, where, encoder)


def weighted_pages(
    store: Store,
    vectors: NDArray[np.floating[Any]],
    wanted: Sequence[Page],
    where: str | None,
    encoder: Encoder | None = None,
) -> list[Found]:
    """Of each vector the page that is wanted of the items of the largest inner products."""
    if any(page.r is not None for page in wanted):
        raise ValueError(
            "a radius is a number of bits, and an asymmetric distance is none: leave it out, or "
            "search by Hamming distance"
        )
    return _searched(
        store, lambda index, k: index.search_weighted(vectors, k), wanted, where, encoder
    )


def _searched(
    store: Store,
    search: Search,
    wanted: Sequence[Page],
    where: str | None,
    encoder: Encoder | None,
) -> list[Found]:
    """Of each query of a search the page that is wanted."""

    def rank(index: CodeIndex, _: int) -> list[Ranking]:
        distances, ids = search(index, max((page.k for page in wanted), default=1))
        return [
            _cut(page, Ranking(*own)) for page, *own in zip(wanted, distances, ids, strict=True)
        ]

    return _picked(store, rank, wanted, where, encoder)


def _picked(
    store: Store, rank: Rank, wanted: Sequence[Page], where: str | None, encoder: Encoder | None
) -> list[Found]:
    """Pages of what `rank` finds, whose items alone are read from the catalogue."""

    def pick(rankings: list[Ranking], state: State) -> list[Found]:
        shown = [
            Ranking(ranking.distances[page.rows], ranking.ids[page.rows])
            for page, ranking in zip(wanted, rankings, strict=True)
        ]
        small = pictured(store, state, [number for part in shown for number in part.ids.tolist()])
        totals = [len(ranking.ids) for ranking in rankings]
        found = matches(store, shown)
        return [Found(total, own, small) for total, own in zip(totals, found, strict=True)]

    return consistent(store, rank, where, pick, encoder)


def nearest_to(
    store: Store, query: Any, page: Page, where: str | None, distance: str = HAMMING
) -> Found:
    """A page of the items nearest to a picture or to features."""
    if distance not in DISTANCES:
        known = " or ".join(f'"{name}"' for name in DISTANCES)
        raise ValueError(f"distance must be {known}, got {distance!r}")

    def search(projections: NDArray[np.float32], encoder: Encoder) -> Found:
        if distance == ASYMMETRIC:
            return weighted_pages(store, projections, [page], where, encoder)[0]
        return pages(store, encoder.quantize(projections), [page], where, encoder)[0]

    return projected(store, query, search)


def within_reach(store: Store, query: Any, r: int, where: str | None) -> list[Match]:
    """The items within a radius of a picture or of features."""

    def search(projections: NDArray[np.float32], encoder: Encoder) -> list[Match]:
        return within(store, encoder.quantize(projections), r, where, encoder)[0]

    return projected(store, query, search)


def projected(
    store: Store, query: Any, search: Callable[[NDArray[np.float32], Encoder], Used]
) -> Used:
    """What `search` finds for a query's projections, made while others read and write."""
    while True:
        with store.reading():
            encoder = store.encoder
        try:
            return search(projection_of_query(encoder, query), encoder)
        except OtherModel:
            continue


def _cut(page: Page, ranking: Ranking) -> Ranking:
    """The first `k`, and of these as many as are within the radius."""
    n = min(page.k, len(ranking.ids))
    if page.r is not None:
        n = int(np.searchsorted(ranking.distances[:n], page.r, side="right"))
    return Ranking(ranking.distances[:n], ranking.ids[:n])


def best_page(store: Store, rank: Rank, page: Page, where: str | None, encoder: Encoder) -> Found:
    """A page of the items that `rank` finds for the one query that it stands for."""
    return _picked(store, rank, [page], where, encoder)[0]


def within(
    store: Store,
    codes: NDArray[np.uint8],
    r: int,
    where: str | None,
    encoder: Encoder | None = None,
) -> list[list[Match]]:
    """The items within a radius of each code."""

    def rank(index: CodeIndex, _: int) -> list[Ranking]:
        limits, distances, ids = index.radius(codes, r)
        edges = limits[1:-1]
        parts = zip(np.split(distances, edges), np.split(ids, edges), strict=True)
        return [Ranking(*part) for part in parts] if len(codes) else []

    return consistent(store, rank, where, lambda found, _: matches(store, found), encoder)


def matches(store: Store, rankings: Sequence[Ranking]) -> list[list[Match]]:
    """Items with their distances, a list for each query."""
    wanted = sorted({number for ranking in rankings for number in ranking.ids.tolist()})
    found = dict(zip(wanted, items(store, wanted), strict=True))
    return [
        [
            Match(found[number], distance)
            for distance, number in zip(
                ranking.distances.tolist(), ranking.ids.tolist(), strict=True
            )
        ]
        for ranking in rankings
    ]


def pictured(store: Store, state: State, ids: Sequence[int]) -> set[int]:
    """Which items have a small picture; most often all or none."""
    if state.thumbnails.n in (0, state.items.n):
        return set(ids) if state.thumbnails.n else set()
    with store.looking() as connection:
        return set(checksums(connection, "thumbnails", ids))


def thumbnail(store: Store, number: int) -> bytes | None:
    """The small picture of an item, if it has one."""
    with store.looking() as connection:
        return blobs(connection, store.folder, "thumbnails", [number]).get(number)


def projection_of_query(encoder: Encoder, query: Any) -> NDArray[np.float32]:
    """The projections (1, n_bits) of a picture or of features; their signs are its code."""
    return encoder.project(_features_of(encoder, query))


def _features_of(encoder: Encoder, query: Any) -> NDArray[np.float32]:
    """Features (1, d) that the model can hash."""
    if isinstance(query, str | os.PathLike):
        return encoder.features(Pictures((Path(query),)), os.fspath(query)).X
    if isinstance(query, bytes) or (isinstance(query, np.ndarray) and query.dtype == np.uint8):
        reader = encoder.picture_reader
        dataset = Dataset(
            reader.network.extract([query], limits=reader.limits), extractor=reader.facts()
        )
        encoder.check(dataset, "the query")
        return dataset.X
    features = _features(query)
    encoder.check_width("the query", features.shape[1])
    return features


def _features(query: Any) -> NDArray[np.float32]:
    try:
        features = np.asarray(query, dtype=np.float32)
    except (TypeError, ValueError):
        raise TypeError(f"{type(query).__name__} can not be searched for: {QUERY}") from None
    if features.ndim != 1:
        raise ValueError(f"an array of shape {features.shape} can not be searched for: {QUERY}")
    return features[None]
