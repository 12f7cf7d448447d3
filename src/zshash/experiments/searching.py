"""Pictures that look like a picture: queries against a file of codes."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.experiments.encoding import Encoder, load_codes
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
    for source in queries:
        dataset = encoder.read(source)
        names = dataset.paths or [f"{source}, row {row}" for row in range(len(dataset))]
        for name, code in zip(names, encoder.encode(dataset), strict=True):
            pairs = _neighbors(index, code, k, radius)
            found = [{"distance": distance, **database.describe(row)} for distance, row in pairs]
            yield {"query": name, "neighbours": found}


def _neighbors(
    index: HammingIndex, code: NDArray[np.uint8], k: int, radius: int | None
) -> Iterator[tuple[int, int]]:
    """Distances and rows, nearest first."""
    if radius is None:
        distances, ids = (found[0] for found in index.search(code[None], k))
    else:
        _, distances, ids = index.radius(code[None], radius)
    return zip(distances.tolist(), ids.tolist(), strict=True)
