"""Pictures that look like a picture: queries against a file of codes."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.datasets import Dataset, Pictures
from zshash.encoding import Encoder, load_codes
from zshash.images import PictureReader
from zshash.index import HammingIndex

__all__ = ["search_codes"]


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
    encoder = Encoder(model, reader)
    database = load_codes(codes, encoder)
    index = HammingIndex(n_bits=encoder.hasher.n_bits)
    index.add(database.packed)
    for name, code in _encoded(encoder, queries):
        pairs = _neighbors(index, code, k, radius)
        found = [{"distance": distance, **database.describe(row)} for distance, row in pairs]
        yield {"query": name, "neighbours": found}


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
