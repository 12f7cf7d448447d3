"""Reading a name: which things it names, which sense is taken, and the query that finds them.

text → things in it (`semantics.phrases`) → senses, those known by sight first (`semantics.known`) →
directions (`knowledge`) → one real-valued query
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash.learning.knowledge import Direction, Knowledge
from zshash.learning.meanings import Meant, in_words, meanings
from zshash.learning.names import Forecast, Meaning, NamesError, NearName
from zshash.semantics.known import Known
from zshash.semantics.names import UnknownNames, normalise, singular_forms, suggest
from zshash.semantics.nouns import nouns
from zshash.semantics.phrases import read_phrase
from zshash.semantics.senses import Sense, senses, synset_row
from zshash.semantics.young import grown_up

__all__ = ["Reading", "Thing", "explain", "join", "joined", "likely_names", "read_name"]

LONGEST = 1000  # letters of a name
SHOWN = 10
PERSON = "n00007846"
CLOSE, FAR = 2 / 3, 1 / 3  # ranks of a name that is likely or unlikely to be found
EXPECTED = {
    "close": "Its best pictures stand out clearly from all others, so they should be right.",
    "usual": "Its best pictures stand out as usual, so some of them should be right.",
    "far": "Its best pictures hardly stand out from all others, so expect little.",
}
NEGATION = re.compile(r"\b(?:not|no|without|except|isn't|aren't)\b", re.IGNORECASE)
NOTHING = 1e-9  # length of a sum of directions that is left of those that cancel out

Embed = Callable[[str], NDArray[Any]]


class Thing(NamedTuple):
    """One thing that a name names.

    Attributes
    ----------
    name : str
        As it was written.
    sense : Sense or None
        The sense that was taken; None for a label that WordNet does not know.
    others : tuple of Sense
        Other senses of the name.
    direction : Direction
    labels : tuple of str
        Labels of items that are this thing, or a kind of it.
    """

    name: str
    sense: Sense | None
    others: tuple[Sense, ...]
    direction: Direction
    labels: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Name of the thing with the sense that was taken."""
        return self.name if self.sense is None else in_words(self.sense)


@dataclass(frozen=True, eq=False)
class Reading:
    """What was understood of a search by name.

    Attributes
    ----------
    text : str
        The name as it was written.
    things : tuple of Thing
    left_out : tuple of str
        Words that were not understood.
    values : ndarray of shape (n_bits,)
        The query, of unit length.
    nothing : bool
        Whether the best item is no more likely than for names of things that are not there.
    is_joint : bool
        Whether it was put together of several names, or of a picture and names.
    """

    text: str
    things: tuple[Thing, ...]
    left_out: tuple[str, ...]
    values: NDArray[np.float64]
    nothing: bool = False
    is_joint: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels whose items come first; of several things at once there are none."""
        return self.things[0].labels if self.is_plain else ()

    @property
    def is_plain(self) -> bool:
        """Whether one thing alone is searched for."""
        return len(self.things) == 1 and not self.is_joint

    def told(self) -> dict[str, Any]:
        """The reading, ready for JSON."""
        return {
            "text": self.text,
            "things": [_told(thing) for thing in self.things],
            "left_out": list(self.left_out),
            "labels": list(self.labels),
            "nothing": self.nothing,
        }


def _told(thing: Thing) -> dict[str, Any]:
    sense = thing.sense
    return {
        "name": thing.name,
        "sense": thing.text,
        "synset": None if sense is None else sense.synset,
        "key": None if sense is None else sense.key,
        "known": bool(thing.direction.categories),
        "others": [{"sense": other.text, "key": other.key} for other in thing.others],
    }


def read_name(
    knowledge: Knowledge, text: str, labels: Sequence[str] = (), embed: Embed | None = None
) -> Reading:
    """Read a name as a query.

    Parameters
    ----------
    knowledge : Knowledge
        What the model knows.
    text : str
        A name in any spelling, one of its senses ("crane (bird)", "crane.n.05", an id), a label,
        or a phrase such as "a dog on a beach".
    labels : list of str
        Labels of the items that are searched.
    embed : callable, optional
        Query for a text, of a network that reads texts itself.

    Raises
    ------
    UnknownNames
        If nobody knows anything that the text names.
    NamesError
        If the name is empty or too long, or has nothing in common with what is known.
    """
    if not normalise(text):
        raise NamesError("the name is empty: write what the pictures show")
    if len(text) > LONGEST:
        raise NamesError(f"a name of {len(text)} letters is too long: write at most {LONGEST}")
    if embed is None:
        return _read(knowledge, text, tuple(labels))
    values = join(knowledge, [(np.asarray(embed(text), dtype=np.float64), 1.0)])
    called = _labelled(knowledge, tuple(labels)).called(text)
    return Reading(text, (Thing(text, None, (), Direction(values, []), called),), (), values)


@lru_cache(maxsize=256)  # looking names up takes longer than a search
def _read(knowledge: Knowledge, text: str, labels: tuple[str, ...]) -> Reading:
    own = _labelled(knowledge, labels)
    found, left_out = ((text,), ()) if own.called(text) else _wanted(text, own)
    if not found:
        vocabulary = [*nouns().lemmas, *map(normalise, (*labels, *knowledge.names))]
        near = suggest([text], vocabulary)[text]
        raise UnknownNames({"WordNet": {text: [word for word in near if not _is_person(word)]}})
    things = tuple(_thing(knowledge, name, own) for name in found)
    parts = [(own, 1.0) for own in (thing.direction.values for thing in things) if own.any()]
    values = join(knowledge, parts) if parts else things[0].direction.values
    return Reading(text, things, left_out, values)


def _wanted(text: str, labels: "_Labels") -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Things that a phrase wants, and words that are left out, such as all behind a "not"."""
    negation = NEGATION.search(text)
    if negation is None:
        return read_phrase(text, labels.knows)
    found, left_out = read_phrase(text[: negation.start()], labels.knows)
    if not found:
        raise NamesError("say what to search for, not only what is not wanted")
    return found, (*left_out, text[negation.start() :].strip())


def join(knowledge: Knowledge, parts: Sequence[tuple[NDArray[Any], float]]) -> NDArray[np.float64]:
    """One query from several, of unit length: the weighted sum of their directions.

    The scores of every part spread equally far over the items, so that all parts count.
    """
    largest = max(abs(weight) for _, weight in parts)
    total = sum(weight / largest * values / knowledge.spread(values) for values, weight in parts)
    length = float(np.linalg.norm(total))
    if length < NOTHING:
        raise NamesError("the parts of the query cancel out: leave one of them out")
    return np.asarray(total / length)


def _is_person(word: str) -> bool:
    """Whether a word means people and nothing else; many of these words are rude.

    >>> _is_person("dago"), _is_person("dog")
    (True, False)
    """
    rows = [row for row in (synset_row(sense.synset) for sense in senses(word)) if row is not None]
    person = synset_row(PERSON)
    return bool(rows) and all(person in (row, *nouns().above(row)) for row in rows)


class _Labels:
    """Labels of items, by spelling and in WordNet's hierarchy."""

    def __init__(self, meant: Sequence[Meant]) -> None:
        self._labels = [own.label for own in meant]
        self._called: dict[str, list[Meant]] = {}
        for own in meant:
            self._called.setdefault(normalise(own.label), []).append(own)
        self.known = Known([own.synset for own in meant])

    def called(self, name: str) -> tuple[str, ...]:
        """Labels that are this name."""
        return tuple(own.label for own in self._called.get(normalise(name), ()))

    def knows(self, name: str) -> bool:
        """Whether a name in lower case is a label, or WordNet knows it."""
        return name in nouns().lemmas or bool(self.called(name))

    def meant(self, name: str) -> list[Sense]:
        """What the labels mean that are this name."""
        own = (label.synset for label in self._called.get(normalise(name), ()))
        return [sense for synset in dict.fromkeys(own) for sense in senses(synset)]

    def below(self, synset: str) -> tuple[str, ...]:
        """Labels that mean this synset, or a kind of it."""
        return tuple(self._labels[place] for place in self.known.below(synset))


@lru_cache(maxsize=8)
def _labelled(knowledge: Knowledge, labels: tuple[str, ...]) -> _Labels:
    own = dict(zip(knowledge.names, knowledge.ids, strict=True))
    own |= {label: knowledge.ids[place] for label, place in knowledge.labels.items()}
    return _Labels(
        meanings(labels, [own.get(label, "") for label in labels], None, knowledge.known)
    )


def _thing(knowledge: Knowledge, name: str, labels: _Labels) -> Thing:
    found = _ordered(knowledge, name, labels)
    called = labels.called(name)
    is_own = any(_is_unknown(knowledge, label) for label in called)
    sense = found[0] if found and not is_own else None
    synset = "" if sense is None else sense.synset
    is_noun = not called or normalise(name) in nouns().lemmas  # "Italy 2021" is no noun
    kinds = labels.below(synset) if synset and is_noun else ()
    own = tuple(dict.fromkeys((*called, *kinds)))
    direction = None
    for label in called:
        direction = direction or _of_label(knowledge, label)
    direction = direction or knowledge.direction(synset)
    if direction is None and not own:
        raise NamesError(
            f"{name!r} has nothing in common with the things that are known by sight, so it can "
            "not be searched for"
        )
    if direction is None:  # a label that was given after the model was learned
        direction = Direction(np.zeros(knowledge.directions.shape[1]), [])
    return Thing(name, sense, tuple(other for other in found if other != sense), direction, own)


def _is_unknown(knowledge: Knowledge, label: str) -> bool:
    """Whether the model was learned with a label that nobody knows the meaning of."""
    return any(not knowledge.ids[place] for place in _places(knowledge, label))


def _of_label(knowledge: Knowledge, label: str) -> Direction | None:
    """Direction of a label that the model was learned with."""
    return knowledge.among(_places(knowledge, label))


def _places(knowledge: Knowledge, label: str) -> list[int]:
    """Known categories that a label is."""
    if label in knowledge.labels:
        return [knowledge.labels[label]]
    return [place for place, name in enumerate(knowledge.names) if name == label]


def _ordered(knowledge: Knowledge, name: str, labels: _Labels) -> list[Sense]:
    """Senses of a name: first those of labels, then those the network knows, then frequent ones."""
    found = senses(name)
    if not any(knowledge.known.below(sense.synset) for sense in found):
        # "shoes" is a noun of its own, and no network knows it
        forms = singular_forms(name, nouns().irregular)
        others = (senses(form) for form in forms if form in nouns().lemmas)
        found = next(
            (own for own in others if any(knowledge.known.below(s.synset) for s in own)), found
        )
    likely = sorted(found, key=lambda sense: -_familiarity(knowledge, sense))
    ordered = labels.known.order(knowledge.known.order(likely))
    meant = labels.meant(name)
    ids = [sense.synset for sense in meant]
    own = [sense for sense in ordered if sense.synset in ids] or meant
    return own + [sense for sense in ordered if sense.synset not in ids]


def _familiarity(knowledge: Knowledge, sense: Sense) -> float:
    """How near a sense is to a known category; equal for all senses above one.

    A lorry is first of all a wagon to WordNet, but a lorry that is a truck is nearer to something
    that networks know.
    """
    if knowledge.known.below(sense.synset):
        return 2.0
    return next((cosine for _, cosine in knowledge.nearest(sense.synset, 1)), 0.0)


def explain(knowledge: Knowledge, reading: Reading) -> Meaning:
    """What a name means to a model: the known categories nearest to it, and a forecast."""
    thing = reading.things[0]
    synset = "" if thing.sense is None else thing.sense.synset
    near = [
        NearName(_called(knowledge, place), cosine, bool(knowledge.counts[place]))
        for place, cosine in knowledge.nearest(synset, SHOWN)
    ]
    n_labelled = int(knowledge.counts[thing.direction.categories].sum())
    return Meaning(reading.text, n_labelled > 0, near, _forecast(knowledge, thing, near))


def _forecast(knowledge: Knowledge, thing: Thing, near: Sequence[NearName]) -> Forecast:
    known, text = thing.direction.categories, thing.text
    similarity = near[0].cosine if near else 0.0
    n_labelled = int(knowledge.counts[known].sum())
    if n_labelled:
        pictures = f"{n_labelled} labelled picture{'s' if n_labelled > 1 else ''}"
        return Forecast("seen", similarity, text=f"The model learned from {pictures} of {text}.")
    if known:
        kinds = f"{len(known)} kinds of it" if len(known) > 1 else "it"
        grown = "" if thing.sense is None else grown_up(thing.sense.synset)
        kinds = senses(grown)[0].text if grown else kinds
        told = f"The network was trained to recognise {kinds}: if {text} is here, it is found."
        return Forecast("close", similarity, text=told)
    nearest = f"; nearest in meaning is {near[0].name}" if near else ""
    told = f"The network does not know {text}{nearest}."
    rank = knowledge.rank(thing.direction)
    if np.isnan(rank):
        return Forecast("unknown", similarity, text=f"{told} Nobody can say how well it is found.")
    verdict = "close" if rank >= CLOSE else "far" if rank < FAR else "usual"
    return Forecast(verdict, similarity, rank, f"{told} {EXPECTED[verdict]}")


def likely_names(knowledge: Knowledge, signs: NDArray[Any], n: int) -> list[NearName]:
    """Known categories that a code of −1 and 1 fits best."""
    return [
        NearName(_called(knowledge, place), cosine, bool(knowledge.counts[place]))
        for place, cosine in knowledge.likely(signs, n)
    ]


def _called(knowledge: Knowledge, place: int) -> str:
    """Name of a known category for a person: its sense in place of its WordNet id."""
    name, synset = knowledge.names[place], knowledge.ids[place]
    is_plain = not synset or synset not in name
    return name if is_plain else next((own.text for own in senses(synset)), name)


def joined(
    knowledge: Knowledge,
    words: Mapping[str, float],
    labels: Sequence[str],
    embed: Embed | None,
    others: Sequence[tuple[NDArray[Any], float]] = (),
) -> Reading:
    """Read several names with weights, a negative one for what is not wanted, as one query.

    `others` are further parts of the query, such as the values of a picture.
    """
    read = [(read_name(knowledge, word, labels, embed), weight) for word, weight in words.items()]
    parts = [(own.values, weight) for own, weight in read]
    if len(parts) == 1 and not others and parts[0][1] > 0:
        return read[0][0]
    things = tuple(thing for own, _ in read for thing in own.things)
    left_out = tuple(word for own, _ in read for word in own.left_out)
    text = ", ".join(word if weight > 0 else f"not {word}" for word, weight in words.items())
    values = join(knowledge, [*others, *parts])
    return Reading(text, things, left_out, values, is_joint=True)
