"""Label sources by name, as they are written on a command line."""

from collections.abc import Sequence
from pathlib import Path

from zshash.semantics.combine import combine
from zshash.semantics.names import Source
from zshash.semantics.vectors import WordVectors
from zshash.semantics.wordnet import WordNet

__all__ = ["open_source"]


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
