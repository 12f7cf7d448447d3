"""Sentences on what is kept when Ctrl-C ends a command."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from zshash.cli.terminal import count
from zshash.collection import Collection
from zshash.images import PictureReader

__all__ = ["AGAIN", "keeping", "keeping_file", "telling"]

AGAIN = "the same command goes on from there"


@contextmanager
def telling(kept: Callable[[], str]) -> Iterator[None]:
    """Let Ctrl-C inside the block end the command with the sentence that `kept` makes then."""
    try:
        yield
    except KeyboardInterrupt:
        sentence = ""
        with suppress(ValueError, OSError):  # what can not be told any more is left out
            sentence = kept()
        raise KeyboardInterrupt(sentence) from None


@contextmanager
def keeping(collection: Collection, again: str = AGAIN) -> Iterator[None]:
    """Let Ctrl-C inside the block end the command with a sentence on the items of a collection.

    Parameters
    ----------
    collection : Collection
        It is changed inside the block.
    again : str
        How the rest of the work is done.
    """
    before, n = collection.generation, len(collection)

    def kept() -> str:
        if collection.generation == before:
            return f"{collection.path.name} is the same as before."
        new = len(collection) - n
        what = f"has {count(new, 'new item', '', 's')}" if new > 0 else "keeps what was done"
        return f"{collection.path.name} {what}; {again}."

    with telling(kept):
        yield


@contextmanager
def keeping_file(output: Path, reader: PictureReader | None = None) -> Iterator[None]:
    """Let Ctrl-C inside the block end the command with a sentence on the file that it writes.

    Features of pictures may be kept by the `reader`.
    """

    def kept() -> str:
        file = "is the same as before" if output.exists() else "was not written"
        features = "; features of pictures are kept for the next time"
        return f"{output} {file}{features if reader and reader.has_kept else ''}."

    with telling(kept):
        yield
