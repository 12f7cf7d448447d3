"""Items written for other programs: paths one a line, CSV, JSON; one after the other."""

import csv
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import wraps
from typing import Any

import click

from zshash.cli.terminal import printable
from zshash.datasets.manifests import BETWEEN_LABELS, LABEL, LABELS, PATH, SYNSET

__all__ = ["Form", "form_options", "metadata_columns", "write_csv", "write_json", "write_paths"]

LISTED = ("id", "path", "labels")
MEANT = {*LISTED, "query", "score", "bits", "row", *PATH, *LABEL, *LABELS, *SYNSET}
"""Names of columns with a meaning of their own, here or where a list of pictures is read."""


class Form(Enum):
    """How items are written."""

    TEXT = "text"
    JSON = "--json"
    CSV = "--csv"
    PATHS = "--paths"
    NULL = "--null"


_form = (
    click.option(
        "--paths",
        is_flag=True,
        help="Print the path of each item on a line of its own, and nothing else.",
    ),
    click.option(
        "--null",
        "-0",
        is_flag=True,
        help="Like --paths, with a NUL byte behind each path, for xargs -0.",
    ),
    click.option(
        "--csv",
        "as_csv",
        is_flag=True,
        help="Print a table with commas: id, path, labels, and a column for each field of the "
        "metadata. Commands that take pictures read it, too.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
)


def form_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options on how items are written; the command gets them as one `form`."""

    @wraps(command)
    def with_form(
        *args: Any, paths: bool, null: bool, as_csv: bool, as_json: bool, **kwargs: Any
    ) -> Any:
        given = {Form.JSON: as_json, Form.CSV: as_csv, Form.PATHS: paths and not null}
        chosen = [form for form, is_given in (given | {Form.NULL: null}).items() if is_given]
        if len(chosen) > 1:
            names = " and ".join(form.value for form in chosen[:2])
            raise click.UsageError(f"{names} exclude each other: leave one of them out")
        return command(*args, form=chosen[0] if chosen else Form.TEXT, **kwargs)

    for option in reversed(_form):
        with_form = option(with_form)
    return with_form


def write_paths(paths: Iterable[str | None], form: Form) -> None:
    """Print paths as the bytes that the disk knows; items without a path are counted."""
    out, without = sys.stdout.buffer, 0
    is_shown = out.isatty() and form is Form.PATHS
    end = b"\0" if form is Form.NULL else b"\n"
    for path in paths:
        if path is None:
            without += 1
        else:
            out.write((printable(path).encode() if is_shown else _raw(path)) + end)
    out.flush()
    if without:
        are = "item has" if without == 1 else "items have"
        warnings.warn(f"{without} {are} no path", UserWarning, stacklevel=2)


def _raw(text: str) -> bytes:
    """Text as bytes; the name of a file as it is on the disk, also if it is not Unicode."""
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def write_json(facts: Iterable[Mapping[str, Any]]) -> None:
    """Print a list of objects as JSON, one object a line."""
    out, before = sys.stdout, "[\n"
    for own in facts:
        out.write(before + json.dumps(own))
        before = ",\n"
    out.write("[]\n" if before == "[\n" else "\n]\n")


def write_csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table as CSV; a list in a cell holds labels, other values are texts or JSON."""
    out, told = sys.stdout.buffer, _Told()
    writer = csv.writer(_Encoder(out.write), lineterminator="\n")
    writer.writerow(head)
    for row in rows:
        told.look_at(row)
        writer.writerow(map(_cell, row))
    out.flush()
    told.warn()


class _Encoder:
    """A text file over a function that takes bytes."""

    def __init__(self, take: Callable[[bytes], Any]) -> None:
        self._take = take

    def write(self, text: str) -> None:
        """Write a text, names of files as they are on the disk."""
        self._take(_raw(text))


def _cell(value: Any) -> str:
    """Text of a cell.

    >>> _cell(("cat", "sofa")), _cell(None), _cell("x"), _cell(True), _cell({"a": 1})
    ('cat;sofa', '', 'x', 'true', '{"a": 1}')
    """
    if isinstance(value, tuple):
        return ";".join(value)
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


class _Told:
    """Counts what a list of pictures does not read again as it was."""

    def __init__(self) -> None:
        self._names = self._labels = 0

    def look_at(self, row: Sequence[Any]) -> None:
        """Look at the cells of a row."""
        for value in row:
            if isinstance(value, str):
                self._names += not value.isascii() and not _is_unicode(value)
            elif isinstance(value, tuple):
                self._labels += any(map(BETWEEN_LABELS.search, value))

    def warn(self) -> None:
        """Warn of what was counted."""
        for n, what in self._found():
            rows = "row has" if n == 1 else "rows have"
            warnings.warn(f"{n} {rows} {what}", UserWarning, stacklevel=3)

    def _found(self) -> Iterator[tuple[int, str]]:
        if self._names:
            yield self._names, "a path that is not UTF-8, which no list of pictures is read with"
        if self._labels:
            yield self._labels, "a label with ; or | in it, which is read as several labels"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def metadata_columns(keys: Iterable[str]) -> dict[str, str]:
    """Name of the column for each key of the metadata; no two differ in case alone.

    >>> metadata_columns(["path", "Year", "year"])
    {'path': 'metadata.path', 'Year': 'Year', 'year': 'metadata.year'}
    """
    taken, columns = set(MEANT), dict[str, str]()
    for key in keys:
        name = key
        while not name.strip() or name.strip().lower() in taken:
            name = f"metadata.{name}"
        taken.add(name.strip().lower())
        columns[key] = name
    return columns
