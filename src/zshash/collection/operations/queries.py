"""Queries of a search: what is searched for, and which page of the matches is wanted."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from zshash.codes import check_integer
from zshash.datasets import Dataset, Pictures
from zshash.images import PictureReader
from zshash.learning.model import Model

__all__ = [
    "BITS",
    "DISTANCES",
    "REAL",
    "Many",
    "Page",
    "Picture",
    "Projected",
    "Query",
    "Sample",
    "make_queries",
    "read_queries",
    "samples_of",
]

REAL, BITS = DISTANCES = ("real", "bits")
K = 20  # matches on a page, where nothing else is said
GIVEN = ("sample", "picture", "name", "item", "code", "values")
COUNTS = (("k", 1), ("radius", 0), ("offset", 0), ("rerank", 1), ("most", 1))  # and the least
MANY = {"name": 1, "item": 1, "code": 2, "values": 2}  # dimensions of many of a kind
ONE = (
    "a search needs exactly one of query, name, item, code and values, or a query and names, or "
    "values and names"
)
PICTURE = "give the path or the bytes of a picture, its pixels (uint8), or features (d,)"

Values = NDArray[np.floating[Any]]
Picture = str | os.PathLike[str] | bytes
ListOfPictures = list[str] | list[Path] | list[bytes] | list[Picture] | tuple[Picture, ...]
Many = ListOfPictures | Dataset | Pictures


class Page(TypedDict, total=False):
    """Arguments of `Collection.search` that say how is searched, and not what for."""

    k: int | None
    radius: int | None
    offset: int
    where: str | None
    distance: str | None
    rerank: int | None
    model: str | None


class Sample(NamedTuple):
    """One row of data: a picture, or features; `source` names the data in messages."""

    data: Dataset | Pictures
    row: int = 0
    source: str = "the query"


class Projected(NamedTuple):
    """Real values (n_bits,) of a query, and the model that made them."""

    model: Model
    values: NDArray[np.float32]


@dataclass(eq=False)
class Query:
    """One thing to search for, and which page of its matches is wanted.

    Attributes
    ----------
    sample, picture, name, item, code, values
        What is searched for, exactly one of these: a row of data; the bytes or the pixels of a
        picture; the name of a category; the id of an item; a packed code; n_bits real numbers.
    words : dict of str to float, optional
        Names with weights that are searched for together, or together with a sample, a picture or
        values; a negative weight is for what is not wanted.
    k, radius, offset, distance, rerank
        As for `Collection.search`.
    most : int or None
        Number of items that are ranked: there are no more matches than this on all pages.
    model : str or None
        Checksum of the model that made the code or the values, or its first digits. With None,
        the collection's model is assumed.
    title : str
        Name of the query where it is shown: a path, or a row of a file.
    projected : Projected or None
        Values of the sample or of the picture, if they were computed before the search. The
        search computes them anew if the collection has another model by then.
    """

    sample: Sample | None = None
    picture: bytes | NDArray[np.uint8] | None = None
    name: str | None = None
    item: int | None = None
    code: Any = None
    values: Any = None
    words: Mapping[str, float] | None = None
    k: int | None = None
    radius: int | None = None
    offset: int = 0
    distance: str | None = None
    rerank: int | None = None
    most: int | None = None
    model: str | None = None
    title: str = ""
    projected: Projected | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        given = [name for name in GIVEN if getattr(self, name) is not None]
        if len(given) != 1 and (given or not self.words):
            raise TypeError(ONE)
        if self.words and given and not self.is_shown:
            raise TypeError(ONE)
        self._check_words()
        for name, least in COUNTS:
            if getattr(self, name) is not None:
                setattr(self, name, check_integer(name, getattr(self, name), least))
        self._check_distance()
        self._check_rerank()

    def _check_words(self) -> None:
        weights = list((self.words or {}).values())
        if not all(np.isfinite(weight) and weight for weight in weights):
            raise ValueError("the weight of a name is a number other than 0")
        if weights and not self.is_shown and max(weights) < 0:
            raise ValueError("say what to search for, not only what is not wanted")

    def _check_distance(self) -> None:
        if self.distance is not None and self.distance not in DISTANCES:
            known = " or ".join(f'"{name}"' for name in DISTANCES)
            raise ValueError(f"distance must be {known}, got {self.distance!r}")
        if self.is_named and self.radius is not None:
            raise ValueError("a name is searched for by score, so there is no radius")
        if self.is_named and self.distance is not None:
            raise ValueError("a name is searched for by a score of its own: leave distance out")
        if self.radius is not None and (self.distance == REAL or self.values is not None):
            raise ValueError(
                "a radius is a number of bits, and real values have none: leave it out, or search "
                "by bits"
            )

    def _check_rerank(self) -> None:
        if self.rerank is None:
            return
        if self.is_named:
            raise ValueError("a name is searched for by a score of its own: leave rerank out")
        if self.radius is not None:
            raise ValueError("matches within a radius come in the order of bits: leave rerank out")
        if not self.is_read and self.item is None:
            raise ValueError(
                "a code and values have no features to rank by: search for a picture, features or "
                "an item, or leave rerank out"
            )

    @property
    def is_named(self) -> bool:
        """Whether names are searched for, alone or together with a picture."""
        return self.name is not None or bool(self.words)

    @property
    def is_read(self) -> bool:
        """Whether a picture or features are searched for, which the model has to encode."""
        return self.sample is not None or self.picture is not None

    @property
    def is_shown(self) -> bool:
        """Whether a picture, features or real values are searched for, so names can be beside."""
        return self.is_read or self.values is not None

    @property
    def is_real(self) -> bool:
        """Whether real values are compared with bits, if the query has any."""
        return self.radius is None and self.distance != BITS

    @property
    def is_ball(self) -> bool:
        """Whether all items within the radius have to be found to count them."""
        return self.radius is not None and self.most is None

    @property
    def page(self) -> slice:
        """Place of the wanted matches among all of them."""
        if self.k is None and self.radius is not None:
            return slice(self.offset, None)
        return slice(self.offset, self.offset + (K if self.k is None else self.k))

    @property
    def reach(self) -> int:
        """Number of items to rank, unless all items within a radius are searched for."""
        return self.most or max(int(self.page.stop or 1), self.rerank or 0)


def samples_of(data: Dataset | Pictures, source: str = "the query") -> list[Sample]:
    """Samples for all rows of data."""
    return [Sample(data, row, source) for row in range(len(data))]


def read_queries(reader: PictureReader, sources: Sequence[str], **page: Any) -> list[Query]:
    """Queries for all pictures and features at the given paths or in the named data sets.

    Files of pictures come first, and are read together.
    """
    files: list[Pictures] = []
    parts: list[tuple[str, Dataset | Pictures]] = []
    for source in sources:
        data = reader.open(source)
        if isinstance(data, Pictures) and not isinstance(data.sources, np.ndarray):
            files.append(data)
        else:
            parts.append((source, data))
    if files:
        paths = tuple(path for data in files for path in data.sources)
        root = files[0].root if len(files) == 1 else None
        parts.insert(0, (sources[0], Pictures(paths, root=root)))
    return [query for source, data in parts for query in _rows(source, data, page)]


def _rows(source: str, data: Dataset | Pictures, page: dict[str, Any]) -> Iterator[Query]:
    titles = data.paths or [f"{source}, row {row}" for row in range(len(data))]
    for sample, title in zip(samples_of(data, source), titles, strict=True):
        yield Query(sample=sample, title=title, **page)


def make_queries(
    query: Any, name: Any, item: Any, code: Any, values: Any, without: Any = (), **page: Any
) -> tuple[list[Query], bool]:
    """Queries from the arguments of `Collection.search`, and whether many were given."""
    words = _words(name, without, query is not None or values is not None)
    if words:
        page, name = page | {"words": words}, None
        if query is None and item is None and code is None and values is None:
            return [Query(**page)], False
    given = {"name": name, "item": item, "code": code, "values": values}
    given = {kind: own for kind, own in given.items() if own is not None}
    if len(given) + (query is not None) != 1:
        raise TypeError(ONE)
    if query is not None:
        wanted, is_many = _read(query)
    else:
        ((kind, own),) = given.items()
        is_many = not isinstance(own, str | bytes) and np.ndim(own) == MANY[kind]
        wanted = [{kind: one} for one in own] if is_many else [{kind: own}]
    return [Query(**own, **page) for own in wanted], is_many


def _words(name: Any, without: Any, beside: bool) -> dict[str, float]:
    """Names with weights that are searched for together; empty for names that stand alone."""
    names = [without] if isinstance(without, str) else list(without)
    if isinstance(name, Mapping):
        wanted = {str(word): float(weight) for word, weight in name.items()}
    elif name is not None and (names or beside):
        wanted = dict.fromkeys([name] if isinstance(name, str) else name, 1.0)
    else:
        wanted = {}
    return wanted | dict.fromkeys(names, -1.0)


def _read(query: Any) -> tuple[list[dict[str, Any]], bool]:
    """Arguments of `Query` for pictures or features, and whether many were given."""
    if isinstance(query, Dataset | Pictures):
        return [{"sample": sample} for sample in samples_of(query)], True
    if _is_picture(query):
        return [_picture(query)], False
    is_pixels = isinstance(query, np.ndarray) and query.dtype == np.uint8
    if is_pixels or (isinstance(query, list | tuple) and query and _is_picture(query[0])):
        return _pictures(query), True
    features = _features(query)
    samples = samples_of(Dataset(np.atleast_2d(features)))
    return [{"sample": sample} for sample in samples], features.ndim == 2


def _is_picture(query: Any) -> bool:
    is_pixels = isinstance(query, np.ndarray) and query.dtype == np.uint8 and query.ndim < 4
    return is_pixels or isinstance(query, str | os.PathLike | bytes)


def _pictures(queries: Iterable[Any]) -> list[dict[str, Any]]:
    """Arguments of `Query` for many pictures; files share one `Pictures`, to be read together."""
    wanted = [_picture(query) for query in queries]
    paths = [Path(own["title"]) for own in wanted if "sample" in own]
    rows = iter(samples_of(Pictures(tuple(paths))))
    return [own | {"sample": next(rows)} if "sample" in own else own for own in wanted]


def _picture(query: Any) -> dict[str, Any]:
    if isinstance(query, str | os.PathLike):
        path = os.fspath(query)
        return {"sample": Sample(Pictures((Path(query),)), 0, path), "title": path}
    if not _is_picture(query):
        raise TypeError(f"{type(query).__name__} can not be searched for: {PICTURE}")
    return {"picture": query}


def _features(query: Any) -> NDArray[np.float32]:
    try:
        features = np.asarray(query, dtype=np.float32)
    except (TypeError, ValueError):
        raise TypeError(f"{type(query).__name__} can not be searched for: {PICTURE}") from None
    if features.ndim not in (1, 2):
        raise ValueError(f"an array of shape {features.shape} can not be searched for: {PICTURE}")
    return features
