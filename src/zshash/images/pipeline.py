"""Decoding and network side by side: every core takes a few pictures from file to features.

On each core the network runs with one thread. So no core waits for another, decoding on one core
goes on beside the network on others, and only a few pictures at a time are in memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zshash._threads import map_blocks
from zshash.images.decoding import Limits, PictureError, decode
from zshash.images.extractor import Extractor

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["Also", "Batch", "extract", "extract_batches"]

Also = Callable[[int, "Image.Image"], object]
"""What is done with a picture's row and pixels while they are at hand, by any thread."""


@dataclass(frozen=True)
class Batch:
    """Features of a few pictures, and the pictures that could not be read.

    Attributes
    ----------
    rows : list of int
        Rows of the pictures that could be read.
    features : ndarray of shape (len(rows), d), float32
    failures : dict of int to str
        Rows of the other pictures, and why each could not be read.
    """

    rows: list[int]
    features: NDArray[np.float32]
    failures: dict[int, str]

    def without(self, failures: dict[int, str]) -> "Batch":
        """The batch with these rows moved to the failures, each with its reason."""
        if not failures:
            return self
        kept = [place for place, row in enumerate(self.rows) if row not in failures]
        rows = [self.rows[place] for place in kept]
        return Batch(rows, self.features[kept], self.failures | failures)


def extract_batches(
    extractor: Extractor,
    sources: Sequence[Any] | NDArray[np.uint8],
    batches: Iterable[Sequence[int]],
    limits: Limits | None = None,
    also: Also | None = None,
) -> Iterator[Batch]:
    """Features of the pictures in the given rows, batch by batch, in order.

    A picture that can not be read is reported in its batch and stops nothing. `also` gets each
    other one, so that nobody has to decode it again.
    """
    limits = limits or Limits()

    def work(rows: Sequence[int]) -> Batch:
        prepared, kept, failures = [], [], {}
        for row in rows:
            try:
                image = decode(sources[row], limits, extractor.side)
                prepared.append(extractor.prepare(image))
            except PictureError as error:
                failures[row] = str(error)
            else:
                kept.append(row)
                if also is not None:
                    also(row, image)
        if not prepared:
            return Batch([], np.empty((0, extractor.dimension), dtype=np.float32), failures)
        features = extractor.run(np.stack(prepared))
        if features.shape != (len(kept), extractor.dimension):
            raise ValueError(
                f"{extractor.name} gives features of shape {features.shape} instead of "
                f"{len(kept), extractor.dimension}"
            )
        batch = Batch(kept, features, failures)
        return batch.without(_without_features(batch, sources))

    return map_blocks(work, batches)


def _without_features(batch: Batch, sources: Sequence[Any] | NDArray[np.uint8]) -> dict[int, str]:
    """Rows whose features are not finite, each with a message."""
    strange = [batch.rows[place] for place in np.flatnonzero(~np.isfinite(batch.features).all(1))]
    names = {row: "" if isinstance(sources, np.ndarray) else f"{sources[row]}: " for row in strange}
    return {row: f"{name}the network gives no finite numbers" for row, name in names.items()}


def slices(n: int, size: int) -> Iterator[range]:
    """Ranges of the numbers 0 to n − 1, `size` numbers each."""
    return (range(start, min(start + size, n)) for start in range(0, n, size))


def extract(
    extractor: Extractor, sources: Sequence[Any] | NDArray[np.uint8], limits: Limits | None = None
) -> NDArray[np.float32]:
    """Features of all pictures; `PictureError` at the first that can not be read."""
    features = np.empty((len(sources), extractor.dimension), dtype=np.float32)
    batches = slices(len(sources), extractor.batch_size)
    for batch in extract_batches(extractor, sources, batches, limits):
        if batch.failures:
            raise PictureError(next(iter(batch.failures.values())))
        features[batch.rows] = batch.features
    return features
