"""Labels, metadata, sources and contents that users give: checked, and brought into stored form."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

from zshash.collection.storage.rows import to_text

__all__ = ["check_contents", "check_labels", "check_metadata", "check_sources", "stored_source"]

MAX_DEPTH = 100
MAX_CONTENT = 64
WORDS = frozenset({str})
PLAIN = frozenset({str, int, float, bool, type(None)})


def check_labels(labels: Iterable[Any] | None, n: int) -> list[str]:
    """Labels of `n` items as JSON: each item has a word, a list of words, or None.

    >>> check_labels(["cat", ["dog", " pet "], None], 3)
    ['["cat"]', '["dog","pet"]', '[]']
    """
    if labels is None:
        return ["[]"] * n
    known: dict[Any, str] = {}  # most items have the labels of many others
    texts = []
    for row, own in enumerate(_as_list("labels", labels, n)):
        key = own if isinstance(own, str) else None
        text = known.get(key) if key is not None else None
        if text is None:
            text = to_text(_words(row, own))
            if key is not None:
                known[key] = text
        texts.append(text)
    return texts


def _words(row: int, own: Any) -> list[str]:
    words = [] if own is None else [own] if isinstance(own, str) else own
    if not isinstance(words, Iterable):
        raise ValueError(f"labels: row {row} has {own!r}; give a word, a list of words or None")
    stripped = []
    for word in words:
        if not isinstance(word, str) or not word.strip():
            raise ValueError(f"labels: row {row} has {word!r}, and a label is a word")
        if "\0" in word:  # SQLite reads a text only up to a NUL
            raise ValueError(f"labels: row {row} has {word!r}, and NUL can not be stored")
        stripped.append(str(word).strip())
    return list(dict.fromkeys(stripped))


def check_metadata(metadata: Iterable[Any] | None, n: int) -> list[str]:
    """Metadata of `n` items as JSON: each has a dict with words as keys, or None.

    >>> check_metadata([{"year": 2016}, None], 2)
    ['{"year":2016}', '{}']
    """
    if metadata is None:
        return ["{}"] * n
    texts: list[str] = []
    before: Any = None
    for row, own in enumerate(_as_list("metadata", metadata, n)):
        if own is before and texts:  # often all items share one dict
            texts.append(texts[-1])
        else:
            texts.append(_facts(row, own) if own else "{}")
        before = own
    return texts


def _facts(row: int, own: Any) -> str:
    if not isinstance(own, dict):
        raise ValueError(f"metadata: row {row} is {type(own).__name__}, and a dict is wanted")
    # Quicker than checking each value, and most often enough.
    if not (WORDS.issuperset(map(type, own)) and PLAIN.issuperset(map(type, own.values()))):
        _check_keys(row, own, MAX_DEPTH)
    try:
        return to_text(own)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"metadata: row {row} can not be written as JSON: {error}") from None


def _check_keys(row: int, value: Any, depth: int) -> None:
    if isinstance(value, dict | list | tuple):
        if not depth:
            raise ValueError(f"metadata: row {row} is nested deeper than {MAX_DEPTH} levels")
        if isinstance(value, dict):
            wrong = [key for key in value if not isinstance(key, str)]
            if wrong:
                raise ValueError(f"metadata: row {row} has the key {wrong[0]!r}; keys are words")
            value = value.values()
        for part in value:
            _check_keys(row, part, depth - 1)


def check_sources(sources: Iterable[Any] | None, n: int) -> list[str | bytes | None]:
    """Sources of `n` items as they are stored: each has a path, an address or None."""
    if sources is None:
        return [None] * n
    rows = _as_list("sources", sources, n)
    return [None if own is None else _source(row, own) for row, own in enumerate(rows)]


def _source(row: int, own: Any) -> str | bytes:
    if type(own) is not str and isinstance(own, os.PathLike):
        own = os.fspath(own)
    if not isinstance(own, str) or not own or "\0" in own:
        raise ValueError(f"sources: row {row} has {own!r}; give a path, an address or None")
    return stored_source(own)


def stored_source(source: str) -> str | bytes:
    """Source in the form that is stored: text, or bytes if a file's name is not Unicode."""
    if source.isascii():
        return str(source)  # NumPy's strings become Python's
    try:
        source.encode()
    except UnicodeEncodeError:
        return source.encode("utf-8", "surrogatepass")
    return str(source)


def check_contents(contents: Iterable[Any] | None, n: int) -> list[bytes | None]:
    """Contents of `n` items: each has a hash of 1 to 64 bytes, or None."""
    if contents is None:
        return [None] * n
    rows = _as_list("contents", contents, n)
    for row, own in enumerate(rows):
        if own is not None and not (isinstance(own, bytes) and 0 < len(own) <= MAX_CONTENT):
            raise ValueError(
                f"contents: row {row} must be 1 to {MAX_CONTENT} bytes or None, got {own!r}"
            )
    return rows


def _as_list(name: str, values: Iterable[Any], n: int) -> list[Any]:
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise ValueError(f"{name}: a list with an entry for each of the {n} items is wanted")
    rows = values if isinstance(values, list) else list(values)
    if len(rows) != n:
        raise ValueError(f"{name}: {len(rows)} entries for {n} items; each item needs one")
    return rows


def names_of(labels: Any, names: Sequence[str]) -> list[list[str]]:
    """Names of the categories of each sample, from their numbers."""
    if labels.ndim == 1:
        return [[names[number]] for number in labels.tolist()]
    return [[names[number] for number in own.nonzero()[0]] for own in labels]
