"""What can be added to a collection: files, folders, pixels, features, data sets."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np

from zshash.collection.operations.fields import (
    check_labels,
    check_metadata,
    check_sources,
    names_of,
)
from zshash.datasets import Dataset, Pictures
from zshash.datasets.listing import is_picture

__all__ = ["Columns", "Part", "as_parts", "columns_of"]

Part = Dataset | Pictures
Open = Callable[[str], Part]
WANTED = (
    "give a path, a list of paths, features (n, d), pixels (n, height, width[, 3]) of uint8, a "
    "Dataset or Pictures"
)


@dataclass
class Columns:
    """Columns of the table of items besides the codes: lists with an entry for each item."""

    sources: list[str | bytes | None]
    labels: list[str]
    metadata: list[str]
    contents: list[bytes | None] = field(default_factory=list)
    sizes: list[int | None] = field(default_factory=list)
    times: list[int | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        n = len(self.sources)
        self.contents = self.contents or [None] * n
        self.sizes = self.sizes or [None] * n
        self.times = self.times or [None] * n

    def pick(self, rows: Sequence[int] | slice) -> Self:
        """Columns of the given rows."""
        own = vars(self).values()
        if isinstance(rows, slice):
            return type(self)(*(column[rows] for column in own))
        return type(self)(*([column[row] for row in rows] for column in own))


def as_parts(data: Any, open_data: Open) -> list[Part]:
    """Data as pictures and features, each part of one kind."""
    if isinstance(data, Dataset | Pictures):
        return [data]
    if isinstance(data, str | os.PathLike):
        return [open_data(os.fspath(data))]
    if isinstance(data, np.ndarray):
        return [_of_array(data)]
    if isinstance(data, Iterable) and not isinstance(data, bytes):
        return _of_list(list(data), open_data)
    raise TypeError(f"{type(data).__name__} can not be added: {WANTED}")


def _of_array(array: np.ndarray[Any, Any]) -> Part:
    if array.dtype == np.uint8 and array.ndim in (3, 4):
        return Pictures(array)
    if array.dtype.kind in "fiu" and array.dtype != np.uint8 and array.ndim == 2:
        return Dataset(np.asarray(array, dtype=np.float32))
    raise ValueError(f"an array of {array.dtype} and shape {array.shape}: {WANTED}")


def _of_list(entries: list[Any], open_data: Open) -> list[Part]:
    """Pictures that follow each other belong together; anything else is opened by itself."""
    if entries and all(isinstance(entry, Dataset | Pictures) for entry in entries):
        return entries
    parts: list[Part] = []
    waiting: list[Path] = []
    for entry in entries:
        if not isinstance(entry, str | os.PathLike):
            raise TypeError(f"a list that holds {type(entry).__name__}: {WANTED}")
        path = Path(entry)
        if is_picture(path.name) and not path.is_dir():
            waiting.append(path)
            continue
        if waiting:
            parts.append(Pictures(tuple(waiting)))
            waiting = []
        parts.append(open_data(os.fspath(entry)))
    return [*parts, Pictures(tuple(waiting))] if waiting else parts


def columns_of(parts: Sequence[Part], labels: Any, metadata: Any, sources: Any) -> list[Columns]:
    """Columns of each part; what the user gives goes before what the data says."""
    total = sum(map(len, parts))
    if sources is None:
        sources = [source for part in parts for source in _own_sources(part)]
    else:
        sources = [_absolute(source) for source in sources]
    if labels is None:
        labels = [words for part in parts for words in _own_labels(part)]
    whole = Columns(
        check_sources(sources, total), check_labels(labels, total), check_metadata(metadata, total)
    )
    starts = np.cumsum([0, *map(len, parts)])
    return [whole.pick(slice(start, stop)) for start, stop in pairwise(starts.tolist())]


def _own_labels(part: Part) -> Iterable[Any]:
    return [None] * len(part) if part.labels is None else names_of(part.labels, part.names)


def _own_sources(part: Part) -> Iterable[str | None]:
    if isinstance(part, Pictures):
        return [os.path.abspath(path) for path in part.paths] or [None] * len(part)  # noqa: PTH100
    return [_found(path) for path in part.paths] or [None] * len(part)


def _absolute(source: Any) -> Any:
    return source.absolute() if isinstance(source, Path) else source


def _found(path: str) -> str:
    """Absolute path of an existing file; other texts stay as they are: they may be addresses."""
    absolute = os.path.abspath(path)  # noqa: PTH100, Path would not drop what is before ".."
    return absolute if path and "\0" not in path and os.path.exists(absolute) else path  # noqa: PTH110
