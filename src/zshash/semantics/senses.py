"""Senses of a written name: which nouns of WordNet it may mean, and words to tell them apart.

A name with several senses can be made exact with a remark in brackets, "crane (bird)", with a
key, "crane.n.05", or with the id of a synset, "n02012849". A remark is read in five ways, and the
first way that fits a sense decides. The remark names

1. the sense itself or an ancestor: "crane (bird)";
2. a descendant: "crane (derrick)", "crane (whooping crane)";
3. one of the words in the names of the sense, of an ancestor or of a descendant:
   "mouse (computer)", as one sense has the synonym "computer mouse";
4. something close to the sense, a child of one of its ancestors: "crane (machine)", as machines
   and lifting devices are devices;
5. nothing that has to do with a sense: all senses remain.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from zshash.semantics.names import normalise, spell
from zshash.semantics.nouns import nouns

__all__ = ["Sense", "senses", "synset_row"]

ID = re.compile(r"n[0-9]{8}")
KEY = re.compile(r"(.+)\.n\.([0-9]{1,3})")
REMARK = re.compile(r"\(([^()]*)\)")


class Sense(NamedTuple):
    """One sense of a name.

    Attributes
    ----------
    synset : str
        Id of the synset.
    key : str
        Lemma, "n" and the number of the sense among all senses of the lemma, as NLTK writes it.
    name : str
        The lemma that was asked for; for an id, the first lemma of the synset.
    remark : str
        Words that tell the sense from the other senses of the lemma; empty if there are no others.

    Examples
    --------
    >>> senses("Cranes")[4]
    Sense(synset='n02012849', key='crane.n.05', name='crane', remark='wading bird')
    """

    synset: str
    key: str
    name: str
    remark: str

    @property
    def text(self) -> str:
        """Name with its remark in brackets; `senses` reads it as this sense.

        >>> senses("n02012849")[0].text, senses("tabby cat")[0].text
        ('crane (wading bird)', 'tabby cat')
        """
        return f"{self.name} ({self.remark})" if self.remark else self.name


def senses(name: str) -> list[Sense]:
    """Every sense that a written name may mean, most frequent first.

    Parameters
    ----------
    name : str
        A noun in any spelling, several synonyms with commas between them, an id or a key. Remarks
        in brackets narrow the senses.

    Returns
    -------
    list of Sense
        Empty if WordNet does not know the name. Senses that most synonyms share come first.

    Examples
    --------
    >>> [sense.text for sense in senses("crane")]
    ['crane (writer)', 'crane (poet)', 'crane (constellation)', 'crane (lifting device)',
     'crane (wading bird)']
    >>> [sense.key for sense in senses("crane (bird)")]
    ['crane.n.05']
    >>> senses("crane.n.05") == senses("crane (bird)")
    True
    >>> senses("qqqq")
    []
    """
    bare = REMARK.sub(" ", name)
    if _is_code(bare):
        return _coded(bare)
    found = nouns().meanings(name)
    for remark in REMARK.findall(name) if len(found) > 1 else ():
        found = _narrow(found, spell(remark))
    return [_sense(lemma, row, lemma) for lemma, row in found]


def synset_row(code: str) -> int | None:
    """Row of an id or of a key; None if there is no such synset, or for any other text.

    >>> nouns().names[synset_row("lolly.n.02")]
    'ice lolly'
    >>> synset_row("lolly"), synset_row("lolly.n.99")
    (None, None)
    """
    return next((row for _, row in _decode(spell(code))), None)


def _is_code(text: str) -> bool:
    return any(pattern.fullmatch(spell(text)) for pattern in (ID, KEY))


def _decode(code: str) -> list[tuple[str, int]]:
    """Lemma and row of an id or of a key, alone in a list; an empty list if there is none."""
    if ID.fullmatch(code):
        row = nouns().row(code)
        return [] if row is None else [(spell(nouns().names[row]), row)]
    key = KEY.fullmatch(code)
    if key is None or key[1] not in nouns().lemmas:
        return []
    number = int(key[2])
    return nouns().meanings(key[1])[number - 1 : number] if number else []


def _coded(code: str) -> list[Sense]:
    code = spell(code)
    return [
        _sense(lemma, row, nouns().names[row] if ID.fullmatch(code) else lemma)
        for lemma, row in _decode(code)
    ]


def _sense(lemma: str, row: int, name: str) -> Sense:
    number = nouns().senses(lemma).index(row) + 1
    key = f"{lemma.replace(' ', '_')}.n.{number:02d}"
    return Sense(f"n{nouns().offsets[row]:08d}", key, name, _remarks(lemma)[row])


@lru_cache(4096)
def _remarks(lemma: str) -> dict[int, str]:
    """Remark of every sense of a lemma, by row: its nearest ancestor if no other sense has it."""
    rows = nouns().senses(lemma)
    if len(rows) == 1:
        return {rows[0]: ""}
    above = {row: _other_names(lemma, [nouns().names[i] for i in _line(row)[1:]]) for row in rows}
    nearest = Counter(names[0] for names in above.values() if names)
    remarks = {row: names[0] for row, names in above.items() if names and nearest[names[0]] == 1}
    for row in rows:
        if row not in remarks:
            free = (word for word in _choices(lemma, row, above) if word not in remarks.values())
            remarks[row] = next(free, next(iter(above[row]), ""))
    return remarks


def _choices(lemma: str, row: int, above: dict[int, list[str]]) -> Iterator[str]:
    """Words for a sense whose nearest ancestor is also that of another sense, best first."""
    others = {name for i, names in above.items() if i != row for name in names}
    yield from (name for name in above[row] if name not in others)
    yield from _other_names(lemma, nouns().lemmas_of(row))
    yield from above[row]


def _other_names(lemma: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if normalise(name) != normalise(lemma)]


@lru_cache(4096)
def _line(row: int) -> tuple[int, ...]:
    """Row and all its ancestors, nearest first."""
    return (row, *nouns().above(row))


def _narrow(found: list[tuple[str, int]], remark: str) -> list[tuple[str, int]]:
    """Senses that a remark fits, those that show exactly this remark first; all if it fits none."""
    rows = [row for _, row in found]
    for choose in (_named, _narrower, _worded, _beside):
        kept = choose(rows, remark)
        if kept:
            fitting = [(lemma, row) for lemma, row in found if row in kept]
            return sorted(fitting, key=lambda pair: spell(_remarks(pair[0])[pair[1]]) != remark)
    return found


def _targets(remark: str) -> set[int]:
    """Rows that a remark may mean."""
    return {row for _, row in (_decode(remark) or nouns().meanings(remark))}


def _named(rows: Iterable[int], remark: str) -> set[int]:
    """Rows that the remark names, or of which it names an ancestor."""
    targets = _targets(remark)
    return {row for row in rows if not targets.isdisjoint(_line(row))}


def _narrower(rows: Iterable[int], remark: str) -> set[int]:
    """Rows of which the remark names a descendant."""
    return {i for target in _targets(remark) for i in _line(target)}.intersection(rows)


def _worded(rows: Iterable[int], remark: str) -> set[int]:
    """Rows with all words of a form of the remark in the names above and below them."""
    forms = (form.split() for form in nouns().forms(remark))
    known = [words for words in forms if all(word in _compounds() for word in words)]
    return {row for row in rows if any(all(_has(row, word) for word in words) for words in known)}


def _has(row: int, word: str) -> bool:
    here, above = _rows_with(word)
    return row in above or not here.isdisjoint(_line(row))


@lru_cache(1024)
def _rows_with(word: str) -> tuple[frozenset[int], frozenset[int]]:
    """Rows with a word in one of their names, and the ancestors of these rows."""
    here = {row for lemma in _compounds()[word] for row in nouns().senses(lemma)}
    return frozenset(here), frozenset(i for row in here for i in nouns().above(row))


@cache
def _compounds() -> dict[str, list[str]]:
    """Lemmas of several words, by each of their words."""
    found: dict[str, list[str]] = {}
    for lemma in nouns().lemmas:
        words = lemma.replace("-", " ").split()
        for word in words if len(words) > 1 else ():
            found.setdefault(word, []).append(lemma)
    return found


def _beside(rows: Iterable[int], remark: str) -> set[int]:
    """Rows that share the most specific parent with the remark, if not only the root."""
    parents = {parent for target in _targets(remark) for parent in nouns().parents(target)}
    shared = {
        row: max((nouns().weights[i] for i in parents.intersection(_line(row))), default=0)
        for row in rows
    }
    most = max(shared.values(), default=0)
    return {row for row, weight in shared.items() if weight == most > 0}
