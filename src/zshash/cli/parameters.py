"""Kinds of parameters: each refuses a wrong value with one line, before any work is done."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

__all__ = [
    "FORCE",
    "CollectionFolder",
    "Data",
    "Folder",
    "Integer",
    "LabelSource",
    "ModelFile",
    "OutputFile",
    "Searched",
    "Text",
    "begins_with",
]

FORCE = "zshash.force"  # where the context remembers --force


class OutputFile(click.Path):
    """A file to write; a path that can not be written is refused before the work begins.

    Parameters
    ----------
    is_stem : bool
        Whether the path is the beginning of several names, one of them perhaps of a folder.
    what : str
        Kind of the file for messages, such as "model".
    is_such : callable, optional
        Tells whether an existing file is of this kind and may be replaced; any other file is
        replaced with ``--force`` only.
    """

    def __init__(
        self,
        is_stem: bool = False,
        what: str = "file",
        is_such: Callable[[Path], bool] | None = None,
    ) -> None:
        super().__init__(dir_okay=is_stem, writable=True, path_type=Path)
        self._what, self._is_such = what, is_such

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """The path, if its folder exists and no file of another kind has this name."""
        if not value:
            self.fail("the name of a file is missing", param, ctx)
        path = Path(str(super().convert(value, param, ctx)))
        if not path.parent.is_dir():
            self.fail(f"there is no folder {str(path.parent)!r}", param, ctx)
        if not ctx.meta.get(FORCE) and not self._may_replace(path):
            self.fail(
                f"{str(path)!r} is there and is no {self._what}: choose another name, or --force "
                "to replace it",
                param,
                ctx,
            )
        return path

    def _may_replace(self, path: Path) -> bool:
        is_empty = not path.is_file() or not path.stat().st_size
        return self._is_such is None or is_empty or self._is_such(path)


def begins_with(*beginnings: bytes) -> Callable[[Path], bool]:
    """A function that tells whether a file begins with one of the given bytes."""

    def check(path: Path) -> bool:
        with path.open("rb") as file:
            return file.read(max(map(len, beginnings))).startswith(beginnings)

    return check


class Integer(click.IntRange):
    """A whole number in a range, which help and messages call an integer."""

    name = "integer"


class Text(click.types.StringParamType):
    """A text; an empty one is refused, because it comes from a shell variable without a value."""

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """The text, if it is not empty."""
        if not str(value).strip():
            is_option = isinstance(param, click.Option)
            cure = "give a value, or leave the option out" if is_option else "give a value"
            self.fail(f"it is empty: {cure}", param, ctx)
        return str(value)


class LabelSource(Text):
    """Where labels come from: a word of `FROM_FOLDERS`, or the path of a list of files."""

    lists = (".csv", ".tsv", ".parquet")
    of_meanings = (".txt", ".vec", ".npz", ".gz")

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The word, or the path if a list is there."""
        from zshash.datasets.folders import FROM_FOLDERS

        text = super().convert(value, param, ctx)
        if text in FROM_FOLDERS:
            return text
        path = Path(text)
        if path.suffix.lower() not in self.lists or not path.is_file():
            self.fail(self._cure(text, path), param, ctx)
        return path

    def _cure(self, text: str, path: Path) -> str:
        if text in ("wordnet", "onehot") or path.suffix.lower() in self.of_meanings:
            return f"{text!r} says what names mean, not which labels there are: use --meanings"
        what = "is no such list" if path.exists() else "is not there"
        lists = ", ".join(self.lists)
        return (
            f"{text!r} {what}: give none, folders, or a list of files with the columns path and "
            f"label ({lists})"
        )


class Data(Text):
    """Pictures or features, by path or by name; the folder of a collection is refused."""

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """The text, unless it is empty, not readable, or the folder of a collection."""
        from zshash.collection import is_collection

        text = super().convert(value, param, ctx)
        if Path(text).exists() and not os.access(text, os.R_OK):
            self.fail(f"{text!r} can not be read: check its permissions", param, ctx)
        if is_collection(Path(text)):
            self.fail(
                f"{text!r} is a collection: give the pictures or features themselves", param, ctx
            )
        return text


class ModelFile(click.Path):
    """The file of a model that is read."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)
        self.name = "file"

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """The path, if a model is there."""
        from zshash.hashing.files import is_model

        if not Path(str(value)).exists():
            self.fail(f"there is no file {str(value)!r}: give a file that fit wrote", param, ctx)
        path = Path(str(super().convert(value, param, ctx)))
        if path.is_dir():
            self.fail(f"{str(path)!r} is a folder: give a model file that fit wrote", param, ctx)
        if not is_model(path):
            self.fail(
                f"{str(path)!r} is not a zshash model, or damaged: give a file that fit wrote",
                param,
                ctx,
            )
        return path


class Folder(click.Path):
    """A folder; an empty name is refused, because it would mean the current folder."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """The path, if it is not empty."""
        if not value:
            self.fail("the name of a folder is missing", param, ctx)
        if Path(str(value)).is_file():
            self.fail(f"{str(value)!r} is a file: choose another name", param, ctx)
        return Path(str(super().convert(value, param, ctx)))


class Searched(click.Path):
    """What is searched: the folder of a collection, or a file of codes."""

    takes_files = True

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """The path, if a collection is there, or a file where files are searched, too."""
        from zshash.collection import is_collection

        path = Path(str(super().convert(value, param, ctx)))
        if not path.exists():
            self.fail(f"there is no {str(path)!r}: zshash create makes a collection", param, ctx)
        if not is_collection(path) and not (self.takes_files and path.is_file()):
            self.fail(f"{str(path)!r} is no collection: zshash create makes one", param, ctx)
        return path


class CollectionFolder(Searched):
    """The folder of a collection."""

    takes_files = False
