"""Batches of codes with sources, labels and metadata, as files are written and read."""

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash.codes import check_codes, code_bytes
from zshash.collection.operations.fields import (
    check_contents,
    check_labels,
    check_metadata,
    check_sources,
)
from zshash.collection.storage.rows import Item
from zshash.datasets import DataError

__all__ = ["Batch", "Header", "check_header", "checked", "checksums", "from_items", "parts"]

BATCH_ROWS = 65_536


class Header(NamedTuple):
    """What a file says of all its codes: their length, and the sha256 of the model's file."""

    n_bits: int
    model: str | None = None


class Batch(NamedTuple):
    """Codes of some items with further columns; a column that is unknown is None.

    Attributes
    ----------
    codes : ndarray of shape (n, bytes), uint8
    ids : ndarray of shape (n,), int64
    sources, labels, metadata, contents : list or None
        As `zshash.Collection.add_codes` takes them.
    """

    codes: NDArray[np.uint8]
    ids: NDArray[np.int64] | None = None
    sources: list[str | None] | None = None
    labels: list[list[str]] | None = None
    metadata: list[dict[str, Any]] | None = None
    contents: list[bytes | None] | None = None


def from_items(items: list[Item], n_bits: int) -> Batch:
    """The batch of some items of a collection."""
    packed = np.array(bytearray().join(item.code for item in items), dtype=np.uint8)
    return Batch(
        packed.reshape(len(items), code_bytes(n_bits)),
        np.array([item.id for item in items], dtype=np.int64),
        [item.source for item in items],
        [list(item.labels) for item in items],
        [item.metadata for item in items],
        [item.content for item in items],
    )


def checksums(batch: Batch) -> list[int]:
    """CRC-32 of each item of a batch that has all columns, over JSON in a fixed form."""
    columns = (batch.ids, batch.codes, batch.sources, batch.labels, batch.metadata, batch.contents)
    found = []
    for number, code, *known, content in zip(*columns, strict=True):  # type: ignore[arg-type]
        facts = [int(number), code.tobytes().hex(), *known, content and content.hex()]
        found.append(zlib.crc32(json.dumps(facts, sort_keys=True).encode()))
    return found


def parts(n: int) -> Iterator[slice]:
    """Rows of one batch after the other."""
    for start in range(0, n, BATCH_ROWS):
        yield slice(start, min(start + BATCH_ROWS, n))


def check_header(path: Path, n_bits: str, model: str, wanted: Header) -> None:
    """Refuse codes of another length or model, where the file says what it holds."""
    if n_bits and n_bits != str(wanted.n_bits):
        raise DataError(
            f"{path}: its codes have {n_bits} bits, those of the collection {wanted.n_bits}"
        )
    if model and wanted.model and model != wanted.model:
        raise DataError(
            f"{path}: codes of another model than the collection's, which can not be compared "
            "with them: encode the data again"
        )


def checked(path: Path, batch: Batch, n_bits: int) -> Batch:
    """The same batch, if a collection of this width can take it; otherwise DataError."""
    n, width = len(batch.codes), code_bytes(n_bits)
    if batch.codes.ndim != 2 or batch.codes.shape[1] != width:
        found = f"{batch.codes.shape[-1]} bytes" if batch.codes.ndim == 2 else "no table of bytes"
        raise DataError(f"{path}: its codes have {found}, those of {n_bits} bits have {width}")
    try:
        check_codes("its codes", batch.codes, n_bits)
        check_sources(batch.sources, n)
        check_labels(batch.labels, n)
        check_metadata(batch.metadata, n)
        check_contents(batch.contents, n)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None
    return batch
