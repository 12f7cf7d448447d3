"""Names with a word that begins as what somebody types: labels, what the network knows, WordNet."""

from bisect import bisect_left
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from zshash.collection import Collection
from zshash.semantics.names import normalise
from zshash.semantics.nouns import nouns
from zshash.web.about import plain_names

__all__ = ["Completing"]

MOST_FOUND = 2000  # of the names that begin with a letter or two


class Named(NamedTuple):
    """A name, under its spelling in lower case, or under the end of it from a later word on."""

    spelling: str
    kind: int  # 0 for labels, 1 for what the network knows, 2 for other nouns of WordNet
    n: int  # items with this label, negative
    name: str
    text: str
    is_end: bool = False

    def told(self) -> dict[str, Any]:
        """The name as clients get it."""
        n = -self.n if self.kind == 0 else None
        return {"name": self.name, "text": self.text, "known": self.kind < 2, "items": n}


class Completing:
    """Names of one collection, sorted once for each state of it.

    Parameters
    ----------
    collection : Collection
    """

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._own: tuple[Any, list[Named]] = (None, [])

    def names(self, begins: str, limit: int) -> dict[str, Any]:
        """The `limit` best names of which a word begins so, ready for JSON.

        Of nouns that neither a label nor the network has, the first word must begin so.
        """
        start = normalise(begins)
        found = _beginning(self._names(), start)
        if self._collection.knows_names:
            found += _beginning(_of_wordnet(), start)
        found.sort(key=lambda own: (own.kind, own.is_end, own.n, len(own.text), own.spelling))
        best: dict[str, Named] = {}
        for own in found:
            best.setdefault(own.text.lower(), own)
        return {"names": [own.told() for own in list(best.values())[:limit]]}

    def _names(self) -> list[Named]:
        """Labels, and what the network knows, under each of their words, sorted."""
        model = self._collection.model
        state = model.checksum, self._collection.generation
        if self._own[0] != state:
            labels = self._collection.labels()
            labels.pop("", None)
            known = () if model.knowledge is None else model.knowledge.names
            meant = plain_names([*labels, *known])
            names = [_named(label, meant, 0, -n) for label, n in labels.items()]
            names += [_named(name, meant, 1, 0) for name in known]
            self._own = state, sorted([*names, *(end for own in names for end in _ends(own))])
        return self._own[1]


def _named(name: str, meant: dict[str, str], kind: int, n: int) -> Named:
    text = meant.get(name, name)
    return Named(normalise(text), kind, n, name, text)


def _ends(own: Named) -> list[Named]:
    """A name under each of its later words.

    >>> name = Named("acoustic guitar", 1, 0, "acoustic guitar", "acoustic guitar")
    >>> [end.spelling for end in _ends(name)]
    ['guitar']
    """
    words = own.spelling.split()
    ends = (" ".join(words[i:]) for i in range(1, len(words)))
    return [own._replace(spelling=end, is_end=True) for end in ends]


def _beginning(names: list[Named], start: str) -> list[Named]:
    """Those of some sorted names that begin so, without looking at the others."""
    first = bisect_left(names, (start,))
    found = []
    for own in names[first : first + MOST_FOUND]:
        if not own.spelling.startswith(start):
            break
        found.append(own)
    return found


@cache
def _of_wordnet() -> list[Named]:
    """All nouns of WordNet, sorted."""
    return sorted(_nouns(nouns().lemmas))


def _nouns(lemmas: Iterable[str]) -> Iterable[Named]:
    return (Named(lemma, 2, 0, lemma, lemma) for lemma in lemmas)
