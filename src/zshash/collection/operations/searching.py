"""The one search: matches of queries of any kind.

queries (`queries`) → real values and codes by the model, rankings by the index (`ranking`; names:
`naming`, conditions: `filtering`) → the best of them again by features (`reranking`) → items from
the catalogue (`items`)

Each step may take a while, and others read and write meanwhile. Codes are compared only with
codes of the same model: if the collection gets another model meanwhile, `search` starts again.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from zshash._interrupts import guarding, interruptible
from zshash.collection.errors import BusyError, OtherModel
from zshash.collection.operations import naming
from zshash.collection.operations.features import Vectors as Features
from zshash.collection.operations.features import features_of
from zshash.collection.operations.filtering import find, meeting, subset
from zshash.collection.operations.items import check_ids, check_known, items, pictured, thumbnails
from zshash.collection.operations.likeness import are_nothing
from zshash.collection.operations.queries import Query
from zshash.collection.operations.ranking import Asked, Ranking, ask
from zshash.collection.operations.recent import Recent
from zshash.collection.operations.reranking import rerank
from zshash.collection.results import Found
from zshash.collection.storage.rows import Ids
from zshash.collection.storage.state import State
from zshash.collection.storage.store import Store
from zshash.index import CodeIndex
from zshash.learning.model import Model
from zshash.learning.name_rule import Query as Name
from zshash.learning.names import NearName
from zshash.learning.readings import Reading

__all__ = ["names_near", "rank", "search"]

Answer = TypeVar("Answer")

ATTEMPTS, MORE_ATTEMPTS = 3, 20


class _ModelChanged(Exception):  # noqa: N818
    """The collection has been given another model since queries were encoded."""


Start = tuple[State, CodeIndex]  # of the first attempt
Finish = Callable[[Store, State, Asked, Sequence[Ranking]], Answer]  # inside `reading`


def search(
    store: Store,
    queries: Sequence[Query],
    where: str | None = None,
    recent: Recent | None = None,
) -> list[Found]:
    """Matches of each query, all for one model of the collection; `recent` keeps their items.

    Raises
    ------
    OtherModel
        If a query has a code or values of another model.
    """
    return _search(store, queries, where, partial(_matches, recent=recent))


def rank(store: Store, queries: Sequence[Query], where: str | None = None) -> Sequence[Ranking]:
    """Ids and scores of the matches of each query, as `search` finds them; no item is read."""
    return _search(store, queries, where, rerank)


def _search(
    store: Store, queries: Sequence[Query], where: str | None, finish: Finish[Answer]
) -> Answer:
    """What `finish` makes of the rankings of queries, all for one model of the collection."""
    with guarding():  # once is quicker than in each of the steps
        while True:
            with store.reading() as state:
                model = store.model
                _check_models(store, model, queries)
                kept = _kept(store, state, queries)
                start = _start(store, state, queries)
            with suppress(_ModelChanged):
                return _ranked(store, _ask(store, model, queries, kept), where, finish, start)


def names_near(store: Store, query: Query, n: int) -> list[NearName]:
    """The names of categories nearest to what the code of a query means, nearest first."""
    with store.reading():
        model = store.model
        _check_models(store, model, [query])
        asked = _ask(store, model, [query], {})
        _begin(store, asked)
    return naming.names_near(store, model, asked.codes[0], n)


def _check_models(store: Store, model: Model, queries: Sequence[Query]) -> None:
    """Refuse codes and values that another model has made."""
    for query in queries:
        if query.model is not None and not model.checksum.startswith(query.model):
            raise OtherModel(
                f"{store.folder}: the code or the values are those of another model than the "
                "collection has by now: encode the query again"
            )


def _start(store: Store, state: State, queries: Sequence[Query]) -> Start | None:
    """The state that queries were encoded in, inside `reading`, if they can be ranked in it.

    Most often nobody writes meanwhile, and looking at the catalogue again takes long. Codes of
    items are read later, and an index in a server is not that of a state.
    """
    if store.is_shared or any(query.item is not None for query in queries):
        return None
    return state, store.mirror.index


def _kept(store: Store, state: State, queries: Sequence[Query]) -> Features:
    """Features of the items that are searched for by real values, by row, inside `reading`."""
    rows = {
        row: int(own.item)
        for row, own in enumerate(queries)
        if own.item is not None and (own.is_real or own.rerank)
    }
    if not rows or not state.features.n:
        return {}
    found = features_of(store, store.model, sorted(set(rows.values())))
    return {row: found[number] for row, number in rows.items() if number in found}


def _ask(store: Store, model: Model, queries: Sequence[Query], kept: Features) -> Asked:
    with interruptible():
        return ask(model, queries, lambda *own: naming.understand(store, model, *own), kept)


def _ranked(
    store: Store, asked: Asked, where: str | None, finish: Finish[Answer], start: Start | None
) -> Answer:
    """What `finish` makes of queries, ranked and read in one state of the collection.

    Ranking needs no catalogue, so others may read and write meanwhile. If their changes spoil
    every attempt, the queries are ranked once more while the others wait. The first attempt is in
    the state `start`, if there is one.
    """
    for _ in range(ATTEMPTS):
        if start is not None:
            (state, index), start = start, None
        else:
            with store.reading() as state:
                _begin(store, asked)
                index = store.mirror.index
        try:
            part = index if where is None else subset(store, index, where, state.generation)
            if part is None:
                continue
            rankings = _rank(store, asked, part, state, where)
        except OSError:  # of a server; a writer may have replaced its index
            with store.reading() as now:
                if now.generation == state.generation:
                    raise
            continue
        with store.reading() as now:
            if now.generation == state.generation:
                return finish(store, now, asked, rankings)
    if store.is_shared:
        return _while_others_write(store, asked, where, finish)
    ids = None if where is None else find(store, where)
    with store.reading() as state:
        _begin(store, asked)
        index = store.mirror.index
        if ids is not None:
            index = index.subset(ids[np.isin(ids, index.ids)])
        return finish(store, state, asked, _rank(store, asked, index, state, where))


def _while_others_write(
    store: Store, asked: Asked, where: str | None, finish: Finish[Answer]
) -> Answer:
    """Do the same as `_ranked`, where other processes write to the index without a pause.

    Items that they add have higher ids and are left out. If they change nothing else meanwhile,
    the matches are those of the collection at the start.
    """
    for _ in range(MORE_ATTEMPTS):
        with store.reading() as state:
            _begin(store, asked)
            with store.looking() as connection:
                found = meeting(connection, store.folder, where, state) if where else None
                ids = store.ids() if found is None else found
            try:
                rankings = _rank(store, asked, store.mirror.index.subset(ids), state, where)
            except (OSError, ValueError):
                if not store.has_changed(state):
                    raise
                continue
            if not store.has_changed(state):
                return finish(store, state, asked, rankings)
    raise BusyError(f"{store.folder}: it changes faster than it can be searched: try again later")


def _begin(store: Store, asked: Asked) -> None:
    """Check the model of the queries and fill in the codes of items, inside `reading`."""
    if store.model is not asked.model:
        raise _ModelChanged
    asked.take_items(lambda ids: _codes(store, ids))


def _codes(store: Store, ids: Sequence[int]) -> NDArray[np.uint8]:
    """Packed codes of items, inside `reading`."""
    checked = check_ids(ids)
    check_known(store, np.unique(checked))
    return store.mirror.index.get(checked)


def _rank(
    store: Store, asked: Asked, index: CodeIndex, state: State, where: str | None
) -> list[Ranking]:
    """Rankings of the items of `index`, which are all that meet `where`."""

    def by_name(name: Name, k: int) -> tuple[NDArray[np.float64], Ids]:
        return naming.best_by_name(store, asked.model, name, index, state.generation, where, k)

    def by_reading(reading: Reading, k: int) -> tuple[NDArray[np.float64], Ids, Reading]:
        return naming.best_by_reading(store, asked.model, reading, index, state, where, k)

    with interruptible():
        n = state.items.n if where is None else len(index)
        rankings = asked.rank(index, n, by_name, by_reading)
    if where is not None:  # what is typical is told of all items
        asked.likeness.clear()
    return rankings


def _matches(
    store: Store,
    state: State,
    asked: Asked,
    rankings: Sequence[Ranking],
    recent: Recent | None = None,
) -> list[Found]:
    """Matches for rankings: items with their scores, inside `reading`."""
    rankings = rerank(store, state, asked, rankings)
    wanted = sorted({number for ranking in rankings for number in ranking.ids.tolist()})
    if recent is None:
        found = dict(zip(wanted, items(store, wanted), strict=True))
    else:
        found = recent.items(store, state, wanted)
    small = pictured(store, state, wanted)
    nothing = are_nothing(store, state, asked.likeness, len(rankings))
    return asked.found(rankings, found, small, nothing, lambda ids: thumbnails(store, ids))
