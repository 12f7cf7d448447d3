"""Names of categories that are given by their WordNet ids."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from zshash.datasets.files import read_lines
from zshash.semantics import UnknownNames, WordNet

__all__ = ["is_synset", "read_words", "synset_names"]

WORDS_FILE = "words.txt"


def is_synset(text: str) -> bool:
    """Whether a text has the form of a noun's id.

    >>> is_synset("n02123045"), is_synset("nonsense")
    (True, False)
    """
    return re.fullmatch(r"n[0-9]{8}", text) is not None


def synset_names(synsets: Sequence[str], folders: Iterable[Path]) -> tuple[str, ...]:
    """Names of synsets: of the first ``words.txt`` in some folders, else WordNet's, else the id.

    >>> synset_names(["n02123045", "n99999999"], [])
    ('tabby', 'n99999999')
    """
    files = (folder / WORDS_FILE for folder in folders)
    file = next((file for file in files if file.is_file()), None)
    words = {} if file is None else read_words(file)
    return tuple(words.get(synset) or _wordnet_name(synset) for synset in synsets)


def read_words(path: Path) -> dict[str, str]:
    """Names by id, from lines of an id, a tab and names with commas between them."""
    words = {}
    for line in read_lines(path):
        synset, tab, name = line.partition("\t")
        if tab and is_synset(synset.strip()):
            words[synset.strip()] = name.strip()
    return words


def _wordnet_name(synset: str) -> str:
    try:
        return WordNet().name(synset)
    except UnknownNames:
        return synset
