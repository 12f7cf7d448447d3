"""Reading tables of word vectors: word2vec and GloVe text, fastText's ``.vec``, and npz.

The kind of a file follows from its first bytes, not from its name.
"""

import gzip
import zipfile
import zlib
from array import array
from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash.semantics.names import normalise

__all__ = ["read_vectors"]

GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
MAX_DIMENSION = 1 << 20

Table = tuple[list[str], NDArray[np.generic]]
Lines = Iterator[tuple[int, bytes]]


def read_vectors(path: Path, wanted: Collection[str] | None = None) -> Table:
    """Words of a file and their vectors, (n, p).

    Parameters
    ----------
    path : Path
    wanted : set of str, optional
        Keep only words whose `normalise`-d form is one of these.
    """
    if not path.is_file():
        raise FileNotFoundError(f"no file of word vectors at {path}")
    try:
        with path.open("rb") as file:
            is_npz = file.read(len(ZIP)) == ZIP
        return _read_npz(path, wanted) if is_npz else _read_text(_lines(path), wanted)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    except (EOFError, gzip.BadGzipFile, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{path}: the compressed file is damaged or cut off") from error


def _read_npz(path: Path, wanted: Collection[str] | None) -> Table:
    # opened here, for NumPy leaves a damaged archive open
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        if not {"words", "vectors"} <= set(archive.files):
            raise ValueError(f"expected arrays 'words' and 'vectors', found {archive.files}")
        words, vectors = archive["words"], archive["vectors"]
    if words.ndim != 1 or words.dtype.kind not in "US":
        raise ValueError("'words' must be a list of strings")
    if words.dtype.kind == "S":
        words = np.char.decode(words, "utf-8")
    if wanted is None:
        return words.tolist(), vectors
    keep = [i for i, word in enumerate(words.tolist()) if normalise(word) in wanted]
    return words[keep].tolist(), vectors[keep]


def _lines(path: Path) -> Lines:
    """Numbered lines that are not blank, from a plain or a gzip file."""
    with path.open("rb") as file:
        packed = file.read(len(GZIP)) == GZIP
    with gzip.open(path) if packed else path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if not line.isspace():
                yield number, line


def _read_text(lines: Lines, wanted: Collection[str] | None) -> Table:
    first = next(lines, None)
    if first is None:
        raise ValueError("the file is empty")
    count, dimension = _header(first[1])
    if count is None:
        lines = chain([first], lines)
    starts = None if wanted is None else {form.split()[0] for form in wanted if form}
    words: list[str] = []
    values = array("f")
    n_lines = 0
    for number, line in lines:
        n_lines += 1
        if starts is not None and not _starts_with(line, starts):
            continue
        word, fields = _split(line, dimension, number)
        if wanted is None or normalise(word) in wanted:
            words.append(word)
            values.extend(_numbers(fields, number))
    if count not in (None, n_lines):
        raise ValueError(f"the first line promises {count} words, but {n_lines} follow")
    return words, np.frombuffer(values, np.float32).reshape(-1, dimension)


def _header(line: bytes) -> tuple[int | None, int]:
    """Number of words (None in a file without a header) and dimension."""
    fields = line.split()
    if len(fields) == 2 and fields[0].isdigit() and fields[1].isdigit():
        count, dimension = int(fields[0]), int(fields[1])
    else:
        count, dimension = None, _trailing_numbers(fields[1:])
    if not 0 < dimension < MAX_DIMENSION:
        raise ValueError("line 1 is neither 'count dimension' nor a word and its numbers")
    return count, dimension


def _trailing_numbers(fields: list[bytes]) -> int:
    """How many fields at the end are numbers: the rest belongs to a word with spaces."""
    n_numbers = 0
    while n_numbers < len(fields) and _is_number(fields[-1 - n_numbers]):
        n_numbers += 1
    return n_numbers


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _starts_with(line: bytes, starts: Collection[str]) -> bool:
    """Whether the first word of a line may begin a wanted name; other lines need no splitting."""
    start = normalise(line.split(None, 1)[0].decode("utf-8", "replace")).split()
    return not start or start[0] in starts


def _split(line: bytes, dimension: int, number: int) -> tuple[str, list[bytes]]:
    """Word and numbers of a line, split from the right as the word may hold spaces.

    >>> _split(b"at home 0.5 -1", dimension=2, number=7)
    ('at home', [b'0.5', b'-1'])
    """
    try:
        line.decode()
    except UnicodeDecodeError:
        raise ValueError(
            f"line {number} is not UTF-8 text (word2vec's binary format is not read)"
        ) from None
    # bytes split at ASCII spaces only; real vocabularies hold words that are a no-break space
    word, *fields = line.rsplit(None, dimension)
    rest = word.split()
    if len(fields) < dimension or (len(rest) > 1 and _is_number(rest[-1])):
        n_numbers = len(fields) + _trailing_numbers(rest[1:])
        raise ValueError(f"line {number} has {n_numbers} numbers where {dimension} are expected")
    return word.decode(), fields


def _numbers(fields: list[bytes], number: int) -> list[float]:
    try:
        return [float(field) for field in fields]
    except ValueError:
        bad = next(field for field in fields if not _is_number(field))
        raise ValueError(f"line {number}: {bad.decode()!r} is not a number") from None
