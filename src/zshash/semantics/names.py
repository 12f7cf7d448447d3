"""Names of categories: how they are spelled, looked up and reported when unknown.

A name may be a list of synonyms ("goldfish, Carassius auratus"). Every source of vectors tries
the forms of a name in the same order, and all synonyms with one rule before the next rule:

1. `exact_forms`: the name itself, then without regard to hyphens and accents;
2. `singular_forms`: its singular forms, irregular ones first;
3. `head_forms`: its head noun, "red garbage lorry" → "lorry", "bottle of milk" → "bottle".
"""

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Source", "UnknownNames", "average_similarity"]

# plural and singular endings in the order of WordNet's morphy
SUFFIXES = (
    ("s", ""),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
)
MAX_SUGGESTED = 20
FEW = 5000  # up to this size, every word of a vocabulary is compared
Irregular = Callable[[str], Sequence[str]]


@runtime_checkable
class Source(Protocol):
    """Something that turns names into vectors."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def embed(self, names: Iterable[str]) -> NDArray[np.float32]:
        """Vectors of the names, (n, dimension), of unit length; raises `UnknownNames`."""


class UnknownNames(ValueError):  # noqa: N818, the names are the error
    """Error that lists all names of one call that a source does not know.

    Parameters
    ----------
    misses : mapping of source to mapping of name to near misses
        For each source, the names it does not know, each with known names that look alike.

    Attributes
    ----------
    names : tuple of str
        The unknown names, each once.
    suggestions : dict of str to tuple of str
        Known names that look like each unknown name; a tuple may be empty.
    misses : mapping
        As given.

    Examples
    --------
    >>> raise UnknownNames({"WordNet": {"segwya": ["Segway"], "qqq": []}})
    Traceback (most recent call last):
    zshash.semantics.names.UnknownNames: WordNet does not know 2 names: 'segwya' (did you mean
    'Segway'?), 'qqq'
    """

    def __init__(self, misses: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        super().__init__(misses)
        self.misses = misses
        self.suggestions: dict[str, tuple[str, ...]] = {}
        for near in misses.values():
            for name, words in near.items():
                known = self.suggestions.get(name, ())
                self.suggestions[name] = tuple(dict.fromkeys((*known, *words)))
        self.names = tuple(self.suggestions)

    def __str__(self) -> str:
        return "; ".join(_sentence(source, near) for source, near in self.misses.items())


def _sentence(source: str, near: Mapping[str, Sequence[str]]) -> str:
    count = "" if len(near) == 1 else f" {len(near)} names:"
    return f"{source} does not know{count} " + ", ".join(
        f"{name!r} (did you mean {' or '.join(map(repr, words))}?)" if words else repr(name)
        for name, words in near.items()
    )


def as_names(names: Iterable[object]) -> list[str]:
    """Check that `names` is a list of strings that are not empty.

    >>> as_names(["cat", " "])
    Traceback (most recent call last):
    ValueError: name 1 is empty: ' '
    """
    if isinstance(names, str):
        raise TypeError(f"expected a list of names, not the single string {names!r}")
    checked = list(names)
    for i, name in enumerate(checked):
        if not isinstance(name, str):
            raise TypeError(f"name {i} is not a string but {type(name).__name__}: {name!r}")
        if not synonyms(name):
            raise ValueError(f"name {i} is empty: {str(name)!r}")
    return [str(name) for name in checked]  # plain strings, also from an array of names


def synonyms(name: str) -> list[str]:
    """Split a comma-separated name into its parts, without remarks in brackets.

    >>> synonyms("goldfish, Carassius auratus")
    ['goldfish', 'Carassius auratus']
    >>> synonyms("crane (the bird)")
    ['crane']
    """
    bare = re.sub(r"\([^()]*\)", " ", name)
    return [part for part in map(str.strip, bare.split(",")) if normalise(part)]


def spell(name: str) -> str:
    """Name in lower case with single spaces; hyphens stay.

    >>> spell(" Tabby_cat"), spell("Golf-Club")
    ('tabby cat', 'golf-club')
    """
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name).replace("\u2019", "'")
    return " ".join(name.lower().replace("_", " ").split())


def normalise(name: str) -> str:
    """Reduce a name to one form for all its spellings: no case, hyphens or accents.

    >>> normalise("Tabby cat") == normalise("tabby_cat") == normalise(" tabby  - cat ")
    True
    >>> normalise("piñata")
    'pinata'
    """
    name = spell(name)
    if not name.isascii():
        letters = unicodedata.normalize("NFKD", name)
        name = "".join(letter for letter in letters if not unicodedata.combining(letter))
        name = re.sub("[\u2010-\u2015]", "-", name)
    return " ".join(name.replace("-", " ").split())


def exact_forms(name: str) -> Iterator[str]:
    """Yield the name as spelled, then its normal form (`normalise`)."""
    yield from dict.fromkeys((spell(name), normalise(name)))


def singular_forms(name: str, irregular: Irregular) -> Iterator[str]:
    """Yield possible singulars of a plural; they need not be real words.

    >>> list(singular_forms("garbage lorries", lambda word: ()))
    ['garbage lorrie', 'garbage lorry']
    >>> list(singular_forms("bottles of milk", lambda word: ()))
    ['bottle of milk']
    """
    words = normalise(name).split()
    yield from irregular(" ".join(words))
    places = [len(words) - 1]
    if "of" in words[1:-1]:
        places.insert(0, words.index("of", 1) - 1)
    for i in places:
        for singular in _singulars(words[i], irregular):
            yield " ".join([*words[:i], singular, *words[i + 1 :]])


def _singulars(word: str, irregular: Irregular) -> Iterator[str]:
    yield from irregular(word)
    if len(word) > 2 and not word.endswith("ss"):
        for plural, singular in SUFFIXES:
            if word.endswith(plural):
                yield word.removesuffix(plural) + singular


def head_forms(name: str, irregular: Irregular) -> Iterator[str]:
    """Yield shorter forms of a name of several words, longest first, each with its singulars.

    Leading words are dropped one at a time; in "X of Y" the head noun is in X.

    >>> list(head_forms("red garbage lorry", lambda word: ()))
    ['garbage lorry', 'lorry']
    >>> list(head_forms("full bottle of milk", lambda word: ()))
    ['bottle of milk', 'full bottle', 'bottle']
    """
    words = normalise(name).split()
    end = words.index("of", 1) if "of" in words[1:-1] else len(words)
    tails = [words[i:] for i in range(1, end)]
    if end < len(words):
        tails += [words[i:end] for i in range(end)]
    for tail in tails:
        # a trailing number or letter ("class 7") is no head noun
        if len(tail[-1]) > 1 and not tail[-1].isdigit():
            yield " ".join(tail)
            yield from singular_forms(" ".join(tail), irregular)


def near_misses(name: str, vocabulary: Iterable[str], n: int = 3) -> list[str]:
    """Words of the vocabulary that look like the name, best first.

    A comparison costs microseconds, and there may be 100,000 words. So in a large vocabulary only
    words of about the same length are compared that begin or end like the name, or have the same
    letters.

    >>> near_misses("segwya", ["segway", "segue", "sedan"])
    ['segway']
    """
    name = spell(name.split(",")[0])
    size, letters = len(name), sorted(name)
    start, end = name[:2], name[max(1, size - 3) :]
    vocabulary = list(vocabulary)
    if len(vocabulary) > FEW:
        vocabulary = [
            word
            for word in vocabulary
            if abs(len(word) - size) <= 2
            and (word.startswith(start) or word.endswith(end) or sorted(word) == letters)
        ]
    # letters in another order count as the nearest miss
    swapped = [word for word in vocabulary if sorted(word) == letters]
    close = difflib.get_close_matches(name, vocabulary, n=n, cutoff=0.6)
    return list(dict.fromkeys((*swapped, *close)))[:n]


def suggest(unknown: Iterable[str], vocabulary: Iterable[str]) -> dict[str, Sequence[str]]:
    """Near misses of unknown names, for the first twenty only, as each search takes a while."""
    unknown, vocabulary = dict.fromkeys(unknown), list(vocabulary)
    return {
        name: near_misses(name, vocabulary) if i < MAX_SUGGESTED else ()
        for i, name in enumerate(unknown)
    }


def unit(vectors: ArrayLike, names: Sequence[str] | None = None) -> NDArray[np.float32]:
    """Scale rows to length one; a row of zeros is an error, and the message names the row.

    >>> unit([[3, 4]])
    array([[0.6, 0.8]], dtype=float32)
    """
    return _directions(vectors, names).astype(np.float32)


def _directions(vectors: ArrayLike, names: Sequence[str] | None = None) -> NDArray[np.float64]:
    exact: NDArray[np.float64] = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    empty = np.flatnonzero(lengths[:, 0] == 0).tolist()
    if empty:
        zeros = ", ".join(repr(names[i]) if names else f"row {i}" for i in empty)
        raise ValueError(f"the vector of {zeros} is zero, so it has no direction")
    directions: NDArray[np.float64] = exact / lengths
    return directions


def average_similarity(vectors: ArrayLike) -> NDArray[np.float64]:
    """Mean cosine of each row to the other rows.

    A category that is far from all others on average is hard to reach from them.

    >>> average_similarity([[1, 0], [0, 1], [0, 2]])
    array([0. , 0.5, 0.5])
    """
    if np.ndim(vectors) != 2 or len(np.asarray(vectors)) < 2:
        raise ValueError("average similarity needs a matrix of at least two rows")
    rows = _directions(vectors)
    # a row's cosine to itself is one
    mean: NDArray[np.float64] = (rows @ rows.sum(axis=0) - 1) / (len(rows) - 1)
    return mean
