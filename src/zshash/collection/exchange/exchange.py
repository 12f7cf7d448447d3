"""Export and import of codes, with sources, labels and metadata.

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
from zshash.collection.exchange.batches import Batch, Header, from_items, parts
from zshash.collection.exchange.faiss_files import read_faiss, write_faiss
from zshash.collection.exchange.numpy_files import read_npy, read_npz, write_npy, write_npz
from zshash.collection.exchange.parquet_files import read_parquet, write_parquet
from zshash.collection.exchange.sums import sums_beside
from zshash.collection.results import Added
from zshash.collection.storage.tables import all_rows, codes_of
from zshash.datasets import DataError
from zshash.index import HammingIndex
from zshash.index._milvus_address import Address

if TYPE_CHECKING:
    from zshash.collection.collection import Collection
    from zshash.index.milvus import MilvusIndex

__all__ = ["export_codes", "export_to_server", "import_codes"]

How = TypeVar("How")
Written = tuple[int, dict[str, Path]]  # number of codes; files beside that of the codes


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
        file (``bytes``), and, if they are in files beside it, where the ids are (``ids``) and the
        checksums (``sha256``).
    """
    path = Path(path)
    write = _for_suffix(path, WRITERS)
    with collection._store.reading() as state:  # one state, whatever others write meanwhile
        n, beside = write(collection, path, Header(state.n_bits, state.model))
    facts = {"output": str(path), "n": n, "bits": state.n_bits, "bytes": path.stat().st_size}
    return facts | {name: str(own) for name, own in beside.items()}


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
        closing(_empty(place, Header(state.n_bits, state.model))) as index,
        store.looking() as connection,
        store.bar(state.items.n) as bar,
    ):
        for rows in all_rows(connection, store.folder):
            ids, codes = codes_of(rows, code_bytes(state.n_bits))
            index.put(codes, ids)
            bar.update(len(ids))
    return {"output": str(place), "n": state.items.n, "bits": state.n_bits}


def _empty(place: Address, header: Header) -> "MilvusIndex":
    """Empty collection of a server, which is not the index of a zshash collection."""
    from zshash.index.milvus import MilvusIndex, notes_at

    notes = notes_at(place) or {}
    index = MilvusIndex(place, header.n_bits, {"model": header.model or ""})
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
    OtherModel
        If the collection gets another model meanwhile, which only happens where the lock of its
        writer got lost; then nothing is added from there on.
    """
    path = Path(path)
    read = _for_suffix(path, READERS)
    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    with collection._store.writing() as state:  # from here on, nobody else changes the model
        batches = read(path, Header(state.n_bits, state.model))
        found = [_add(collection, batch, state.model) for batch in batches]
    return Added(
        np.concatenate([np.empty(0, dtype=np.int64), *(added.ids for added in found)]),
        np.concatenate([np.empty(0, dtype=np.int64), *(added.duplicates for added in found)]),
        tuple(failure for added in found for failure in added.failures),
    )


def _for_suffix(path: Path, known: dict[str, How]) -> How:
    if path.suffix.lower() not in known:
        raise DataError(f"{path}: codes lie in {', '.join(known)} files; end its name in one")
    return known[path.suffix.lower()]


def _add(collection: "Collection", batch: Batch, model: str) -> Added:
    return collection.add_codes(
        batch.codes,
        sources=batch.sources,
        labels=batch.labels,
        metadata=batch.metadata,
        contents=batch.contents,
        model=model,
    )


def _batches(collection: "Collection") -> Iterator[Batch]:
    """All items in batches; an empty collection gives one empty batch."""
    ids = collection.ids
    for part in parts(len(ids)):
        yield from_items(collection.items(ids[part]), collection.n_bits)
    if not len(ids):
        yield from_items([], collection.n_bits)


def _codes(collection: "Collection") -> HammingIndex:
    with collection._store.reading() as state:
        return collection._store.in_memory(state)


def _to_faiss(collection: "Collection", path: Path, header: Header) -> Written:
    index = _codes(collection)
    ids = write_faiss(path, index.codes, index.ids, header)
    return len(index), ({"ids": ids} if ids else {}) | {"sha256": sums_beside(path)}


def _to_npy(collection: "Collection", path: Path, header: Header) -> Written:
    codes = _codes(collection).codes
    write_npy(path, codes, header)
    return len(codes), {"sha256": sums_beside(path)}


def _to_npz(collection: "Collection", path: Path, header: Header) -> Written:
    batches = list(_batches(collection))
    write_npz(path, batches, header)
    return sum(len(batch.codes) for batch in batches), {}


def _to_parquet(collection: "Collection", path: Path, header: Header) -> Written:
    return write_parquet(path, _batches(collection), header), {}


WRITERS: dict[str, Callable[["Collection", Path, Header], Written]] = {
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
