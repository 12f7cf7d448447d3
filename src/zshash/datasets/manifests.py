"""Lists of pictures with their labels, as CSV or Parquet files."""

import csv
import re
from collections.abc import Sequence
from io import StringIO
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from zshash.datasets.data import DataError, Pictures, as_labels, unreadable
from zshash.datasets.parquet import column_names, read_columns
from zshash.datasets.synset_names import is_synset, synset_names, tell_apart

__all__ = ["read_manifest"]

PATH = ("path", "file", "filename", "image")
LABEL = ("label", "category", "class")
LABELS = ("labels", "tags")
SYNSET = ("wnid",)
DELIMITERS = ",;\t"
BETWEEN_LABELS = re.compile("[;|]")


class _Table(NamedTuple):
    """Columns of a manifest, and the place of each row in the file, such as its line number."""

    path: Path
    columns: dict[str, list[Any]]
    places: Sequence[int]
    unit: str


def read_manifest(path: str | Path) -> Pictures:
    r"""Read a list of pictures.

    Parameters
    ----------
    path : path-like
        A CSV file with a header (UTF-8; commas, semicolons or tabs), or a Parquet file, with
        columns

        - ``path`` (or ``file``, ``filename``, ``image``): relative paths are relative to the
          folder of the manifest;
        - ``label`` (or ``category``, ``class``), one label; or ``labels`` (or ``tags``), several
          labels with ``;`` or ``|`` between them, in Parquet also as lists. An empty cell is no
          label. Without such a column there are no labels;
        - optionally ``wnid``, the WordNet id of the label.

    Returns
    -------
    Pictures
        In the order of the rows. Whether the files exist is not checked.

    Raises
    ------
    DataError
        If the file is no such table.

    Examples
    --------
    >>> folder = getfixture("tmp_path")
    >>> _ = (folder / "list.csv").write_text("path,tags\n1.jpg,cat|sofa\n2.jpg,\n")
    >>> pictures = read_manifest(folder / "list.csv")
    >>> pictures.names, pictures.labels.tolist()
    (('cat', 'sofa'), [[True, True], [False, False]])
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    table = _read_parquet(path) if path.suffix.lower() == ".parquet" else _read_csv(path)
    if not table.places:
        raise DataError(f"{path}: there are no rows below the header")
    sources = _sources(table)
    single, several = _column(table, LABEL), _column(table, LABELS)
    synsets = _column(table, SYNSET)
    if several is not None and (single is not None or synsets is not None):
        other = "label" if single is not None else "wnid"
        raise DataError(f"{path}: labels and {other} exclude each other: keep one of the columns")
    if synsets is not None:
        return _with_synsets(table, sources, synsets, single)
    if single is not None:
        return _with_labels(sources, [[word] if word else [] for word in map(_text, single)])
    if several is not None:
        return _with_labels(sources, [_words(cell) for cell in several])
    return Pictures(sources)


def _read_csv(path: Path) -> _Table:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text: save it as UTF-8") from error
    except OSError as error:
        raise unreadable(path, error) from error
    try:
        return _parse(path, text)
    except csv.Error as error:
        raise DataError(f"{path}: not a CSV file: {error}") from error


def _parse(path: Path, text: str) -> _Table:
    reader = csv.reader(StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    header = [name.strip().lower() for name in next(reader, [])]
    columns: dict[str, list[Any]] = {name: [] for name in header}
    if len(columns) < len(header):
        raise DataError(f"{path}: several columns have the same name in {', '.join(header)}")
    places = []
    for cells in reader:
        if not cells:
            continue
        if len(cells) != len(header):
            raise DataError(
                f"{path}: line {reader.line_num} has {len(cells)} cells, the header {len(header)}"
            )
        for column, cell in zip(columns.values(), cells, strict=True):
            column.append(cell)
        places.append(reader.line_num)
    return _Table(path, columns, places, "line")


def _delimiter(text: str) -> str:
    r"""Delimiter that splits the header into the most names.

    >>> _delimiter("path;label\n1,5.jpg;cat")
    ';'
    """
    header = text.partition("\n")[0]
    return max(DELIMITERS, key=header.count)


def _read_parquet(path: Path) -> _Table:
    known = (*PATH, *LABEL, *LABELS, *SYNSET)
    names = [name for name in column_names(path) if name.lower() in known]
    if not any(name.lower() in PATH for name in names):
        raise _no_path(path, column_names(path))
    if len({name.lower() for name in names}) < len(names):
        raise DataError(f"{path}: several columns have the same name in {', '.join(names)}")
    columns = {name.lower(): values for name, values in read_columns(path, names).items()}
    n_rows = len(next(iter(columns.values())))
    return _Table(path, columns, range(n_rows), "row")


def _column(table: _Table, names: Sequence[str]) -> list[Any] | None:
    return next((table.columns[name] for name in names if name in table.columns), None)


def _no_path(path: Path, names: Sequence[str]) -> DataError:
    found = ", ".join(names) or "none"
    return DataError(
        f"{path}: there is no column path in its first line, or X for features (the columns are: "
        f"{found})"
    )


def _sources(table: _Table) -> tuple[Path, ...]:
    column = _column(table, PATH)
    if column is None:
        raise _no_path(table.path, list(table.columns))
    folder = table.path.parent
    sources = []
    for place, cell in zip(table.places, column, strict=True):
        name = _text(cell) if isinstance(cell, str | bytes) else ""
        if not name or "\0" in name:
            raise DataError(f"{table.path}: {table.unit} {place} has no path")
        sources.append(folder / name)
    return tuple(sources)


def _text(cell: object) -> str:
    """A cell as text: a word, a number, or nothing.

    >>> _text(" cat "), _text(7), _text(7.0), _text(None), _text(float("nan"))
    ('cat', '7', '7', '', '')
    """
    if isinstance(cell, float):  # whole numbers become floats in a column with gaps
        cell = None if isnan(cell) else int(cell) if cell.is_integer() else cell
    if isinstance(cell, bytes):
        cell = cell.decode("utf-8", "replace")
    return "" if cell is None else str(cell).strip()


def _words(cell: object) -> list[str]:
    """Labels in a cell.

    >>> _words("goldfish, Carassius auratus | bowl; ")
    ['goldfish, Carassius auratus', 'bowl']
    """
    parts = cell if isinstance(cell, list) else BETWEEN_LABELS.split(_text(cell))
    return [word for word in map(_text, parts) if word]


def _with_labels(sources: tuple[Path, ...], own: list[list[str]]) -> Pictures:
    if not any(own):
        return Pictures(sources)
    return Pictures(sources, *as_labels(own))


def _with_synsets(
    table: _Table, sources: tuple[Path, ...], cells: list[Any], single: list[Any] | None
) -> Pictures:
    """One category for each WordNet id, whatever its name."""
    synsets = [_text(cell) for cell in cells]
    names = [_text(cell) for cell in single] if single else [""] * len(cells)
    words: dict[str, str] = {}
    for place, synset, name in zip(table.places, synsets, names, strict=True):
        where = f"{table.path}: {table.unit} {place}"
        if not is_synset(synset):
            raise DataError(f"{where}: {synset!r} is no WordNet id such as n02123045")
        if name and words.setdefault(synset, name) != name:
            raise DataError(f"{where}: {synset} is {name!r}, but {words[synset]!r} further up")
    labels, ids = as_labels([[synset] for synset in synsets])
    known = dict(zip(ids, synset_names(ids, []), strict=True)) | words
    return Pictures(sources, labels, tell_apart([known[i] for i in ids], ids, table.path), ids)
