"""Short names of long things: equal only if the things are."""

import hashlib
from pathlib import Path

__all__ = ["digest", "file_digest"]


def digest(*parts: str) -> str:
    """One sha256 of several texts.

    >>> digest("ab", "c") == digest("a", "bc")
    False
    """
    total = hashlib.sha256()
    for part in parts:
        total.update(hashlib.sha256(part.encode()).digest())
    return total.hexdigest()


def file_digest(path: Path) -> str:
    """The sha256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
