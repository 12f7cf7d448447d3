"""Codes with all other columns in a Parquet file, written and read group by group.

Columns: ``id`` (int64), ``code`` (fixed-size binary), ``path`` (string), ``labels`` (list of
strings), ``metadata`` (string, JSON), ``content`` (binary). The schema's metadata says
``zshash.format``, ``zshash.n_bits`` and ``zshash.model``.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zshash._extras import needs
from zshash.codes import code_bytes
from zshash.collection.exchange.batches import (
    BATCH_ROWS,
    Batch,
    Header,
    check_header,
    checked,
    checksums,
)
from zshash.collection.exchange.targets import exported
from zshash.collection.storage.rows import to_text
from zshash.collection.storage.state import Tally
from zshash.datasets import DataError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["read_parquet", "write_parquet"]

FORMAT_VERSION = 1
TALLY = b"zshash.tally"  # the number of rows and the sum of their checksums
COLUMNS = ("id", "code", "path", "labels", "metadata", "content")


def write_parquet(path: Path, batches: Iterable[Batch], header: Header) -> int:
    """Write the batches, each as a group of rows; return the number of rows."""
    with needs("parquet"):
        import pyarrow.parquet as pq
    schema = _schema(header)
    options = {"compression": "zstd", "write_page_checksum": True}
    tally = Tally()
    with exported(path) as file, pq.ParquetWriter(file, schema, **options) as writer:
        for batch in batches:
            writer.write_batch(_record(path, batch, schema))
            tally = tally.plus(checksums(batch))
        writer.add_key_value_metadata({TALLY: f"{tally.n} {tally.digest}"})
    return tally.n


def _schema(header: Header) -> "pa.Schema":
    import pyarrow as pa

    kinds = (
        pa.int64(),
        pa.binary(code_bytes(header.n_bits)),
        pa.string(),
        pa.list_(pa.string()),
        pa.string(),
        pa.binary(),
    )
    facts = {"format": FORMAT_VERSION, "n_bits": header.n_bits, "model": header.model or ""}
    return pa.schema(
        list(zip(COLUMNS, kinds, strict=True)),
        metadata={f"zshash.{name}": str(value) for name, value in facts.items()},
    )


def _record(path: Path, batch: Batch, schema: "pa.Schema") -> "pa.RecordBatch":
    import pyarrow as pa

    assert batch.ids is not None
    columns: tuple[Any, ...] = (
        batch.ids,
        [row.tobytes() for row in batch.codes],
        batch.sources,
        batch.labels,
        [to_text(own) for own in batch.metadata or []],
        batch.contents,
    )
    try:
        return pa.record_batch(
            [pa.array(own, kind) for own, kind in zip(columns, schema.types, strict=True)], schema
        )
    except UnicodeEncodeError:
        raise DataError(
            f"{path}: a path or a label is no Unicode, which Parquet can not hold; export to .npz"
        ) from None


def read_parquet(path: Path, wanted: Header) -> Iterator[Batch]:
    """Batches of codes; the whole file is checked before the first batch is yielded."""
    with needs("parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            _check_schema(path, file.schema_arrow, wanted)
            _check_rows(path, file, wanted.n_bits)
            yield from _batches(path, file, wanted.n_bits)
    except (pa.ArrowException, OSError, UnicodeDecodeError, MemoryError) as error:
        raise DataError(f"{path}: not a Parquet file, or damaged ({_line(error)})") from error


def _line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]


def _check_schema(path: Path, schema: "pa.Schema", wanted: Header) -> None:
    facts = {key: value.decode(errors="replace") for key, value in (schema.metadata or {}).items()}
    version = facts.get(b"zshash.format")
    if version is None or schema.names != list(COLUMNS):
        raise DataError(f"{path}: not a file of codes that zshash exported")
    if version != str(FORMAT_VERSION):
        raise DataError(
            f"{path}: written in format {version}, this zshash reads {FORMAT_VERSION}: upgrade it"
        )
    own = facts.get(b"zshash.n_bits", ""), facts.get(b"zshash.model", "")
    check_header(path, *own, wanted)
    if schema.types != _schema(wanted).types:
        raise DataError(f"{path}: its columns are not of the types that zshash writes")


def _check_rows(path: Path, file: "pq.ParquetFile", n_bits: int) -> None:
    """Refuse rows that differ from those written, if the file holds the sum of their checksums."""
    tally = Tally()
    for batch in _batches(path, file, n_bits):
        tally = tally.plus(checksums(checked(path, batch, n_bits)))
    expected = (file.metadata.metadata or {}).get(TALLY)
    if expected not in (None, f"{tally.n} {tally.digest}".encode()):
        raise DataError(f"{path}: damaged, its rows are not those that were exported")


def _batches(path: Path, file: "pq.ParquetFile", n_bits: int) -> Iterator[Batch]:
    for record in file.iter_batches(BATCH_ROWS):
        yield _batch(path, record.to_pydict(), n_bits)


def _batch(path: Path, columns: dict[str, list[Any]], n_bits: int) -> Batch:
    if any(None in columns[name] for name in ("id", "code", "labels", "metadata")):
        raise DataError(f"{path}: a row without id, code, labels or metadata")
    codes = np.frombuffer(b"".join(columns["code"]), dtype=np.uint8)
    try:
        metadata = [json.loads(own) for own in columns["metadata"]]
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: metadata that is no JSON") from error
    return Batch(
        codes.reshape(len(columns["code"]), code_bytes(n_bits)),
        np.array(columns["id"], dtype=np.int64),
        columns["path"],
        columns["labels"],
        metadata,
        columns["content"],
    )
