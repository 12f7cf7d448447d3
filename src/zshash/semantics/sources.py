"""Sources of vectors: opened by name, and several side by side as one."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash.semantics.names import Source, UnknownNames, as_names
from zshash.semantics.vectors import WordVectors
from zshash.semantics.wordnet import WordNet

__all__ = ["combine", "open_source"]


def open_source(
    specs: str | Sequence[str],
    *,
    seen: Sequence[str] | None = None,
    only: Sequence[str] | None = None,
) -> Source:
    """Open "wordnet", a file of word vectors, or several of them side by side.

    Parameters
    ----------
    specs : str or list of str
        "wordnet", or the path of a file that `WordVectors.load` reads.
    seen : list of str, optional
        Names of the seen categories, which WordNet then takes as its basis.
    only : list of str, optional
        Read no more of a file than these names need.

    Examples
    --------
    >>> len(open_source("wordnet", seen=["cat", "truck"]).embed(["dog"]))
    1
    """
    specs = [specs] if isinstance(specs, str) else list(specs)
    if not specs:
        raise ValueError("no label source: say wordnet, or name a file of word vectors")
    missing = [spec for spec in specs if spec != "wordnet" and not Path(spec).is_file()]
    if missing:
        raise FileNotFoundError(
            f"no label source {', '.join(map(repr, missing))}: "
            "there is no such file; say wordnet, onehot, or name a file of word vectors"
        )
    sources = [
        WordNet(basis=seen) if spec == "wordnet" else WordVectors.load(spec, only=only)
        for spec in specs
    ]
    return sources[0] if len(sources) == 1 else combine(*sources)


def combine(*sources: Source) -> Source:
    """Put the vectors of several sources side by side.

    The vectors are divided by the square root of the number of sources, so they have unit length
    again, and the cosine of two names is the mean of their cosines in the sources.

    Parameters
    ----------
    *sources : Source
        For example a `WordNet` and a `WordVectors`.

    Returns
    -------
    Source
        Its dimension is the sum of the sources' dimensions; it knows the names that all sources
        know.

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
