"""Codes go to other programs and come back, with what is known of them.

The suffix of a file says how it is written: ``.faiss`` (an index that faiss reads; codes only),
``.parquet`` (everything, in columns; for collections of any size), ``.npz`` (everything, in NumPy
arrays) or ``.npy`` (codes only).
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from zshash.codes import code_bytes
from zshash.collection.batches import Batch, Header, from_items, parts
from zshash.collection.faiss_files import read_faiss, write_faiss
from zshash.collection.numpy_files import read_npy, read_npz, write_npy, write_npz
from zshash.collection.parquet_files import read_parquet, write_parquet
from zshash.collection.rows import Added
from zshash.collection.tables import all_rows, codes_of
from zshash.datasets import DataError
from zshash.index import HammingIndex
from zshash.index._milvus_address import Address

if TYPE_CHECKING:
    from zshash.collection.collection import Collection
    from zshash.index.milvus import MilvusIndex

__all__ = ["export_codes", "export_to_server", "import_codes"]

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


def export_to_server(collection: "Collection", address: str) -> dict[str, Any]:
    """Write the codes of a collection to a Milvus server, under the ids of the items.

    Parameters
    ----------
    collection : Collection
    address : str
        ``milvus://host:port/name``, see `zshash.index.MilvusIndex`; nothing must be there yet.

    Returns
    -------
    dict
        As from `export_codes`, without the size.
    """
    place = Address.parse(address)
    store = collection._store
    with (
        store.reading() as state,
        closing(_empty(place, state.n_bits)) as index,
        store.looking() as connection,
        store.bar(state.items.n) as bar,
    ):
        for rows in all_rows(connection, store.folder):
            ids, codes = codes_of(rows, code_bytes(state.n_bits))
            index.put(codes, ids)
            bar.update(len(ids))
    return {"output": str(place), "n": state.items.n, "bits": state.n_bits}


def _empty(place: Address, n_bits: int) -> "MilvusIndex":
    """A collection of a server that nothing is in, and that is nobody's index."""
    from zshash.index.milvus import MilvusIndex, notes_at

    notes = notes_at(place) or {}
    index = MilvusIndex(place, n_bits)
    n = len(index)
    if n or "owner" in notes:
        index.close()
        raise DataError(
            f"{place}: there is a collection of this name already, with {n} codes: choose another "
            "name"
        )
    return index


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


def _codes(collection: "Collection") -> HammingIndex:
    with collection._store.reading() as state:
        return collection._store.in_memory(state)


def _to_faiss(collection: "Collection", path: Path) -> tuple[int, Path | None]:
    index = _codes(collection)
    return len(index), write_faiss(path, index.codes, index.ids, collection.n_bits)


def _to_npy(collection: "Collection", path: Path) -> tuple[int, None]:
    codes = _codes(collection).codes
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
