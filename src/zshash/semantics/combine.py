"""Several sources of vectors as one."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from zshash.semantics.names import Source, UnknownNames, as_names

__all__ = ["combine"]


def combine(*sources: Source) -> Source:
    """Put the vectors of several sources side by side.

    Divided by the root of the number of sources, they have unit length again, and the cosine
    of two names is the mean of their cosines in the sources.

    Parameters
    ----------
    *sources : Source
        For example a `WordNet` and a `WordVectors`.

    Returns
    -------
    Source
        Its dimension is the sum of theirs; it knows the names that all of them know.

    Examples
    --------
    >>> from zshash.semantics import WordNet, WordVectors
    >>> both = combine(WordNet(), WordVectors(["cat", "dog"], [[1, 0], [0, 1]]))
    >>> both.embed(["cat", "dog"]).shape
    (2, 514)
    >>> both.embed(["truck"])
    Traceback (most recent call last):
    zshash.semantics.names.UnknownNames: WordVectors does not know 'truck'
    """
    if not sources:
        raise ValueError("combine needs at least one source")
    for source in sources:
        if not isinstance(source, Source):
            raise TypeError(f"{source!r} is not a source of vectors: it has no `embed`")
    return _Combined(sources)


class _Combined:
    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = tuple(sources)

    def __repr__(self) -> str:
        return f"combine({', '.join(map(repr, self.sources))})"

    @property
    def dimension(self) -> int:
        return sum(source.dimension for source in self.sources)

    def embed(self, names: Iterable[str]) -> NDArray[np.float32]:
        names = as_names(names)
        vectors: list[NDArray[np.float32]] = []
        misses: dict[str, Mapping[str, Sequence[str]]] = {}
        for i, source in enumerate(self.sources):
            try:
                vectors.append(source.embed(names))
            except UnknownNames as error:
                for label, near in error.misses.items():
                    twin = self._has_twin(source) or label in misses
                    misses[f"{label} (source {i + 1})" if twin else label] = near
        if misses:
            raise UnknownNames(misses)
        return np.hstack(vectors) / np.float32(math.sqrt(len(self.sources)))

    def _has_twin(self, source: Source) -> bool:
        return sum(type(other) is type(source) for other in self.sources) > 1
