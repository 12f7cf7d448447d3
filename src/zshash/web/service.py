"""What the API does, without HTTP: every function here may take its time, on a thread of a lane."""

import logging
import math
import os
import warnings
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import zshash
from zshash.codes import code_bytes
from zshash.collection import Collection, Found, Item, Page
from zshash.collection.searching import OtherModel, projection_of_query
from zshash.collection.thumbnails import make_thumbnail
from zshash.collection.where import names_field
from zshash.encoding import Encoder
from zshash.images import Limits, PictureReader
from zshash.index.milvus import MilvusError
from zshash.semantics.names import normalise
from zshash.web.answers import to_json
from zshash.web.errors import WRONG, ApiError
from zshash.web.queries import MOST_K, MOST_LIMIT, ItemsQuery, SearchParameters, condition
from zshash.web.settings import Settings

__all__ = ["MOST_FILES", "Question", "Service"]

MOST_LABELS = 1000
MOST_FILES = 16  # in one request
LARGE_SIDE = 1600
log = logging.getLogger("zshash.web")


class Question(NamedTuple):
    """A search in all items.

    Attributes
    ----------
    kind : {"picture", "features", "id", "code"}
    page : Page
    features : ndarray of shape (d,), or None
        To be hashed, where there is neither a code yet nor values for it.
    values : ndarray of shape (n_bits,), or None
        The real values whose signs are the code.
    code : bytes or None
    id : int or None
        Of the item whose code is searched for.
    encoder : Encoder or None
        What made the code, where it is of use with this one only.
    started : float
        When the request came.
    is_asymmetric : bool
        Whether values are compared with the items' bits; then there are values or features.
    """

    kind: str
    page: Page
    features: NDArray[np.float32] | None = None
    values: NDArray[np.float32] | None = None
    code: bytes | None = None
    id: int | None = None
    encoder: Encoder | None = None
    started: float = 0.0
    is_asymmetric: bool = False


class Service:
    """A collection as its clients see it.

    Parameters
    ----------
    folder : Path
    settings : Settings
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.settings = settings
        limits = Limits(pixels=settings.pixels, bytes=settings.bytes)
        self.collection = Collection.open(folder, reader=PictureReader(limits=limits, cache=False))
        self.collection.index.prepare()
        self.folders = _folders(self.collection)
        self._checked: tuple[Encoder, bool, str] | None = None
        self.takes_pictures  # noqa: B018, networks take a while to load
        if self.takes_names and self.collection.info()["semantics"] == ["wordnet"]:
            with suppress(*WRONG):
                self.collection.explain_name(self.collection.seen[0])  # and so does WordNet

    def close(self) -> None:
        """End the use of the collection, which writes down what it has in mind."""
        self.collection.close()

    @property
    def name(self) -> str:
        """What the collection is called."""
        return self.collection.path.name

    @property
    def takes_pictures(self) -> bool:
        """Whether pictures become features that the model can hash."""
        encoder = self.collection.encoder
        if self._checked is None or self._checked[0] is not encoder:
            self._checked = (encoder, *_picture_network(encoder))
        return self._checked[1]

    @property
    def takes_names(self) -> bool:
        """Whether the model knows what names mean."""
        return self.collection.knows_names

    def info(self, authorised: bool) -> dict[str, Any]:
        """What there is to know of the collection and its server."""
        facts, settings = self.collection.info(), self.settings
        labels = self.collection.labels()
        unlabelled = labels.pop("", 0)
        seen = set(map(normalise, self.collection.seen))
        return {
            "name": self.name,
            "items": facts["items"],
            "bits": facts["bits"],
            "method": facts["method"],
            "extractor": facts["extractor"],
            "version": zshash.__version__,
            "generation": facts["generation"],
            "searches": {
                "picture": self.takes_pictures,
                "name": self.takes_names,
                "features": int(self.collection.hasher.n_features_in_),
            },
            "seen": list(self.collection.seen),
            "labels": [
                {"label": label, "items": n, "seen": normalise(label) in seen}
                for label, n in list(labels.items())[:MOST_LABELS]
            ],
            "n_labels": len(labels),
            "unlabelled": unlabelled,
            "thumbnails": bool(facts["thumbnails"]),
            "writable": settings.writable,
            "authorised": authorised,
            "limits": {
                "bytes": settings.bytes,
                "pixels": settings.pixels,
                "k": MOST_K,
                "page": MOST_LIMIT,
                "files": MOST_FILES,
            },
        }

    def project_picture(self, picture: bytes) -> tuple[NDArray[np.float32], Encoder]:
        """The values whose signs are the code of a picture's file, and what made them."""
        if not self.takes_pictures:
            assert self._checked is not None
            raise ApiError(
                422, f"this collection can not be searched with pictures: {self._checked[2]}"
            )
        encoder = self.collection.encoder
        return projection_of_query(encoder, picture)[0], encoder

    def _condition(self, query: ItemsQuery) -> str | None:
        """Labels and condition as one, which may not tell what is not to be told."""
        if query.where is not None and not self.settings.paths and names_field(query.where, "path"):
            raise ApiError(
                422, "where: this server does not tell where pictures are, unless by --show-paths"
            )
        return condition(query)

    def search_filtered(self, question: Question, query: SearchParameters) -> bytes:
        """The answer to a question about the items that meet a condition, as JSON."""
        return self._answer_all([question], self._condition(query))[0]

    def search_all(self, questions: Sequence[Question]) -> Sequence[bytes | Exception]:
        """Answers to many questions about all items, as JSON."""
        try:
            return self._answer_all(questions, None)
        except (ApiError, *WRONG) as error:
            if len(questions) == 1 or isinstance(error, MilvusError):  # no question is at fault
                raise
        answers: list[bytes | Exception] = []
        for question in questions:  # one of them is at fault
            try:
                answers += self._answer_all([question], None)
            except (ApiError, *WRONG) as error:
                answers.append(error)
        return answers

    def _answer_all(self, questions: Sequence[Question], where: str | None) -> list[bytes]:
        while True:
            encoder = self.collection.encoder
            if any(question.encoder not in (None, encoder) for question in questions):
                raise OtherModel("the code of the query is that of an earlier model")
            try:
                codes, values = self._hashed(encoder, questions)
                found = self._found(encoder, questions, codes, values, where)
            except OtherModel:
                continue
            return self._rendered(questions, codes, found)

    def _hashed(
        self, encoder: Encoder, questions: Sequence[Question]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Codes of all questions, and values of those that have some; features go together."""
        n_bits, n = int(encoder.hasher.n_bits), len(questions)
        width = code_bytes(n_bits)
        codes = np.empty((n, width), dtype=np.uint8)
        values = np.zeros((n, n_bits), dtype=np.float32)
        fresh, valued = [], []
        for row, question in enumerate(questions):
            if question.features is not None:
                fresh.append(row)
            elif question.values is not None:
                values[row] = question.values
                valued.append(row)
            elif question.id is not None:
                codes[row] = self._code_of(question.id, width)
            else:
                codes[row] = _checked_code(question.code or b"", width)
        if fresh:
            d = int(encoder.hasher.n_features_in_)
            vectors = [_checked_features(questions[row].features, d) for row in fresh]
            values[fresh] = encoder.project(np.stack(vectors))
        if rows := fresh + valued:
            codes[rows] = encoder.quantize(values[rows])
        return codes, values

    def _found(
        self,
        encoder: Encoder,
        questions: Sequence[Question],
        codes: NDArray[np.uint8],
        values: NDArray[np.float32],
        where: str | None,
    ) -> list[Found]:
        """A page for each question, of those by bits and those by values each together."""
        found: dict[int, Found] = {}
        by_bits = [row for row, question in enumerate(questions) if not question.is_asymmetric]
        by_values = [row for row, question in enumerate(questions) if question.is_asymmetric]
        if by_bits:
            pages = [questions[row].page for row in by_bits]
            own = self.collection.pages(codes[by_bits], pages, where=where, encoder=encoder)
            found |= zip(by_bits, own, strict=True)
        if by_values:
            pages = [questions[row].page for row in by_values]
            own = self.collection.weighted_pages(
                values[by_values], pages, where=where, encoder=encoder
            )
            found |= zip(by_values, own, strict=True)
        return [found[row] for row in range(len(questions))]

    def _code_of(self, number: int, width: int) -> NDArray[np.uint8]:
        index = copy(self.collection.index)  # as it is now, whoever changes it meanwhile
        if number not in index:
            raise ApiError(404, f"there is no item {number}")
        code: NDArray[np.uint8] = index.get([number])[0]
        if len(code) != width:
            raise OtherModel("the index is that of a later model")
        return code

    def _rendered(
        self, questions: Sequence[Question], codes: NDArray[np.uint8], found: Sequence[Found]
    ) -> list[bytes]:
        asked = [
            {"kind": question.kind, "code": code.tobytes().hex(), "name": None, "id": question.id}
            for question, code in zip(questions, codes, strict=True)
        ]
        return [
            self._results(
                query,
                question.page,
                own,
                "score" if question.is_asymmetric else "bits",
                question.started,
                code.tobytes() if question.is_asymmetric else None,
            )
            for query, question, code, own in zip(asked, questions, codes, found, strict=True)
        ]

    def search_name(self, name: str, query: SearchParameters, started: float) -> bytes:
        """The items that fit a name best, as JSON."""
        found = self.collection.page_of_name(name, query.page, where=self._condition(query))
        asked = {"kind": "name", "code": None, "name": name, "id": None}
        return self._results(asked, query.page, found, "score", started)

    def _results(
        self,
        asked: dict[str, Any],
        page: Page,
        found: Found,
        unit: str,
        started: float,
        code: bytes | None = None,
    ) -> bytes:
        """An answer as JSON; with a `code`, also how many bits of each item's differ from it."""
        answer = {
            "query": asked,
            "unit": unit,
            "total": found.total,
            "offset": page.offset,
            "limit": page.limit,
            "results": [
                self._portrait(item, found.pictured, distance=distance, **_bits(item, code))
                for item, distance in found.matches
            ],
            "seconds": round(perf_counter() - started, 6),
        }
        return to_json(answer)

    def why_name(self, name: str) -> dict[str, Any]:
        """What a name means to the model."""
        meaning = self.collection.explain_name(name)
        forecast, rank = meaning.forecast._asdict(), meaning.forecast.rank
        return {
            "kind": "name",
            "name": name,
            "seen": meaning.seen,
            "nearest": [{"name": near.name, "cosine": near.cosine} for near in meaning.nearest],
            "forecast": forecast | {"rank": None if math.isnan(rank) else rank},
        }

    def why_code(self, code: str | None, number: int | None) -> dict[str, Any]:
        """What a code, or that of an item, means to the model."""
        width = code_bytes(self.collection.n_bits)
        if code is not None:
            packed = _checked_code(bytes.fromhex(code), width)
        else:
            packed = self._code_of(number or 0, width)
        nearest = self.collection.explain_code(packed)
        return {"kind": "code", "nearest": [near._asdict() for near in nearest]}

    def items(self, query: ItemsQuery) -> dict[str, Any]:
        """A page of items in the order of their ids."""
        where = self._condition(query)
        ids = self.collection.ids if where is None else self.collection.find(where)
        page = ids[query.offset : query.offset + query.limit]
        page = page[np.isin(page, self.collection.ids)]
        pictured = self.collection.pictured(page)
        items = [self._portrait(item, pictured) for item in self.collection.items(page)]
        return {"total": len(ids), "offset": query.offset, "limit": query.limit, "items": items}

    def item(self, number: int) -> dict[str, Any]:
        """One item."""
        return self._portrait(self.collection[number], self.collection.pictured([number]))

    def thumbnail(self, number: int) -> bytes:
        """The small picture of an item, or 404."""
        small = self.collection.thumbnail(number)
        if small is None:
            raise ApiError(404, f"item {number} has no small picture")
        return small

    def picture(self, number: int) -> bytes:
        """The picture of an item, made anew from its file and no larger than a screen, or 404.

        What is given out is never the file itself, whose remarks may tell where it was taken.
        """
        path = self.collection.picture(number)
        limits = Limits(pixels=self.settings.pixels, bytes=self.settings.bytes)
        large = None if path is None else make_thumbnail(path, LARGE_SIDE, limits)
        if large is None:
            raise ApiError(404, f"the picture of item {number} is not there")
        return large

    def add(self, files: Sequence[tuple[str, bytes]], labels: Sequence[str]) -> dict[str, Any]:
        """Add pictures, all of them before anybody else may write; of each what became of it."""
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

    def remove(self, number: int) -> None:
        """Remove an item."""
        self.collection.remove([number])

    def _portrait(self, item: Item, pictured: set[int], **more: Any) -> dict[str, Any]:
        facts = {
            **more,
            "id": item.id,
            "code": item.code.hex(),
            "labels": list(item.labels),
            "file": self._file(item),
            "metadata": item.metadata,
            "thumbnail": item.id in pictured,
        }
        if self.settings.paths:
            facts["path"] = item.source
        return facts

    def _file(self, item: Item) -> str | None:
        """What the picture's file is called, or was called where it came from."""
        if item.source is None:
            return None
        own = item.metadata.get("file")
        return own if isinstance(own, str) else item.source.rpartition(os.sep)[2]


def _bits(item: Item, code: bytes | None) -> dict[str, int]:
    return {} if code is None else {"bits": item.bits_from(code)}


def _checked_features(features: NDArray[np.float32] | None, n: int) -> NDArray[np.float32]:
    if features is None or features.shape != (n,):
        found = 0 if features is None else features.size
        raise ApiError(422, f"{found} features, and the collection's have {n}")
    if not np.isfinite(features).all():
        raise ApiError(422, "features must be finite numbers, and these hold NaN or infinity")
    return features


def _checked_code(code: bytes, width: int) -> NDArray[np.uint8]:
    if len(code) != width:
        raise ApiError(422, f"a code of {len(code)} bytes, and the collection's have {width}")
    return np.frombuffer(code, dtype=np.uint8)


def _folders(collection: Collection) -> list[Path]:
    """Folders that are no business of a client, although errors may name them."""
    files = [Path(spec) for spec in collection.info()["semantics"] or ()]
    return [collection.path, *(file.parent for file in files if file.is_absolute())]


def _picture_network(encoder: Encoder) -> tuple[bool, str]:
    """Whether there is a network for the model's features, and why not."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            network = encoder.picture_reader.network
    except (*WRONG, OSError) as error:
        log.warning("no search with pictures: %s", error)
        return False, "the network that made its features is not to be had here"
    if network.dimension == encoder.hasher.n_features_in_:
        return True, ""
    return False, "it was made from features of unknown origin"
