"""Codes in NumPy's files: alone in ``.npy``, with sources, labels and metadata in ``.npz``.

The arrays of a ``.npz`` file are ``codes`` (n, bytes), ``ids``, ``paths`` ("" for none),
``labels_json`` and ``metadata_json`` (JSON, a text each), ``contents`` (hexadecimal, "" for none),
``n_bits``, ``model`` (the sha256 of its file), ``format`` and ``tally`` (the number of items and
the sum of their checksums). What ``zshash encode`` writes is read, too.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash.collection.exchange.batches import Batch, Header, check_header, checked, checksums
from zshash.collection.exchange.sums import check_sums, writing_with_sums
from zshash.collection.exchange.targets import exported
from zshash.collection.operations.fields import names_of
from zshash.collection.storage.rows import to_text
from zshash.collection.storage.state import Tally
from zshash.datasets import DataError
from zshash.datasets.tables import known_rows, read_numpy

__all__ = ["read_npy", "read_npz", "write_npy", "write_npz"]

FORMAT_VERSION = 1
MAX_TEXT_BYTES = 2**31  # NumPy gives each text of an array as many bytes as the longest
OURS = ("ids", "paths", "labels_json", "metadata_json", "contents")


def write_npy(path: Path, codes: NDArray[np.uint8], header: Header) -> None:
    """Write the codes alone, and their checksum in ``FILE.sha256``."""
    with writing_with_sums([path], header, len(codes)) as (file,):
        np.save(file, codes, allow_pickle=False)


def read_npy(path: Path, wanted: Header) -> Iterator[Batch]:
    """All codes as one batch."""
    said = check_sums(path)
    arrays = read_numpy(path)
    if list(arrays) != ["X"]:
        raise DataError(f"{path}: several arrays, as in a .npz file; give it that suffix")
    batch = checked(path, Batch(arrays["X"]), wanted.n_bits)
    said.check(path, len(batch.codes), wanted)
    yield batch


def write_npz(path: Path, batches: list[Batch], header: Header) -> None:
    """Write codes with all columns of the batches."""
    texts = {
        "paths": [source or "" for batch in batches for source in batch.sources or []],
        "labels_json": [to_text(own) for batch in batches for own in batch.labels or []],
        "metadata_json": [to_text(own) for batch in batches for own in batch.metadata or []],
        "contents": [(own or b"").hex() for batch in batches for own in batch.contents or []],
    }
    arrays: dict[str, Any] = {name: _as_array(path, name, own) for name, own in texts.items()}
    arrays["codes"] = np.concatenate([batch.codes for batch in batches])
    arrays["ids"] = np.concatenate([batch.ids for batch in batches if batch.ids is not None])
    arrays["tally"] = _tally(batches)
    arrays |= {"n_bits": header.n_bits, "model": header.model or "", "format": FORMAT_VERSION}
    with exported(path) as file:
        np.savez_compressed(file, **arrays)


def _tally(batches: Sequence[Batch]) -> str:
    tally = Tally()
    for batch in batches:
        tally = tally.plus(checksums(batch))
    return f"{tally.n} {tally.digest}"


def _as_array(path: Path, name: str, texts: list[str]) -> NDArray[np.str_]:
    longest = max(map(len, texts), default=0)
    if 4 * longest * len(texts) > MAX_TEXT_BYTES:
        raise DataError(
            f"{path}: {name} of up to {longest} characters for {len(texts)} items are too much "
            "for a .npz file; export to .parquet"
        )
    return np.array(texts, dtype=np.str_)


def read_npz(path: Path, wanted: Header) -> Iterator[Batch]:
    """All codes as one batch."""
    arrays = read_numpy(path)
    codes = arrays.get("codes")
    if codes is None or codes.ndim != 2:
        holds = ", ".join(arrays) or "nothing"
        raise DataError(f"{path}: no table of codes under the name codes (it holds {holds})")
    _check_facts(path, arrays, wanted)
    if not any(name in arrays for name in ("format", "tally", *OURS[2:])):
        yield checked(path, _encoded(path, arrays, codes), wanted.n_bits)
        return
    batch = checked(path, _ours(path, arrays, codes), wanted.n_bits)
    if str(arrays.get("tally")) != _tally([batch]):
        raise DataError(f"{path}: damaged, its codes are not those that were exported")
    yield batch


def _check_facts(path: Path, arrays: Mapping[str, NDArray[Any]], wanted: Header) -> None:
    version = str(arrays.get("format", FORMAT_VERSION))
    if version != str(FORMAT_VERSION):
        raise DataError(
            f"{path}: written in format {version}, this zshash reads {FORMAT_VERSION}: upgrade it"
        )
    check_header(path, str(arrays.get("n_bits", "")), str(arrays.get("model", "")), wanted)


def _ours(path: Path, arrays: Mapping[str, NDArray[Any]], codes: NDArray[np.uint8]) -> Batch:
    n = len(codes)
    for name in OURS:
        own = arrays.get(name)
        if own is None or own.shape != (n,) or own.dtype.kind != ("i" if name == "ids" else "U"):
            raise DataError(f"{path}: damaged, {name} is not an entry for each of the {n} codes")
    try:
        return Batch(
            codes,
            arrays["ids"],
            [own or None for own in arrays["paths"].tolist()],
            [json.loads(own) for own in arrays["labels_json"].tolist()],
            [json.loads(own) for own in arrays["metadata_json"].tolist()],
            [bytes.fromhex(own) or None for own in arrays["contents"].tolist()],
        )
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: damaged, what it says of the codes is no JSON") from error


def _encoded(path: Path, arrays: Mapping[str, NDArray[Any]], codes: NDArray[np.uint8]) -> Batch:
    """Batch from a file of ``zshash encode``, where labels are numbers of named categories."""
    if not len(codes):
        return Batch(codes)
    rows = known_rows(path, arrays, len(codes))
    labels = None if rows["labels"] is None else names_of(rows["labels"], rows["names"])
    sources = [own or None for own in rows["paths"]] if rows["paths"] else None
    return Batch(codes, None, sources, labels)
