"""Pictures that look like a picture, in a collection or a file of codes."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.codes import hamming
from zshash.collection import Collection, Item, Match
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
    asymmetric: bool = False,
) -> Iterator[dict[str, Any]]:
    """For each query its neighbours, nearest first: the first `k`, or all within `radius`.

    Where the distance is `asymmetric`, neighbours have a score as well, and the best is first.
    """
    if codes.suffix.lower() not in (".npz", ".npy"):
        raise DataError(
            f"{codes}: neither a collection nor codes that zshash encode wrote (.npz, .npy)"
        )
    encoder = Encoder(model, reader)
    database = load_codes(codes, encoder)
    index = HammingIndex(n_bits=encoder.hasher.n_bits)
    index.add(database.packed)
    for name, values in _projected(encoder, queries):
        code = encoder.quantize(values[None])
        near = _best(index, values, code, k) if asymmetric else _nearest(index, code, k, radius)
        found = [facts | database.describe(row) for facts, row in near]
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
    asymmetric: bool = False,
) -> Iterator[dict[str, Any]]:
    """For each query, then for each name, what a collection holds of it, the best first.

    Where the distance is `asymmetric`, what is found for a query has a score as well.
    """
    with Collection.open(folder, reader=reader) as collection:
        encoder = collection.encoder
        projected = _projected(encoder, queries) if queries else []
        n_found = 0
        for start in range(0, len(projected), AT_ONCE):
            part = projected[start : start + AT_ONCE]
            values = np.stack([own for _, own in part])
            codes = encoder.quantize(values)
            if asymmetric:
                answers = collection.search_weighted(values, k, where=where)
            elif radius is None:
                answers = collection.search_codes(codes, k, where=where)
            else:
                answers = collection.radius_codes(codes, radius, where=where)
            n_found += sum(map(len, answers))
            for (query, _), code, found in zip(part, codes, answers, strict=True):
                own = code.tobytes() if asymmetric else None
                yield {"query": query, "neighbours": [_described(match, own) for match in found]}
        for name in names:
            best = collection.search_name(name, k, where=where)
            n_found += len(best)
            scored = [{"score": match.distance} | _facts(match.item) for match in best]
            yield {"query": name, "neighbours": scored}
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


def _described(match: Match, code: bytes | None) -> dict[str, Any]:
    """A match by Hamming distance, or by asymmetric distance to a query of this code."""
    if code is None:
        return {"distance": match.distance} | _facts(match.item)
    bits = match.item.bits_from(code)
    return {"score": match.distance, "distance": bits} | _facts(match.item)


def _facts(item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "path": item.source,
        "labels": list(item.labels),
        "metadata": item.metadata,
    }


def _projected(encoder: Encoder, queries: Sequence[str]) -> list[tuple[str, NDArray[np.float32]]]:
    """Names of all queries, and the values whose signs are their codes.

    Files of pictures are read together, ahead of the others.
    """
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
    projected = []
    for source, data in parts:
        dataset = encoder.features(data, source)
        names = dataset.paths or [f"{source}, row {row}" for row in range(len(dataset))]
        projected += list(zip(names, encoder.project(dataset.X), strict=True))
    return projected


def _nearest(
    index: HammingIndex, code: NDArray[np.uint8], k: int, radius: int | None
) -> Iterator[tuple[dict[str, Any], int]]:
    """Distances to a code (1, bytes), and rows; the nearest first."""
    if radius is None:
        distances, ids = (found[0] for found in index.search(code, k))
    else:
        _, distances, ids = index.radius(code, radius)
    for distance, row in zip(distances.tolist(), ids.tolist(), strict=True):
        yield {"distance": distance}, row


def _best(
    index: HammingIndex, values: NDArray[np.float32], code: NDArray[np.uint8], k: int
) -> Iterator[tuple[dict[str, Any], int]]:
    """Scores of a query's values (n_bits,), distances to its code, and rows; the best first."""
    scores, ids = (found[0] for found in index.search_weighted(values[None], k))
    distances = hamming(code, index.get(ids))[0]
    for score, distance, row in zip(*map(np.ndarray.tolist, (scores, distances, ids)), strict=True):
        yield {"score": score, "distance": distance}, row
