"""Codes go to other programs and come back, with what is known of them.

The suffix of a file says how it is written: ``.faiss`` (an index that faiss reads; codes only),
``.parquet`` (everything, in columns; for collections of any size), ``.npz`` (everything, in NumPy
arrays) or ``.npy`` (codes only).
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from zshash.collection.batches import Batch, Header, from_items, parts
from zshash.collection.faiss_files import read_faiss, write_faiss
from zshash.collection.numpy_files import read_npy, read_npz, write_npy, write_npz
from zshash.collection.parquet_files import read_parquet, write_parquet
from zshash.collection.rows import Added
from zshash.datasets import DataError

if TYPE_CHECKING:
    from zshash.collection.collection import Collection

__all__ = ["export_codes", "import_codes"]

How = TypeVar("How")


def export_codes(collection: "Collection", path: str | Path) -> dict[str, Any]:
    """Write the codes of a collection to a file, whole or not at all.

    Parameters
    ----------
    collection : Collection
    path : path-like
        Ends in ``.faiss``, ``.parquet``, ``.npz`` or ``.npy``.

    Returns
    -------
    dict
        Where the codes are (``output``), how many (``n``), how long (``bits``), the size of the
        file (``bytes``), and where the ids are if beside it (``ids``).
    """
    path = Path(path)
    write = _for_suffix(path, WRITERS)
    with collection._store.reading():  # one state, whatever others write meanwhile
        n, beside = write(collection, path)
    facts = {"output": str(path), "n": n, "bits": collection.n_bits, "bytes": path.stat().st_size}
    return facts | ({"ids": str(beside)} if beside else {})


def import_codes(collection: "Collection", path: str | Path) -> Added:
    """Add the codes of a file to a collection, under new ids.

    Parameters
    ----------
    collection : Collection
        With codes of the same length.
    path : path-like
        What `export_codes` or ``zshash encode`` wrote, or faiss as an ``IndexBinaryFlat``.

    Returns
    -------
    Added
        As from `Collection.add_codes`: an item whose content is there already is left out.

    Raises
    ------
    DataError
        If the file does not hold such codes; then nothing is added.
    """
    path = Path(path)
    read = _for_suffix(path, READERS)
    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    found = [_add(collection, batch) for batch in read(path, _header(collection))]
    return Added(
        np.concatenate([np.empty(0, dtype=np.int64), *(added.ids for added in found)]),
        np.concatenate([np.empty(0, dtype=np.int64), *(added.duplicates for added in found)]),
        tuple(failure for added in found for failure in added.failures),
    )


def _for_suffix(path: Path, known: dict[str, How]) -> How:
    if path.suffix.lower() not in known:
        raise DataError(f"{path}: codes lie in {', '.join(known)} files; end its name in one")
    return known[path.suffix.lower()]


def _add(collection: "Collection", batch: Batch) -> Added:
    return collection.add_codes(
        batch.codes,
        sources=batch.sources,
        labels=batch.labels,
        metadata=batch.metadata,
        contents=batch.contents,
    )


def _batches(collection: "Collection") -> Iterator[Batch]:
    """All items, at least one batch of them, if with none in it."""
    ids = collection.ids
    for part in parts(len(ids)):
        yield from_items(collection.items(ids[part]), collection.n_bits)
    if not len(ids):
        yield from_items([], collection.n_bits)


def _header(collection: "Collection") -> Header:
    return Header(collection.n_bits, collection.info()["model"])


def _to_faiss(collection: "Collection", path: Path) -> tuple[int, Path | None]:
    index = collection.index
    return len(index), write_faiss(path, index.codes, index.ids, collection.n_bits)


def _to_npy(collection: "Collection", path: Path) -> tuple[int, None]:
    codes = collection.index.codes
    write_npy(path, codes)
    return len(codes), None


def _to_npz(collection: "Collection", path: Path) -> tuple[int, None]:
    batches = list(_batches(collection))
    write_npz(path, batches, _header(collection))
    return sum(len(batch.codes) for batch in batches), None


def _to_parquet(collection: "Collection", path: Path) -> tuple[int, None]:
    return write_parquet(path, _batches(collection), _header(collection)), None


WRITERS: dict[str, Callable[["Collection", Path], tuple[int, Path | None]]] = {
    ".faiss": _to_faiss,
    ".parquet": _to_parquet,
    ".npz": _to_npz,
    ".npy": _to_npy,
}
READERS: dict[str, Callable[[Path, Header], Iterator[Batch]]] = {
    ".faiss": read_faiss,
    ".parquet": read_parquet,
    ".npz": read_npz,
    ".npy": read_npy,
}
