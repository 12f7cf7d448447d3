"""Files of features and files of codes, with paths and labels."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zshash import scale
from zshash._files import whole_file
from zshash.datasets import DataError
from zshash.datasets.data import Labels
from zshash.datasets.tables import as_arrays, known_rows, read_numpy
from zshash.images import PictureReader
from zshash.learning.model import Model
from zshash.learning.sharding import are_shards, open_sharded

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Codes", "encode_data", "extract_data", "load_codes"]


def extract_data(source: str, output: Path, reader: PictureReader) -> dict[str, Any]:
    """Write features with paths and labels to a .npz file, as `load_features` reads it."""
    if output.suffix != ".npz":
        raise DataError(f"{output}: features are written to .npz files: choose such a name")
    dataset = reader.read(source)
    with whole_file(output) as file:
        np.savez(file, X=dataset.X, **as_arrays(dataset))
    return {
        "output": str(output),
        "n": len(dataset),
        "dimension": dataset.X.shape[1],
        "extractor": dataset.extractor,
    }


@dataclass(frozen=True)
class Codes:
    """Packed codes, with paths and labels if these are known.

    Attributes
    ----------
    packed : ndarray of shape (n, bytes), uint8
    paths, labels, names
        As in `zshash.datasets.Dataset`.
    """

    packed: NDArray[np.uint8]
    paths: tuple[str, ...] = ()
    labels: Labels | None = None
    names: tuple[str, ...] = ()

    def describe(self, row: int) -> dict[str, Any]:
        """Row, path and category names of an item, as far as they are known."""
        facts: dict[str, Any] = {"row": row}
        if self.paths:
            facts["path"] = self.paths[row]
        if self.labels is not None:
            own = self.labels[row]
            numbers = np.atleast_1d(own) if self.labels.ndim == 1 else np.flatnonzero(own)
            facts["labels"] = [self.names[number] for number in numbers]
        return facts


def encode_data(
    model: Model,
    source: str,
    output: Path,
    *,
    reader: PictureReader,
    client: "Client | None" = None,
    progress: bool = False,
) -> dict[str, Any]:
    """Write the packed codes of some data to a file.

    A .npz file gets the codes with paths and labels, any other file gets the codes alone, as .npy.
    Of a folder of tables, one block of rows is in memory at a time. Its codes are written to a .npy
    file as they are made; for a .npz file all codes are held in memory.

    Parameters
    ----------
    model : Model
    source : str
        Data as `zshash.fit` takes it.
    output : Path
        The file to write.
    reader : PictureReader
        How the source is opened.
    client : distributed.Client, optional
        A Dask cluster that works on tables of features.
    progress : bool
        Show a bar for each pass over a folder of tables.

    Returns
    -------
    dict
        Facts on the codes, ready for JSON.
    """
    has_rows = output.suffix == ".npz"
    more: dict[str, Any] = {}
    if are_shards(source, reader, client is not None):
        data = open_sharded(source, client, progress, with_rows=has_rows)
        dataset = model.features(data.facts(), source)
        target = None if has_rows else output
        packed = scale.encode(
            model.hasher, data.shards, output=target, client=client, progress=progress
        )
        more["shards"] = len(data.shards)
    else:
        dataset = model.read(source)
        packed = model.encode(dataset)
        if not has_rows:
            with whole_file(output) as file:
                np.save(file, packed, allow_pickle=False)
    if has_rows:
        with whole_file(output) as file:
            np.savez_compressed(file, codes=packed, model=model.checksum, **as_arrays(dataset))
    return {
        "output": str(output),
        "n": len(packed),
        "bits": model.n_bits,
        "bytes": packed.nbytes,
        "extractor": dataset.extractor,
        **more,
    }


def load_codes(path: Path, model: Model) -> Codes:
    """Read codes that `encode_data` wrote with the same model.

    Raises
    ------
    DataError
        If the file does not hold such codes.
    """
    arrays = read_numpy(path)
    packed = arrays.get("codes", arrays.get("X"))
    if packed is None or packed.ndim != 2 or packed.dtype != np.uint8:
        raise DataError(f"{path}: not a file of codes: zshash encode writes one")
    n_bytes = (model.n_bits + 7) // 8
    if packed.shape[1] != n_bytes or arrays.get("model", model.checksum) != model.checksum:
        raise DataError(f"{path}: codes of another model than {model.name}: encode the data again")
    rows = known_rows(path, arrays, len(packed))
    return Codes(packed, rows["paths"], rows["labels"], rows["names"])
