"""Names of categories that are given by their WordNet ids."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from zshash.datasets.data import DataError, read_lines
from zshash.semantics import UnknownNames, WordNet

__all__ = ["is_synset", "read_words", "synset_names", "tell_apart"]

WORDS_FILE = "words.txt"


def is_synset(text: str) -> bool:
    """Whether a text has the form of a noun's id.

    >>> is_synset("n02123045"), is_synset("nonsense")
    (True, False)
    """
    return re.fullmatch(r"n[0-9]{8}", text) is not None


def synset_names(synsets: Sequence[str], folders: Iterable[Path]) -> tuple[str, ...]:
    """Names of synsets, from the first ``words.txt`` in the folders, else WordNet, else the id.

    >>> synset_names(["n02123045", "n99999999"], [])
    ('tabby', 'n99999999')
    """
    files = (folder / WORDS_FILE for folder in folders)
    file = next((file for file in files if file.is_file()), None)
    words = {} if file is None else read_words(file)
    return tuple(words.get(synset) or _wordnet_name(synset) for synset in synsets)


def read_words(path: Path) -> dict[str, str]:
    """Names by WordNet id, from a file with an id, a tab and a name in each line."""
    words = {}
    for line in read_lines(path):
        synset, tab, name = line.partition("\t")
        if tab and is_synset(synset.strip()):
            words[synset.strip()] = name.strip()
    return words


def tell_apart(names: Sequence[str], synsets: Sequence[str], origin: str | Path) -> tuple[str, ...]:
    """Category names; a name that several categories share gets its WordNet id added.

    >>> tell_apart(["crane", "dog", "crane"], ["n02012849", "n02084071", "n03126707"], "here")
    ('crane (n02012849)', 'dog', 'crane (n03126707)')
    """
    shared = {name for name, count in Counter(names).items() if count > 1}
    if shared and not synsets:
        raise DataError(f"{origin}: several categories have the name {min(shared)!r}: add wnids")
    pairs = zip(names, synsets or names, strict=True)
    return tuple(
        f"{name} ({synset})" if name in shared and synset else name for name, synset in pairs
    )


def _wordnet_name(synset: str) -> str:
    try:
        return WordNet().name(synset)
    except UnknownNames:
        return synset
