"""Codes as faiss keeps them: the file of an ``IndexBinaryFlat``.

=======  ========  =============================================
offset   type      meaning
=======  ========  =============================================
0        4 bytes   ``IBxF``, the kind of index
4        int32     bits of a code, a multiple of 8
8        int32     bytes of a code
12       int64     number of codes
20       uint8     1: the index is trained
21       int32     1: its kind of distance, which says nothing here
25       uint64    bytes of all codes
33                 the codes, one after the other
=======  ========  =============================================

All numbers have their lowest byte first. faiss numbers the codes of such an index 0, 1, …; other
ids lie beside it, in ``FILE.ids.npy``. The checksums of both files are in ``FILE.sha256``.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zshash.codes import code_bytes
from zshash.collection.exchange.batches import Batch, Header, checked
from zshash.collection.exchange.sums import check_sums, writing_with_sums
from zshash.datasets import DataError

__all__ = ["ids_beside", "read_faiss", "write_faiss"]

HEADER = struct.Struct("<4siiqBiQ")
MAGIC, TRAINED, METRIC = b"IBxF", 1, 1


def ids_beside(path: Path) -> Path:
    """Path of the file with the ids of an index."""
    return path.with_name(f"{path.name}.ids.npy")


def write_faiss(
    path: Path, codes: NDArray[np.uint8], ids: NDArray[np.int64], header: Header
) -> Path | None:
    """Write codes, and ids other than 0, 1, … in a file beside them; return its path or None."""
    width = code_bytes(header.n_bits)
    head = HEADER.pack(MAGIC, 8 * width, width, len(codes), TRAINED, METRIC, codes.size)
    beside = ids_beside(path)
    needed = not np.array_equal(ids, np.arange(len(ids)))
    paths = [path, beside] if needed else [path]
    with writing_with_sums(paths, header, len(codes)) as files:
        files[0].write(head)
        files[0].write(np.ascontiguousarray(codes).data if codes.size else b"")
        if needed:
            np.save(files[1], ids, allow_pickle=False)
    if not needed:
        beside.unlink(missing_ok=True)
    return beside if needed else None


def read_faiss(path: Path, wanted: Header) -> Iterator[Batch]:
    """All codes as one batch."""
    said = check_sums(path)
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(HEADER.size)
        n, width = _checked_header(path, head, size)
        codes = np.fromfile(file, dtype=np.uint8, count=n * width).reshape(n, width)
    batch = checked(path, Batch(codes), wanted.n_bits)
    said.check(path, n, wanted)
    yield batch


def _checked_header(path: Path, head: bytes, size: int) -> tuple[int, int]:
    """Number of codes, and bytes of each."""
    if head[:4] != MAGIC:
        if head[:2] in (b"IB", b"Ix", b"Iw"):
            raise DataError(f"{path}: another kind of index than faiss's IndexBinaryFlat")
        raise DataError(f"{path}: not a file of faiss's IndexBinaryFlat")
    if len(head) < HEADER.size:
        raise DataError(f"{path}: cut off inside its header; copy or export it again")
    _, bits, width, n, trained, metric, n_bytes = HEADER.unpack(head)
    fits = bits == 8 * width > 0 and n >= 0 and n_bytes == n * width
    if not fits or (trained, metric) != (TRAINED, METRIC):
        raise DataError(f"{path}: damaged, its header makes no sense; copy or export it again")
    if size != HEADER.size + n_bytes:
        raise DataError(
            f"{path}: damaged, it has {size} bytes and needs {HEADER.size + n_bytes}; "
            "copy or export it again"
        )
    return n, width
