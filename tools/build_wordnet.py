"""Make the noun database that ships with the package from the files of WordNet 3.0.

    python tools/build_wordnet.py [FOLDER] [--output src/zshash/semantics/data]

Reads ``data.noun``, ``index.noun`` and ``noun.exc`` and writes ``nouns.npz`` and
``LICENSE.wordnet``. The same input gives the same bytes. Synsets are rows, ordered by offset;
texts are bytes with a line per entry, since every string of an array is as wide as the longest.

=================  ==================================================================
``format``         version of this layout
``offsets``        (N,) offset of every noun synset, the number in ``n02123045``
``below``          (N,) number of different synsets at or below it
``hypernyms``      rows of the hypernyms (``@`` and ``@i``), CSR with ``hypernym_starts``
``names``          text: first lemma of every synset, in its own case
``lemmas``         text: every lemma in lower case
``senses``         rows of the lemma's synsets, first sense first, CSR with ``sense_starts``
``irregular``      text: an irregular plural, then its singulars
=================  ==================================================================
"""

import argparse
import io
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FORMAT = 1
FOLDER = Path("/usr/share/wordnet")
OUTPUT = Path(__file__).resolve().parents[1] / "src" / "zshash" / "semantics" / "data"


class Synset(NamedTuple):
    """The parts of a line of ``data.noun`` that are used."""

    offset: int
    name: str
    hypernyms: list[int]  # offsets


def main(arguments: Sequence[str] | None = None) -> int:
    """Build both files; on an error, print one line to standard error and return 2."""
    parser = argparse.ArgumentParser(description="Make the packaged nouns from WordNet 3.0.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="has data.noun")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="folder to write to")
    options = parser.parse_args(arguments)
    try:
        licence, arrays = build(options.folder)
        options.output.mkdir(parents=True, exist_ok=True)
        write(options.output / "nouns.npz", arrays)
        (options.output / "LICENSE.wordnet").write_text(licence, "utf-8", newline="\n")
    except (OSError, ValueError) as error:
        print(f"build_wordnet: {error}", file=sys.stderr)
        return 2
    except LookupError as error:  # a short line, or an offset that no synset has
        print(f"build_wordnet: damaged files or a mix of versions: {error}", file=sys.stderr)
        return 2
    return 0


def build(folder: Path) -> tuple[str, dict[str, NDArray[np.generic]]]:
    """Licence and arrays from a folder of WordNet's files."""
    header, lines = read(folder, "data.noun")
    licence = licence_text(header)
    synsets = [parse_synset(line) for line in lines]
    row = {synset.offset: i for i, synset in enumerate(synsets)}
    parents = [[row[offset] for offset in synset.hypernyms] for synset in synsets]
    _, lines = read(folder, "index.noun")
    lemmas, senses = parse_index(lines, row)
    _, exceptions = read(folder, "noun.exc")
    return licence, {
        "format": np.array(FORMAT, np.int32),
        "offsets": np.array([synset.offset for synset in synsets], np.uint32),
        "below": count_below(parents),
        **csr("hypernym_starts", "hypernyms", parents),
        "names": text(synset.name for synset in synsets),
        "lemmas": text(lemmas),
        **csr("sense_starts", "senses", senses),
        "irregular": text(" ".join(line.split()) for line in exceptions),
    }


def read(folder: Path, name: str) -> tuple[list[str], list[str]]:
    """Header lines (they begin with two spaces) and the other lines of a database file."""
    path = folder / name
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; on Debian, `apt install wordnet-base`")
    lines = [line for line in path.read_text("utf-8").split("\n") if line.strip()]
    header = [line for line in lines if line.startswith("  ")]
    return header, lines[len(header) :]


def licence_text(header: Iterable[str]) -> str:
    """Text of the header without its line numbers; it must be WordNet 3.0's.

    ImageNet's ids are offsets of exactly this version.
    """
    licence = "".join(re.sub(r"^ +\d+ ", "", line).rstrip() + "\n" for line in header)
    if "WordNet 3.0 Copyright" not in licence:
        raise ValueError("the header of data.noun is not that of WordNet 3.0")
    return licence


def parse_synset(line: str) -> Synset:
    """Offset, first lemma and hypernyms of a line of ``data.noun``.

    >>> parse_synset("00000007 03 n 01 Rex 0 002 @i 00000005 n 0000 ~ 00000009 n 0000 | a dog")
    Synset(offset=7, name='Rex', hypernyms=[5])
    """
    fields = line.split(" | ")[0].split()
    n_words = int(fields[3], 16)
    first = 4 + 2 * n_words + 1
    pointers = (fields[i : i + 2] for i in range(first, first + 4 * int(fields[first - 1]), 4))
    hypernyms = [int(offset) for symbol, offset in pointers if symbol in ("@", "@i")]
    return Synset(int(fields[0]), fields[4], hypernyms)


def parse_index(lines: Iterable[str], row: Mapping[int, int]) -> tuple[list[str], list[list[int]]]:
    """Lemmas of ``index.noun`` and the rows of their senses, most frequent first."""
    entries = [line.split() for line in lines]
    # the third field is the number of offsets at the end of the line
    senses = [[row[int(offset)] for offset in entry[-int(entry[2]) :]] for entry in entries]
    return [entry[0] for entry in entries], senses


def count_below(parents: Sequence[Sequence[int]]) -> NDArray[np.int32]:
    """Number of synsets at or below each; the hierarchy must have one root and no cycle."""
    if sum(not above for above in parents) != 1:
        raise ValueError("the noun hierarchy of data.noun does not have exactly one root")
    below = np.ones(len(parents), np.int32)
    for i in range(len(parents)):
        above = set(climb(parents, i))
        if i in above:
            raise ValueError("the noun hierarchy of data.noun has a cycle")
        below[list(above)] += 1
    return below


def climb(parents: Sequence[Sequence[int]], start: int) -> Iterator[int]:
    """Every row above `start`, once."""
    seen: set[int] = set()
    waiting = list(parents[start])
    while waiting:
        i = waiting.pop()
        if i not in seen:
            seen.add(i)
            waiting += parents[i]
            yield i


def csr(starts: str, values: str, rows: Sequence[Sequence[int]]) -> dict[str, NDArray[np.int32]]:
    """Two arrays: all lists end to end, and the start of each list."""
    ends = np.cumsum([len(row) for row in rows])
    flat = [value for row in rows for value in row]
    return {starts: np.array([0, *ends], np.int32), values: np.array(flat, np.int32)}


def text(lines: Iterable[str]) -> NDArray[np.uint8]:
    """Lines as an array of UTF-8 bytes."""
    return np.frombuffer("\n".join(lines).encode(), np.uint8)


def write(path: Path, arrays: Mapping[str, NDArray[np.generic]]) -> None:
    """Write an npz file that does not depend on the time, the user or the system."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            data = little_endian_npy(array)
            archive.writestr(entry, data, compresslevel=9)


def little_endian_npy(array: NDArray[np.generic]) -> bytes:
    """Bytes of an npy file, the same on every machine."""
    buffer = io.BytesIO()
    np.lib.format.write_array(
        buffer, array.astype(array.dtype.newbyteorder("<")), version=(1, 0), allow_pickle=False
    )
    return buffer.getvalue()


if __name__ == "__main__":
    sys.exit(main())
