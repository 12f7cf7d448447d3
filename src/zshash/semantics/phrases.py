"""Free text such as "a photo of a dog on a beach", read as the names of the things in it.

No grammar is parsed. Small words ("a", "on", "two", "her") and punctuation cut the text into
chunks, and forms of verbs ("running") stand alone. Each chunk gives its head, the longest known
name as near to its end as possible: "red garbage truck" → "garbage truck". WordNet lists very many
words as nouns, so things that can be seen ("dog") win over abstract nouns ("night").
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import dropwhile, takewhile
from typing import NamedTuple

from zshash.semantics.names import exact_forms, normalise, singular_forms, spell
from zshash.semantics.nouns import nouns
from zshash.semantics.senses import REMARK, synset_row

__all__ = ["Phrase", "read_phrase"]

MAX_WORDS = 50
MAX_RUN = 6  # words of one name
Knows = Callable[[str], bool]


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


ARTICLES = _words_of("a an the")
SMALL_WORDS = ARTICLES | _words_of(
    """
    , some any no every each all both another other such this that these those there here
    about above across after against along alongside amid among and around as at before behind
    below beneath beside besides between beyond but by down during for from in inside into like
    near nor of off on onto or out outside over past per so than then through to toward towards
    under underneath until up upon via with within without while when where which who whose whom
    i me my myself you your he him his she her it its we us our they them their something someone
    am is are was were be been being has have having had do does did not just very too also only
    it's there's that's he's she's i'm isn't aren't
    one two three four five six seven eight nine ten eleven twelve hundred thousand many few
    several more most much
    show find search want please
    """
)
# "photo of" says nothing, as everything searched for is a picture; "pair of" is a number
FILLERS = _words_of(
    """
    photo photos photograph photographs picture pictures pic pics image images snapshot snapshots
    shot shots drawing drawings painting paintings sketch sketches illustration illustrations
    portrait portraits close-up close-ups closeup closeups screenshot screenshots scan scans
    """
)
AFTER_FILLER = _words_of("of with showing containing")
QUANTITIES = _words_of(
    """
    pair pairs couple group groups bunch lot lots piece pieces slice slices set sets kind kinds
    type types sort sorts number dozen dozens
    """
)
PUNCTUATION = re.compile(r"""[,;:!?…"“”„«»()\[\]{}<>/|&+*=~#。，、；：！？]|\.+(?=\s|$)|[–—]""")
POSITIONS = re.compile(
    r"\b(?:in|on|at|to|from|by) (?:the |its )?"
    r"(?:front|top|back|side|left|right|middle|cent(?:er|re)|bottom|edge) of\b"
    r"|\bin the (?:back|fore)ground\b|\bin the (?:distance|middle)\b|\bnext to\b"
)
# forms of verbs that WordNet also lists as things
ACTIONS = _words_of(
    """
    sits sit stands lies lays walks runs jumps plays eats sleeps swims rides drives holds wears
    looks smiles dances reads carries catches throws climbs crosses
    covering crossing cutting facing hanging knitting sewing shopping washing working
    """
)
NO_ACTIONS = _words_of("wedding morning evening")
VOWELS = frozenset("aeiouy")
# adjectives that WordNet also lists as things: blue is clothing, white is in an egg
MODIFIERS = _words_of(
    """
    black blue brown gray green grey pink purple red white yellow
    big close cold hot large little old small tall young
    """
)
SHORT_NOUNS = _words_of("ox pc tv")  # others, such as "la", are rather words of other languages

PHYSICAL, PROCESS, GROUP = "n00001930", "n00029677", "n00031264"
THING, ABSTRACT, WEAK = 2, 1, 0  # how well a noun names something that can be seen


class Phrase(NamedTuple):
    """Names of things in a text, and the words that were not understood.

    Attributes
    ----------
    nouns : tuple of str
        Names of things in the order of the text, each once, as written but in lower case.
    left_out : tuple of str
        Words that could not be read as a thing, such as adjectives, verbs and unknown words.
    """

    nouns: tuple[str, ...]
    left_out: tuple[str, ...]


class _Head(NamedTuple):
    """Name in a text that may be the head of a chunk; the best head compares as largest."""

    rank: int
    stop: int
    start: int


def read_phrase(text: str, knows: Knows | None = None) -> Phrase:
    """Read the names of things in a text.

    Parameters
    ----------
    text : str
        A name, a phrase or a sentence in English. Of a long text, the first 50 words and
        punctuation marks are read; the other words are left out.
    knows : callable, optional
        Says whether a name in lower case is known, by default to WordNet. Singular forms are
        asked for, too. A known name that is no noun of WordNet counts as a thing.

    Returns
    -------
    Phrase
        Abstract nouns are left out if the text also has a thing that can be seen.

    Examples
    --------
    >>> read_phrase("a photo of a dog running on the beach")
    Phrase(nouns=('dog', 'beach'), left_out=('running',))
    >>> read_phrase("my sister's birthday cake with candles")
    Phrase(nouns=('birthday cake', 'candles'), left_out=("sister's",))
    >>> read_phrase("Tabby cats").nouns, read_phrase("true love").nouns
    (('tabby cats',), ('love',))
    >>> read_phrase("ein Hundchen", knows=lambda name: name == "hundchen")
    Phrase(nouns=('hundchen',), left_out=('ein',))
    """
    knows = knows or _in_wordnet
    for whole in (spell(text), _trim(text)):
        if synset_row(whole) is not None or _forms(REMARK.sub(" ", whole), knows):
            return Phrase((whole,), ())
    words = _words(text)
    read, rest = _join(words[:MAX_WORDS], knows), words[MAX_WORDS:]
    start = _start(read)
    silent = _silent(read, start)
    heads = [_heads(read, *chunk, knows) for chunk in _chunks(read, start, silent, knows)]
    return _phrase(read, silent, [max(found) for found in heads if found], rest)


def _in_wordnet(name: str) -> bool:
    return name in nouns().lemmas


def _is_small(word: str) -> bool:
    return word in SMALL_WORDS or word.isdigit()


def _trim(text: str) -> str:
    """Text in lower case without articles in front and punctuation around it."""
    words = spell(text).strip(' .,;:!?"').split()
    return " ".join(dropwhile(ARTICLES.__contains__, words))


def _words(text: str) -> list[str]:
    """Words of a text in lower case, with "," for all punctuation.

    >>> _words("Close up: the dog's bowl next to Tom!")
    ['close-up', ',', 'the', "dog's", 'bowl', ',', 'tom', ',']
    """
    plain = POSITIONS.sub(" , ", spell(text).replace("close up", "close-up"))
    words = (word.strip("'-") for word in PUNCTUATION.sub(" , ", plain).split())
    return [word for word in words if word]


def _join(words: Sequence[str], knows: Knows) -> list[str]:
    """Words, where names with small words or verbs in them are one word: "bird of paradise"."""
    joined, i = [], 0
    while i < len(words):
        sizes = (n for n in range(MAX_RUN, 1, -1) if _is_joint(words[i : i + n], knows))
        size = next(sizes, 1)
        joined.append(" ".join(words[i : i + size]))
        i += size
    return joined


def _is_joint(run: Sequence[str], knows: Knows) -> bool:
    if _is_small(run[0]) or _is_small(run[-1]):
        return False
    if not any(_is_small(word) or _is_action(word, knows) for word in run):
        return False
    return len(run) > 1 and _rank(" ".join(run), knows) == THING


def _start(words: Sequence[str]) -> int:
    """Position of the first word behind "a nice photo of"; 0 if the text does not begin so."""
    first = len(list(takewhile(_is_small, words)))
    for i in range(first, len(words) - 2):
        if _is_small(words[i]):
            break
        if words[i] in FILLERS and words[i + 1] in AFTER_FILLER:
            return i + 2
    return 0


def _silent(words: Sequence[str], start: int) -> set[int]:
    """Positions of words that are dropped without a report."""
    followed = zip(words, [*words, ""][1:], strict=True)
    return {
        i
        for i, (word, after) in enumerate(followed)
        if _is_small(word) or start - 2 <= i < start or (word in QUANTITIES and after == "of")
    }


def _chunks(
    words: Sequence[str], start: int, silent: set[int], knows: Knows
) -> Iterator[tuple[int, int]]:
    """First position of every chunk and the position behind it."""
    for i in range(start, len(words) + 1):
        alone = i < len(words) and i not in silent and _is_action(words[i], knows)
        if alone or i in silent or i == len(words):
            if start < i:
                yield start, i
            if alone:
                yield i, i + 1
            start = i + 1


def _is_action(word: str, knows: Knows) -> bool:
    """Whether a word is a form of a verb: "running", but not "building"."""
    if word in ACTIONS:
        return True
    return _is_ing(word) and " " not in word and _rank(word, knows) != THING


def _is_ing(name: str) -> bool:
    stem = name.removesuffix("ing")
    # the stem of a verb has a vowel, unlike those of "king" and "spring"
    return stem != name and name not in NO_ACTIONS and not VOWELS.isdisjoint(stem)


def _heads(words: Sequence[str], start: int, stop: int, knows: Knows) -> list[_Head]:
    """Names in a chunk that may be its head: the longest known one for every last word."""
    found = []
    for end in range(stop, start, -1):
        for begin in range(max(start, end - MAX_RUN), end):
            rank = _rank(" ".join(words[begin:end]), knows)
            if rank is not None:
                found.append(_Head(rank, end, begin))
                break
    return found


def _rank(name: str, knows: Knows) -> int | None:
    """THING, ABSTRACT or WEAK for a known name, None for any other."""
    # the best of all forms: "shoes" are also a situation, but a shoe is a thing
    ranks = [rank for form in _forms(name, knows) if (rank := _rank_of_form(form)) is not None]
    if ranks and (name in ACTIONS or name in MODIFIERS):
        return WEAK
    return max(ranks, default=None)


def _forms(name: str, knows: Knows) -> list[str]:
    """Known forms of a name: itself and its singulars."""
    if not normalise(name):
        return []
    forms = (*exact_forms(name), *singular_forms(name, nouns().irregular))
    return [form for form in forms if knows(form)]


@lru_cache(4096)
def _rank_of_form(form: str) -> int | None:
    if form not in nouns().lemmas:
        return THING
    if len(form) < 3 and form not in SHORT_NOUNS:
        return None
    rows = nouns().senses(form)
    # Red is also a river: names of single things count only if there are no other senses
    rows = [row for row in rows if not nouns().names[row][0].isupper()] or rows
    kinds = [_kinds(row) for row in rows]
    if _is_ing(form):
        solid = any(PHYSICAL in kind and PROCESS not in kind for kind in kinds[:2])
        return THING if solid else WEAK
    # groups are no physical things for WordNet: people, forest, herd
    return THING if any({PHYSICAL, GROUP} & kind for kind in kinds[:3]) else ABSTRACT


def _kinds(row: int) -> set[str]:
    above = {row, *nouns().above(row)}
    return {kind for kind in (PHYSICAL, PROCESS, GROUP) if nouns().row(kind) in above}


def _phrase(
    words: Sequence[str], silent: set[int], heads: Sequence[_Head], rest: Sequence[str]
) -> Phrase:
    best = max((head.rank for head in heads), default=WEAK)
    kept = [range(head.start, head.stop) for head in heads if head.rank == best]
    names = dict.fromkeys(" ".join(words[i] for i in places) for places in kept)
    used = silent.union(*kept)
    unread = [*(word for i, word in enumerate(words) if i not in used), *rest]
    left_out = [word for text in unread for word in text.split() if not _is_small(word)]
    return Phrase(tuple(names), tuple(left_out))
