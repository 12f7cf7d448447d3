"""Queries as a server takes them, and its answers as a collection gives them."""

from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from zshash.codes import values_of_text
from zshash.collection import Found, Item, Match
from zshash.collection.operations.queries import Query
from zshash.datasets import Dataset
from zshash.datasets.data import unreadable

if TYPE_CHECKING:
    from zshash.learning.readings import Reading

__all__ = [
    "as_json",
    "file_of",
    "found_of",
    "how_of",
    "ids_of",
    "is_picture",
    "item_of",
    "left",
    "names_of",
    "picture_of",
]


class ToldReading(SimpleNamespace):
    """What a server understood of a name: the fields of `query.reading`."""


def left(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters without those that are None."""
    return {name: value for name, value in parameters.items() if value is not None}


def how_of(query: Query, where: str | None) -> dict[str, Any]:
    """How is searched, besides the page."""
    return {"radius": query.radius, "distance": query.distance, "where": where}


def is_picture(query: Query) -> bool:
    """Whether a picture is searched for."""
    is_file = query.sample is not None and not isinstance(query.sample.data, Dataset)
    return query.picture is not None or is_file


def picture_of(query: Query) -> bytes:
    """Bytes of a query's picture."""
    if isinstance(query.picture, bytes):
        return query.picture
    if query.sample is not None:
        return _content(Path(query.sample.data.paths[query.sample.row]))
    from PIL import Image

    file = BytesIO()
    assert query.picture is not None
    Image.fromarray(query.picture).save(file, "PNG")
    return file.getvalue()


def names_of(query: Query) -> dict[str, list[str]]:
    """Names of a query as a server takes them."""
    words: Mapping[str, float] = query.words or ({query.name: 1.0} if query.name else {})
    told = {
        word: f"{word}:{abs(weight):g}" if weight not in (1, -1) else word
        for word, weight in words.items()
    }
    return {
        "name": [told[word] for word, weight in words.items() if weight > 0],
        "without": [told[word] for word, weight in words.items() if weight < 0],
    }


def as_json(query: Query) -> dict[str, Any]:
    """What a query that is no picture searches for, for JSON."""
    told: dict[str, Any] = {name: own for name, own in names_of(query).items() if own}
    if query.sample is not None:
        assert isinstance(query.sample.data, Dataset)  # a picture is sent in another way
        told["features"] = np.asarray(query.sample.data.X[query.sample.row]).tolist()
    if query.item is not None:
        told["id"] = int(query.item)
    if query.code is not None:
        is_packed = isinstance(query.code, bytes)
        code = query.code if is_packed else np.asarray(query.code, dtype=np.uint8).tobytes()
        told["code"] = code.hex()
    if query.values is not None:
        told["values"] = np.asarray(query.values, dtype=float).tolist()
    if query.model is not None and (query.code is not None or query.values is not None):
        told["model"] = query.model[:64]
    return told


def found_of(answer: dict[str, Any], query: Query) -> Found:
    """Matches in an answer to a query."""
    asked = answer["query"]
    reading = asked.get("reading")
    return Found(
        (Match(item_of(own), own["score"], own["bits"]) for own in answer["results"]),
        total=answer["all"],
        offset=query.offset,
        code=None if asked["code"] is None else bytes.fromhex(asked["code"]),
        model=asked["model"],
        values=None if asked["values"] is None else values_of_text(asked["values"]).astype(float),
        pictured={own["id"] for own in answer["results"] if own["thumbnail"]},
        reading=None if reading is None else cast("Reading", ToldReading(**reading)),
        nothing=asked["nothing"],
    )


def item_of(told: dict[str, Any]) -> Item:
    """An item, of which a server tells the name of its file in place of the path."""
    return Item(
        told["id"],
        bytes.fromhex(told["code"]),
        told.get("path") or told["file"],
        labels=tuple(told["labels"]),
        metadata=told["metadata"],
    )


def ids_of(ids: int | Iterable[int]) -> list[int]:
    """Ids as JSON takes them."""
    return [int(number) for number in np.atleast_1d(np.asarray(ids)).tolist()]


def file_of(picture: Any) -> tuple[str, bytes]:
    """Name and bytes of a picture."""
    if isinstance(picture, bytes):
        return "", picture
    return Path(picture).name, _content(Path(picture))


def _content(path: Path) -> bytes:
    """Bytes of a file; a `DataError` if it can not be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
