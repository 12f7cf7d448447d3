"""Checksums beside files that have no room for one: ``FILE.sha256``.

``sha256sum -c`` reads such a file, too. Its first line says what the codes are:

    # zshash: 27 codes of 16 bits, model 6c0e…
    9f86…  codes.faiss
    60c1…  codes.faiss.ids.npy
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from zshash.collection.exchange.batches import Header, check_header
from zshash.collection.exchange.targets import exported
from zshash.datasets import DataError

__all__ = ["Summed", "check_sums", "sums_beside", "writing_with_sums"]

FACTS = re.compile(r"# zshash: (\d+) codes of (\d+) bits, model ([0-9a-f]{64})")
DIGEST = re.compile(r"\\?([0-9a-f]{64}) [ *].+")
MOST_BYTES = 2**16


def sums_beside(path: Path) -> Path:
    """Path of the file with the checksums of a file."""
    return path.with_name(f"{path.name}.sha256")


class Hashed:
    """A file that is written to and hashed at the same time."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self._digest = file, hashlib.sha256()

    def write(self, data: bytes | memoryview) -> int:
        """Write bytes."""
        self._digest.update(data)
        return self.file.write(data)

    @property
    def sha256(self) -> str:
        """Checksum of all that was written."""
        return self._digest.hexdigest()


@contextmanager
def writing_with_sums(paths: list[Path], header: Header, n: int) -> Iterator[list[Hashed]]:
    """Files to write, which all get their names at the end, and their checksums after them.

    If the process dies meanwhile, there is no file of checksums, rather than one of other files.
    """
    beside = sums_beside(paths[0])
    with ExitStack() as stack:  # the last one that is entered gets its name first
        sums = stack.enter_context(exported(beside))
        files = [Hashed(stack.enter_context(exported(path))) for path in reversed(paths)][::-1]
        yield files
        sums.write(_text(paths, files, header, n))
        for file in (*(hashed.file for hashed in files), sums):
            _sync(file)
        beside.unlink(missing_ok=True)


def _text(paths: list[Path], files: list[Hashed], header: Header, n: int) -> bytes:
    lines = [f"# zshash: {n} codes of {header.n_bits} bits, model {header.model}"]
    for path, file in zip(paths, files, strict=True):
        name = path.name.replace("\\", "\\\\").replace("\n", "\\n")
        start = "\\" if name != path.name else ""  # as sha256sum says that a name is escaped
        lines.append(f"{start}{file.sha256}  {name}")
    return os.fsencode("".join(f"{line}\n" for line in lines))


def _sync(file: IO[bytes]) -> None:
    """Write a file to the disk; pipes and devices know no such thing."""
    file.flush()
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        os.fsync(file.fileno())


class Summed(NamedTuple):
    """What the checksums beside a file say of its codes, which they agree with."""

    n: int | None = None
    n_bits: str = ""
    model: str = ""

    def check(self, path: Path, n: int, wanted: Header) -> None:
        """Refuse codes of another model, length or number than the file of checksums says."""
        check_header(path, self.n_bits, self.model, wanted)
        if self.n is not None and self.n != n:
            raise DataError(
                f"{path}: it holds {n} codes, but {sums_beside(path).name} says {self.n}: "
                "copy or export both again"
            )


def check_sums(path: Path) -> Summed:
    """Compare a file with its checksum, if there is one beside it, before it is read."""
    beside = sums_beside(path)
    try:
        with beside.open("rb") as file:
            lines = os.fsdecode(file.read(MOST_BYTES)).removesuffix("\n").split("\n")
    except FileNotFoundError:
        return Summed()
    digests = [DIGEST.fullmatch(line) for line in lines if not line.startswith("#")]
    facts = [FACTS.fullmatch(line) for line in lines if line.startswith("#")]
    if not digests or not all(digests) or not all(facts):
        raise DataError(
            f"{beside}: damaged, it holds no checksums: copy or export both files again, or delete "
            "it to go on without"
        )
    _compare(path, digests[0][1])  # type: ignore[index]
    if not facts or facts[0] is None:
        return Summed()
    return Summed(int(facts[0][1]), facts[0][2], facts[0][3])


def _compare(path: Path, sha256: str) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise DataError(
            f"{path}: damaged, or written after {sums_beside(path).name}, which has another "
            "checksum: copy or export both again, or delete the checksums if this file is right"
        )
