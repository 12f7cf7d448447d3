"""What labels mean: which noun of WordNet each label is, and what to tell a person about it.

The first of these that is there decides: an alias, which a person gave; the WordNet id that comes
with the data; the senses of the label, those that a network knows by sight first. A label that
nobody knows, such as *Bella* or *東京*, means nothing but itself, and so does a number.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from zshash._warnings import listed
from zshash.learning.aliases import AliasError, aliases_of
from zshash.semantics.known import Known
from zshash.semantics.names import exact_forms, near_misses, normalise, singular_forms, synonyms
from zshash.semantics.nouns import nouns
from zshash.semantics.senses import Sense, senses, synset_row

__all__ = ["Meant", "describe", "has_letters", "in_words", "meanings"]

ID_REMARK = re.compile(r"\((n[0-9]{8})\)")
SHORTEST = 3  # letters of a label that is left of another one without its numbers
PHYSICAL, GROUP, INTEGER = "n00001930", "n00031264", "n13728499"


class Meant(NamedTuple):
    """What a label means.

    Attributes
    ----------
    label : str
    synset : str
        WordNet id, or "" if nobody knows the label: it gets a vector of its own.
    text : str
        The meaning in words, such as "crane (wading bird)"; "" if nobody knows the label.
    alias : str
        What a person says that the label means; "" without an alias.
    is_plain : bool
        Whether there is nothing to tell about it: the label has one likely meaning, or a person
        or the data gave it.
    """

    label: str
    synset: str
    text: str
    alias: str = ""
    is_plain: bool = True

    @property
    def word(self) -> str:
        """The word to look up in a file of word vectors.

        >>> Meant("Rex", "n02084071", "dog", alias="dog.n.01").word
        'dog'
        """
        row = synset_row(self.alias)
        return self.alias or self.label if row is None else nouns().names[row]


def meanings(
    names: Sequence[str],
    synsets: Sequence[str] = (),
    aliases: Mapping[str, str] | None = None,
    known: Iterable[str] | Known = (),
    *,
    strict: bool = True,
) -> list[Meant]:
    """What labels mean.

    Parameters
    ----------
    names : list of str
        The labels.
    synsets : list of str
        WordNet ids of the labels where the data has them; "" stands for a label without one.
    aliases : mapping of str to str, optional
        Meanings by label: names, also exact ones such as "crane (bird)", keys or ids.
    known : iterable of str
        WordNet ids of the categories that a network was trained to tell apart. Senses at or above
        one of them are taken first.
    strict : bool
        Whether an alias that WordNet does not know is an error; else nobody knows its label.

    Raises
    ------
    AliasError
        If WordNet does not know an alias, and `strict`.

    Warns
    -----
    MeaningWarning
        If there is no label for an alias.

    Examples
    --------
    >>> crane, rex, number = meanings(["crane", "Rex", "7"], aliases={"Rex": "dog"})
    >>> crane.text, rex.text, rex.synset, number.synset
    ('Crane (writer)', 'dog (domestic animal)', 'n02084071', '')
    >>> meanings(["crane"], known=["n02012849"])[0].text
    'crane (wading bird)'
    """
    known = known if isinstance(known, Known) else Known(known)
    own = aliases_of(names, aliases)
    ids = synsets or [""] * len(names)
    return [
        _by_alias(name, alias, known, strict)
        if alias
        else _by_id(name, id_) or _by_name(name, known)
        for name, alias, id_ in zip(names, own, ids, strict=True)
    ]


def _by_alias(label: str, alias: str, known: Known, strict: bool) -> Meant:
    found = known.order(senses(alias))
    if not found and not strict:
        return Meant(label, "", "", alias, is_plain=False)
    if not found:
        near = near_misses(alias, nouns().lemmas)
        hint = f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
        raise AliasError(f"WordNet does not know {alias!r}, the alias of {label!r}{hint}")
    return Meant(label, found[0].synset, in_words(found[0]), alias)


def _by_id(label: str, synset: str) -> Meant | None:
    """Meaning of a label whose id comes with the data or is written behind its name."""
    remark = ID_REMARK.search(label)
    ids = (synset, remark[1] if remark else "")
    sense = next((sense for text in ids if text for sense in senses(text)), None)
    return None if sense is None else Meant(label, sense.synset, sense.text)


def _by_name(label: str, known: Known) -> Meant:
    found = _senses(label)
    if not found:
        return Meant(label, "", "", is_plain=False)
    sense = known.order(found)[0]
    is_plain = synset_row(label) is not None or _is_plain(label, sense, found, known)
    return Meant(label, sense.synset, in_words(sense), is_plain=is_plain)


def has_letters(label: str) -> bool:
    """Whether a label has letters; one without them is a number, a date or a mark.

    >>> has_letters("2021-08-14"), has_letters("7th"), has_letters("東京")
    (False, True, True)
    """
    return any(map(str.isalpha, label))


def _senses(label: str) -> list[Sense]:
    """Senses of a label; if it has none, of the label without its numbers: "Italy 2021".

    >>> _senses("7"), _senses("Italy 2021")[0].name
    ([], 'italy')
    """
    words = [word for word in label.replace("_", " ").split() if has_letters(word)]
    text = " ".join(words)
    if not text:
        return []
    return senses(label) or (senses(text) if len(text) >= SHORTEST else [])


def in_words(sense: Sense) -> str:
    """Words for a sense; a lemma with one sense is shown by the first name of its synset.

    >>> [in_words(senses(name)[0]) for name in ("crane (bird)", "paris", "Rex")]
    ['crane (wading bird)', 'Paris (national capital)', 'king (sovereign)']
    """
    first = _first_name(sense)
    if normalise(sense.name) == normalise(first):
        return sense._replace(name=first).text
    return sense.text if sense.remark else senses(sense.synset)[0].text


def _first_name(sense: Sense) -> str:
    return nouns().names[_row(sense)]


def _row(sense: Sense) -> int:
    row = nouns().row(sense.synset)
    assert row is not None
    return row


def _is_plain(label: str, sense: Sense, found: Sequence[Sense], known: Known) -> bool:
    """Whether it goes without saying that a label means this sense, out of all its senses."""
    if not _is_itself(label, sense.name):
        return False
    # Rex is also a king, and Max a drug: a word with a capital may be the name of someone
    may_be_someone = label.isalpha() and label.istitle()
    if may_be_someone and not _is_itself(label, _first_name(sense)):
        return False
    if len(found) == 1:
        return True
    return sense == found[0] and not _is_someone(sense) and not _has_rival(sense, found, known)


def _is_itself(label: str, name: str) -> bool:
    """Whether a label is this name, or its plural, and not only a phrase that ends with it."""
    forms = (
        form
        for part in synonyms(label)
        for form in (*exact_forms(part), *singular_forms(part, nouns().irregular))
    )
    return normalise(name) in map(normalise, forms)


def _is_someone(sense: Sense) -> bool:
    """Whether a sense is a single person, place or thing: crane.n.01 is Stephen Crane."""
    return _first_name(sense)[0].isupper()


def _has_rival(sense: Sense, found: Sequence[Sense], known: Known) -> bool:
    """Whether a sense can not be seen, and another one can: spring is a season, and a coil."""
    if known.below(sense.synset) or _is_below(sense, PHYSICAL, GROUP):
        return False
    if any(_is_below(other, INTEGER) for other in found):  # nine is also a card
        return False
    return any(_is_below(other, PHYSICAL) for other in found)


def _is_below(sense: Sense, *synsets: str) -> bool:
    line = {_row(sense), *nouns().above(_row(sense))}
    return not line.isdisjoint(map(nouns().row, synsets))


def describe(meant: Sequence[Meant]) -> str:
    """A sentence on the labels whose meaning does not go without saying; "" if there are none.

    >>> describe(meanings(["crane", "dog", "Rex", "Bella", "東京"]))
    'crane was taken as Crane (writer) and Rex as king (sovereign); nobody knows Bella and 東京:
    each gets a vector of its own, so other names do not find it'
    """
    told = [own for own in meant if not own.is_plain]
    taken = [own for own in told if own.text]
    unknown = [own.label for own in told if not own.text]
    parts = [_on_taken(taken)] if taken else []
    if unknown:
        each = "each gets" if len(unknown) > 1 else "it gets"
        parts.append(
            f"nobody knows {listed(unknown)}: {each} a vector of its own, so other names do not "
            "find it"
        )
    return "; ".join(parts)


def _on_taken(taken: Sequence[Meant]) -> str:
    first, *others = taken
    rest = [f"{own.label} as {own.text}" for own in others]
    text = f"{first.label} was taken as {first.text}"
    return listed([text, *rest])
