"""The packaged nouns of WordNet 3.0: their hierarchy, and which synset a name means.

Synsets are numbered by row, in the order of their offsets; `WordNet` shows them to users as
ids such as ``n02123045``. ``tools/build_wordnet.py`` makes the file and describes its layout.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.semantics.names import (
    UnknownNames,
    exact_forms,
    head_forms,
    normalise,
    singular_forms,
    suggest,
    synonyms,
)

__all__ = ["Nouns", "nouns"]

FORMAT = 1
BATCH = 64  # starting points of one search, one bit of a 64-bit word for each


@cache
def nouns() -> "Nouns":
    """Load the packaged nouns, once per process."""
    path = files("zshash.semantics") / "data" / "nouns.npz"
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        return Nouns(dict(archive))


class Nouns:
    """Noun synsets by row; further tables are derived from them on first use.

    Parameters
    ----------
    arrays : dict of str to array
        The content of the packaged file.

    Attributes
    ----------
    offsets : (N,) array
        Offset of every synset, ascending.
    weights : (N,) array
        log(N / number of synsets at or below the synset): 0 for the root, most for a leaf.
    """

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        if arrays["format"] != FORMAT:
            raise RuntimeError(
                f"nouns.npz has format {arrays['format']}, this version reads {FORMAT}; "
                "run tools/build_wordnet.py or install the package again"
            )
        self._arrays = arrays
        self.offsets = arrays["offsets"].astype(np.int64)
        self.weights = np.log(len(self.offsets) / arrays["below"])

    def __len__(self) -> int:
        return len(self.offsets)

    def above(self, row: int) -> list[int]:
        """Rows of all ancestors of a row, nearest first.

        >>> [nouns().names[row] for row in nouns().above(nouns().row("physical entity"))]
        ['entity']
        """
        found, level = [row], [row]
        while level:
            higher = {parent for low in level for parent in self.parents(low)}
            level = sorted(higher.difference(found))
            found += level
        return found[1:]

    def parents(self, row: int) -> list[int]:
        """Rows of the direct hypernyms of a row."""
        first, last = self._arrays["hypernym_starts"][row:][:2]
        hypernyms: list[int] = self._arrays["hypernyms"][first:last].tolist()
        return hypernyms

    @cached_property
    def _edges(self) -> tuple["_Edges", "_Edges"]:
        """Edges from synsets up to their hypernyms, and the same edges downwards."""
        lower = np.repeat(np.arange(len(self)), np.diff(self._arrays["hypernym_starts"]))
        upper = self._arrays["hypernyms"]
        return _Edges(lower, upper), _Edges(upper, lower)

    def hops(
        self, sources: Sequence[int], targets: Sequence[int], any_path: bool
    ) -> NDArray[np.int64]:
        """Number of edges of the shortest paths between rows, (sources, targets).

        A path goes up to a common ancestor and then down, or any way with `any_path`.
        """
        if len(sources) > len(targets):  # the cost grows with the number of starting points
            return self.hops(targets, sources, any_path).T
        batches = [sources[i : i + BATCH] for i in range(0, len(sources), BATCH)]
        hops = [self._search(batch, targets, any_path) for batch in batches]
        return np.concatenate([np.zeros((0, len(targets)), np.int64), *hops])

    def _search(
        self, sources: Sequence[int], targets: Sequence[int], any_path: bool
    ) -> NDArray[np.int64]:
        """Search breadth first from up to 64 rows at once, with one bit of a 64-bit word for each.

        All nouns hang together below one root, so every target is reached in the end.
        """
        up, down = self._edges
        bits = np.uint64(1) << np.arange(len(sources), dtype=np.uint64)
        reached = np.zeros(len(self), np.uint64)
        np.bitwise_or.at(reached, sources, bits)
        # a path that went down may not go up again, unless any path is allowed
        climbing = reached if any_path else reached.copy()
        hops = np.zeros((len(sources), len(targets)), np.int64)
        while (missing := (reached[targets] & bits[:, None]) == 0).any():
            hops += missing
            above, below = up.follow(climbing), down.follow(reached)
            climbing |= above
            reached |= above | below
        return hops

    def _text(self, key: str) -> list[str]:
        return self._arrays[key].tobytes().decode().replace("_", " ").split("\n")

    @cached_property
    def names(self) -> list[str]:
        """First lemma of every row."""
        return self._text("names")

    @cached_property
    def _spellings(self) -> list[str]:
        """Every lemma by its number, in lower case."""
        return self._text("lemmas")

    @cached_property
    def lemmas(self) -> dict[str, int]:
        """Number of every lemma, also of its form without hyphens."""
        found = {lemma: number for number, lemma in enumerate(self._spellings)}
        # "golf club" and "golf-club" are two lemmas: a lemma of WordNet is never replaced
        for lemma in [lemma for lemma in found if "-" in lemma]:
            found.setdefault(normalise(lemma), found[lemma])
        return found

    def senses(self, lemma: str) -> list[int]:
        """Rows that a lemma may mean, the most frequent first."""
        first, last = self._arrays["sense_starts"][self.lemmas[lemma] :][:2]
        senses: list[int] = self._arrays["senses"][first:last].tolist()
        return senses

    @cached_property
    def _uses(self) -> "_Edges":
        """Edges from the numbers of lemmas to the rows that they may mean."""
        numbers = np.repeat(np.arange(len(self._spellings)), np.diff(self._arrays["sense_starts"]))
        return _Edges(numbers, self._arrays["senses"])

    def lemmas_of(self, row: int) -> list[str]:
        """All lemmas of a row, in lower case and alphabetical order.

        >>> nouns().lemmas_of(nouns().row("tabby cat"))
        ['tabby', 'tabby cat']
        """
        return [self._spellings[number] for number in self._uses.into(row)]

    @cached_property
    def _irregular(self) -> dict[str, list[str]]:
        plurals: dict[str, list[str]] = {}
        for line in self._arrays["irregular"].tobytes().decode().split("\n"):
            plural, *singulars = line.split()
            plurals.setdefault(normalise(plural), []).extend(map(normalise, singulars))
        return plurals

    def irregular(self, plural: str) -> list[str]:
        """Singulars of an irregular plural, none for any other word.

        >>> nouns().irregular("geese"), nouns().irregular("cats")
        (['goose'], [])
        """
        return self._irregular.get(plural, [])

    def row(self, name: str) -> int | None:
        """Row of a name: the sense its synonyms share, else its first sense; None if unknown."""
        if re.fullmatch(r"\s*[nN][0-9]{8}\s*", name):
            return self._row_of_offset(int(name.strip()[1:]))
        return next((row for _, row in self.meanings(name)), None)

    def meanings(self, name: str) -> list[tuple[str, int]]:
        """Every row that a written name may mean, with the lemma that says so; likely rows first.

        Rows that most synonyms share come first. Where no two synonyms share a row, the rows are
        those of the first form of the name that WordNet knows, the most frequent sense first.

        >>> [nouns().names[nouns().row(n)] for n in ("monarch", "monarch, milkweed butterfly")]
        ['sovereign', 'monarch']
        """
        forms = [form for part in synonyms(name) for form in self._first(exact_forms(part))]
        votes = Counter(row for form in forms for row in self.senses(form))
        if max(votes.values(), default=0) < 2:
            forms = self._first(self.forms(name))
        found: dict[int, str] = {}
        for form in forms:
            lemma = self._spellings[self.lemmas[form]]
            found |= {row: lemma for row in self.senses(form) if row not in found}
        return [(found[row], row) for row in sorted(found, key=lambda row: -votes[row])]

    def _first(self, forms: Iterator[str]) -> list[str]:
        """The first form that is a lemma, alone in a list; an empty list if none is."""
        return next(([form] for form in forms if form in self.lemmas), [])

    def _row_of_offset(self, offset: int) -> int | None:
        row = int(np.searchsorted(self.offsets, offset))
        return row if row < len(self) and self.offsets[row] == offset else None

    def forms(self, name: str) -> Iterator[str]:
        """Forms of a name in the order of look-up: exact, then singular, then head noun."""
        parts = synonyms(name)
        for part in parts:
            yield from exact_forms(part)
        for part in parts:
            yield from singular_forms(part, self.irregular)
        for part in parts:
            yield from head_forms(part, self.irregular)

    def rows(self, names: Sequence[str]) -> list[int]:
        """Rows of the names; `UnknownNames` lists all names that are unknown."""
        found = [self.row(name) for name in names]
        unknown = [name for name, row in zip(names, found, strict=True) if row is None]
        if unknown:
            raise UnknownNames({"WordNet": suggest(unknown, self.lemmas)})
        return [row for row in found if row is not None]


class _Edges:
    """Directed edges, grouped by the row where they end."""

    def __init__(self, tails: NDArray[np.int64], heads: NDArray[np.int64]) -> None:
        order = np.argsort(heads, kind="stable")
        self._tails = tails[order]
        self._heads, starts = np.unique(heads[order], return_index=True)
        self._bounds = np.append(starts, len(tails))

    def into(self, row: int) -> list[int]:
        """Rows with an edge to the given row, ascending."""
        first, last = self._bounds[np.searchsorted(self._heads, [row, row + 1])]
        tails: list[int] = self._tails[first:last].tolist()
        return tails

    def follow(self, reached: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """For every row, the bits of all rows that have an edge to it."""
        result = np.zeros_like(reached)
        result[self._heads] = np.bitwise_or.reduceat(reached[self._tails], self._bounds[:-1])
        return result
