"""The collection as clients of the API see it, without HTTP.

Methods may take long: the server calls them in threads, never in its event loop.
"""

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.codes import text_of_values
from zshash.collection import Collection, Found, Item, Query
from zshash.collection.operations.queries import Projected
from zshash.collection.operations.ranking import project
from zshash.collection.operations.recent import Recent
from zshash.collection.operations.where import WhereError
from zshash.collection.results import Removed
from zshash.datasets import Dataset
from zshash.images import Limits, PictureReader
from zshash.index.milvus import MilvusError
from zshash.learning.model import Model
from zshash.web.about import MOST_FILES, About, picture_network
from zshash.web.accepting import LINES, PACKED
from zshash.web.answers import to_json
from zshash.web.atlas import items_left
from zshash.web.batches import Batch, packed
from zshash.web.errors import WRONG, ApiError, describe
from zshash.web.facets import facets_told
from zshash.web.pictures import Pictures
from zshash.web.private import check_condition, shown
from zshash.web.queries import (
    Conditions,
    ItemsQuery,
    Question,
    SearchParameters,
    WhyQuery,
    condition,
)
from zshash.web.settings import Settings
from zshash.web.telling import Telling

__all__ = ["MOST_FILES", "Question", "ServedCollection"]

AT_ONCE = 500  # items that are read together
MODEL_DIGITS = 12  # first digits of a model's checksum, which clients get


class ServedCollection:
    """A collection as its clients see it: each method does the work of one or two routes.

    Parameters
    ----------
    folder : Path
        Folder of the collection.
    settings : Settings
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.settings = settings
        self.limits = Limits(pixels=settings.pixels, bytes=settings.bytes)
        reader = PictureReader(limits=self.limits, cache=False)
        self.collection = Collection.open(folder, reader=reader, patience=settings.seconds)
        self.pictures = Pictures(self.collection, settings)
        self.folders = _folders(self.collection)
        self._about = About(self.collection, settings)
        self._recent, self._telling = Recent(), Telling(self._portrait)
        self._checked: tuple[Model, bool, str] | None = None
        self.takes_pictures  # noqa: B018, loads the network now, which takes a while
        self._load_names()

    def _load_names(self) -> None:
        """Load WordNet now, and what the model knows of names: the first search takes a second."""
        model = self.collection.model
        is_wordnet = self.takes_names and self.collection.info()["semantics"] == ["wordnet"]
        if model.knowledge is not None or (is_wordnet and model.seen):
            with suppress(*WRONG):
                self.collection.explain_name(self.a_name)

    def close(self) -> None:
        """Close the collection, which writes its index to the disk."""
        self.collection.close()

    @property
    def name(self) -> str:
        """Name of the collection: the last part of its path."""
        return self.collection.path.name

    @property
    def takes_pictures(self) -> bool:
        """Whether the collection can be searched with pictures."""
        model = self.collection.model
        if self._checked is None or self._checked[0] is not model:
            self._checked = (model, *picture_network(model))
        return self._checked[1]

    @property
    def width(self) -> int:
        """How many numbers the features of a picture have."""
        return int(self.collection.model.hasher.n_features_in_)

    @property
    def a_name(self) -> str:
        """A name to begin with, which is known if the collection knows any."""
        return next(iter(self.collection.model.seen), "dog")

    @property
    def takes_names(self) -> bool:
        """Whether the collection can be searched by name."""
        return self.collection.knows_names

    def info(self, authorised: bool) -> dict[str, Any]:
        """Facts about the collection, the server, and whether the client is authorised."""
        searches = {
            "picture": self.takes_pictures,
            "name": self.takes_names,
            "names": self.collection.model.knowledge is not None,
            "features": self.width,
        }
        return self._about.facts(authorised) | {"searches": searches}

    @property
    def is_told_whole(self) -> bool:
        """Whether the last `info` lacked nothing that it may have a moment later."""
        return self._about.is_whole

    def prepare(self, question: Question) -> None:
        """Compute the real values of a picture before the search, because that takes longest."""
        if not self.takes_pictures:
            assert self._checked is not None
            raise ApiError(
                422, f"this collection can not be searched with pictures: {self._checked[2]}"
            )
        model = self.collection.model
        values, _ = project(model, [question.query])
        question.query.projected = Projected(model, values[0])

    def _condition(self, query: Conditions) -> str | None:
        """Labels and condition as one condition; refuses fields that clients may not see."""
        if query.where is not None:
            check_condition(query.where, self.settings)
        return condition(query)

    def search_alone(self, question: Question, query: SearchParameters) -> bytes:
        """Answer one question, as JSON, about the items that meet the condition of `query`."""
        return self._answers([question], self._condition(query))[0]

    def search_all(self, questions: Sequence[Question]) -> Sequence[bytes | Exception]:
        """Answer many questions about all items, each with JSON or with the error it causes."""
        try:
            return self._answers(questions, None)
        except (ApiError, *WRONG) as error:
            if len(questions) == 1 or isinstance(error, MilvusError):  # no question is at fault
                raise
        answers: list[bytes | Exception] = []
        for question in questions:  # one of them is at fault
            try:
                answers += self._answers([question], None)
            except (ApiError, *WRONG) as error:
                answers.append(error)
        return answers

    def search_batch(self, batch: Batch, form: str) -> bytes:
        """Answer many questions by one call: as JSON, in lines, or as packed ids and scores.

        Raises
        ------
        ApiError
            If one of them can not be answered: the sentence says which one.
        """
        batch.check_size(are_items_told=form != PACKED)
        where, queries = self._condition(batch.how), [one.query for one in batch.questions]
        try:
            if form == PACKED:
                return packed(self.collection.rank_each(queries, where=where), batch.how.page)
            found = self.collection.search_each(queries, where=where, recent=self._recent)
        except WRONG as error:
            answer = describe(error, self.folders)
            if answer.status not in (404, 422) or isinstance(error, WhereError):
                raise
            raise self._blamed(answer, queries) from error
        told = [self._answer(*pair) for pair in zip(batch.questions, found, strict=True)]
        if form == LINES:
            return b"".join(answer + b"\n" for answer in told)
        return b'{"answers":[' + b",".join(told) + b"]}"

    def _blamed(self, answer: ApiError, queries: Sequence[Query]) -> ApiError:
        """The answer to a batch that failed, which says what query is at fault."""
        place = 0
        while queries:
            half = queries[: max(1, len(queries) // 2)]
            try:
                self.collection.rank_each(half)
            except WRONG as error:
                if len(half) == 1:
                    answer = describe(error, self.folders)
                    return ApiError(
                        422, f"queries.{place}: {answer.detail}", {}, answer.suggestions
                    )
                queries = half
            else:
                place, queries = place + len(half), queries[len(half) :]
        return answer

    def _answers(self, questions: Sequence[Question], where: str | None) -> list[bytes]:
        queries = [question.query for question in questions]
        try:
            found = self.collection.search_each(queries, where=where, recent=self._recent)
        except ValueError:
            for query in queries:
                _check_features(query, self.width)
            raise
        return [self._answer(*pair) for pair in zip(questions, found, strict=True)]

    def _answer(self, question: Question, found: Found) -> bytes:
        query = question.query
        asked: dict[str, Any] = {
            "kind": question.kind,
            "code": None if found.code is None else found.code.hex(),
            "name": query.name,
            "id": query.item,
            "model": found.model[:MODEL_DIGITS],
            "values": None if found.values is None else text_of_values(found.values),
            "nothing": found.nothing,
        }
        if query.words:
            asked["words"] = dict(query.words)
        if found.reading is not None:
            asked["reading"] = found.reading.told()
        return (
            b'{"query":%b,"total":%d,"all":%d,"offset":%d,"limit":%d,"results":[%b],"seconds":%b}'
            % (
                to_json(asked),
                found.total,
                found.n_all,
                found.offset,
                question.limit,
                self._telling.matches(found, found.pictured),
                to_json(round(perf_counter() - question.started, 6)),
            )
        )

    def why_name(self, name: str) -> dict[str, Any]:
        """What a name means to the model: the nearest known categories, and a forecast."""
        meaning = self.collection.explain_name(name)
        rank = meaning.forecast.rank
        return {
            "kind": "name",
            "name": name,
            "seen": meaning.seen,
            "nearest": [near._asdict() for near in meaning.nearest],
            "forecast": meaning.forecast._asdict() | {"rank": None if math.isnan(rank) else rank},
        }

    def why_code(self, query: WhyQuery) -> dict[str, Any]:
        """What a code, given directly or by an item, means to the model: the nearest names."""
        code = None if query.code is None else bytes.fromhex(query.code)
        nearest = self.collection.explain_code(code, item=query.id, model=query.model)
        return {"kind": "code", "nearest": [near._asdict() for near in nearest]}

    def items(self, query: ItemsQuery) -> dict[str, Any]:
        """A page of items in the order of their ids."""
        where = self._condition(query)
        ids = self.collection.ids if where is None else self.collection.find(where)
        page = ids[query.offset : query.offset + query.limit]
        items = self.portraits(page)
        return {"total": len(ids), "offset": query.offset, "limit": query.limit, "items": items}

    def lines(self, query: ItemsQuery) -> Iterator[bytes]:
        """All items that meet a condition, a line of JSON each, in parts of many items.

        They are those that were there at the beginning, without what is removed meanwhile. A page
        is told only where the query says how many items it has.
        """
        where = self._condition(query)
        ids = self.collection.ids if where is None else self.collection.find(where)
        end = query.offset + query.limit if "limit" in query.model_fields_set else len(ids)
        for start in range(query.offset, min(end, len(ids)), AT_ONCE):
            page = ids[start : min(start + AT_ONCE, end)]
            yield b"".join(to_json(told) + b"\n" for told in self.portraits(page)) or b"\n"

    def portraits(self, ids: NDArray[np.int64]) -> list[dict[str, Any]]:
        """Facts about items, without those that are no longer there."""
        pictured = self.collection.pictured(ids)
        left = items_left(self.collection, ids)
        return [self._portrait(item, item.id in pictured) for item in left]

    def facets(self) -> dict[str, Any]:
        """What the collection can be narrowed by."""
        return facets_told(self.collection.facets(), places=self.settings.places)

    def item(self, number: int) -> dict[str, Any]:
        """Facts about one item."""
        is_pictured = number in self.collection.pictured([number])
        return self._portrait(self.collection[number], is_pictured)

    def thumbnail(self, number: int) -> bytes:
        """File of the small picture of an item; 404 if there is none."""
        small = self.collection.thumbnail(number)
        if small is None:
            raise ApiError(404, f"item {number} has no small picture")
        return small

    def file(self, number: int) -> str | None:
        """Name of the file of an item's picture, or None."""
        return self._file(self.collection[number])

    def add(self, files: Sequence[tuple[str, bytes]], labels: Sequence[str]) -> dict[str, Any]:
        """Add pictures as one change, and report what was added, was there already, or failed."""
        report = self.collection.add_files(
            [content for _, content in files],
            labels=[list(labels)] * len(files),
            metadata=[{"file": name} if name else {} for name, _ in files],
        )
        failures = []
        for failure in report.failures:
            place, _, reason = failure.removeprefix("file ").partition(": ")
            failures.append({"file": files[int(place)][0], "reason": reason})
        return {
            "added": report.ids.tolist(),
            "duplicates": report.duplicates.tolist(),
            "failures": failures,
        }

    def remove(self, ids: Sequence[int], for_good: bool) -> Removed:
        """Remove items; for good: nothing of them is kept, so that nothing can be restored."""
        keys = self.pictures.keys(set(ids)) if for_good else []
        removed = self.collection.remove(ids, undo=not for_good)
        self.pictures.drop(keys)
        return removed

    def _portrait(self, item: Item, is_pictured: bool) -> dict[str, Any]:
        facts = {
            "id": item.id,
            "code": item.code.hex(),
            "labels": list(item.labels),
            "file": self._file(item),
            "metadata": shown(item.metadata, self.settings),
            "thumbnail": is_pictured,
            "size": self._size(item, is_pictured),
        }
        if self.settings.paths:
            facts["path"] = item.source
        return facts

    def _size(self, item: Item, is_pictured: bool) -> tuple[int, int] | None:
        """Width and height of the picture as it is seen, or of the small one, or None."""
        if item.seen_size is not None or not is_pictured:
            return item.seen_size
        return self.collection.sizes([item]).get(item.id)

    def _file(self, item: Item) -> str | None:
        """Name of the picture's file, as a client sent it or as it is on the disk, or None."""
        if item.source is None:
            return None
        own = item.metadata.get("file")
        return own if isinstance(own, str) else item.source.rpartition(os.sep)[2]


def _check_features(query: Query, n: int) -> None:
    """Refuse features that the model can not take; the model's own message would name its file."""
    if query.sample is None or not isinstance(query.sample.data, Dataset):
        return
    features = query.sample.data.X
    if features.shape != (1, n):
        raise ApiError(422, f"{features.size} features, and the collection's have {n}")
    if not np.isfinite(features).all():
        raise ApiError(422, "features must be finite numbers, and these hold NaN or infinity")


def _folders(collection: Collection) -> list[Path]:
    """Folders that errors may name and clients must not see."""
    files = [Path(spec) for spec in collection.info()["semantics"] or ()]
    return [collection.path, *(file.parent for file in files if file.is_absolute())]
