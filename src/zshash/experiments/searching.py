"""Pictures that look like a picture, in a collection or a file of codes."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.collection import Collection, Match
from zshash.datasets import DataError, Dataset, Pictures
from zshash.encoding import Encoder, load_codes
from zshash.images import PictureReader
from zshash.index import HammingIndex

__all__ = ["search_codes", "search_collection", "unknown_fields"]

AT_ONCE = 256  # queries that share one look at the condition
BUILT_IN = ("label", "path", "id")


def search_codes(
    codes: Path,
    queries: Sequence[str],
    model: Path,
    reader: PictureReader,
    *,
    k: int,
    radius: int | None = None,
) -> Iterator[dict[str, Any]]:
    """For each query its neighbours, nearest first: the first `k`, or all within `radius`."""
    if codes.suffix.lower() not in (".npz", ".npy"):
        raise DataError(
            f"{codes}: neither a collection nor codes that zshash encode wrote (.npz, .npy)"
        )
    encoder = Encoder(model, reader)
    database = load_codes(codes, encoder)
    index = HammingIndex(n_bits=encoder.hasher.n_bits)
    index.add(database.packed)
    for name, code in _encoded(encoder, queries):
        pairs = _neighbors(index, code, k, radius)
        found = [{"distance": distance, **database.describe(row)} for distance, row in pairs]
        yield {"query": name, "neighbours": found}


def search_collection(
    folder: Path,
    queries: Sequence[str],
    names: Sequence[str],
    reader: PictureReader,
    *,
    k: int,
    radius: int | None = None,
    where: str | None = None,
) -> Iterator[dict[str, Any]]:
    """For each query, then for each name, what a collection holds of it, the best first."""
    with Collection.open(folder, reader=reader) as collection:
        encoded = _encoded(collection.encoder, queries) if queries else []
        n_found = 0
        for start in range(0, len(encoded), AT_ONCE):
            part = encoded[start : start + AT_ONCE]
            codes = np.stack([code for _, code in part])
            if radius is None:
                answers = collection.search_codes(codes, k, where=where)
            else:
                answers = collection.radius_codes(codes, radius, where=where)
            n_found += sum(map(len, answers))
            for (query, _), found in zip(part, answers, strict=True):
                yield {"query": query, "neighbours": [_described(match) for match in found]}
        for name in names:
            best = collection.search_name(name, k, where=where)
            n_found += len(best)
            yield {"query": name, "neighbours": [_described(match, "score") for match in best]}
        unknown = unknown_fields(collection, where) if where and not n_found else ""
        if unknown:
            warnings.warn(unknown, UserWarning, stacklevel=2)


def unknown_fields(collection: Collection, where: str) -> str:
    """Which fields of a condition no item has and which there are; nothing if all is well."""
    unknown = collection.unknown_fields(where)
    if not unknown or not len(collection):
        return ""
    some = collection.items(collection.ids[:1000])
    known = sorted({name for item in some for name in item.metadata})
    return f"no item has {' or '.join(unknown)}; there are {', '.join([*BUILT_IN, *known])}"


def _described(match: Match, kind: str = "distance") -> dict[str, Any]:
    item = match.item
    return {
        kind: match.distance,
        "id": item.id,
        "path": item.source,
        "labels": list(item.labels),
        "metadata": item.metadata,
    }


def _encoded(encoder: Encoder, queries: Sequence[str]) -> list[tuple[str, NDArray[np.uint8]]]:
    """Names and codes of all queries; files of pictures are read together, ahead of the others."""
    files: list[Pictures] = []
    parts: list[tuple[str, Dataset | Pictures]] = []
    for source in queries:
        data = encoder.open(source)
        if isinstance(data, Pictures) and not isinstance(data.sources, np.ndarray):
            files.append(data)
        else:
            parts.append((source, data))
    if files:
        paths = tuple(path for data in files for path in data.sources)
        root = files[0].root if len(files) == 1 else None
        parts.insert(0, (queries[0], Pictures(paths, root=root)))
    encoded = []
    for source, data in parts:
        dataset = encoder.features(data, source)
        names = dataset.paths or [f"{source}, row {row}" for row in range(len(dataset))]
        encoded += list(zip(names, encoder.encode(dataset), strict=True))
    return encoded


def _neighbors(
    index: HammingIndex, code: NDArray[np.uint8], k: int, radius: int | None
) -> Iterator[tuple[int, int]]:
    """Distances and rows, nearest first."""
    if radius is None:
        distances, ids = (found[0] for found in index.search(code[None], k))
    else:
        _, distances, ids = index.radius(code[None], radius)
    return zip(distances.tolist(), ids.tolist(), strict=True)
