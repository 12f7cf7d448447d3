"""Codes of pictures or features, in a file with what is known of each."""

import hashlib
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash._files import whole_file
from zshash.datasets import DataError, Dataset, Pictures
from zshash.hashing import load, read_header
from zshash.images import PictureReader

__all__ = ["Codes", "Encoder", "encode_data", "known", "load_codes"]


@dataclass(frozen=True)
class Codes:
    """Packed codes, a row each, and what is known of them.

    Attributes
    ----------
    packed : ndarray of shape (n, bytes), uint8
    paths : ndarray of shape (n,), str, or None
    labels : ndarray of shape (n,) or (n, c), or None
        As in `zshash.datasets.Dataset`.
    names : ndarray of str
    """

    packed: NDArray[np.uint8]
    paths: NDArray[np.str_] | None = None
    labels: NDArray[Any] | None = None
    names: NDArray[np.str_] | None = None

    def describe(self, row: int) -> dict[str, Any]:
        """Row, path and category names of an item, as far as they are known."""
        facts: dict[str, Any] = {"row": row}
        if self.paths is not None:
            facts["path"] = str(self.paths[row])
        if self.labels is not None and self.names is not None:
            own = self.labels[row]
            numbers = np.atleast_1d(own) if self.labels.ndim == 1 else np.flatnonzero(own)
            facts["labels"] = [str(self.names[number]) for number in numbers]
        return facts


class Encoder:
    """A model from a file, with the reader for the pictures that it can hash."""

    def __init__(self, model: Path, reader: PictureReader) -> None:
        self.hasher = load(model)
        self.notes = read_header(model)["notes"]
        self.model, self._reader = model, reader
        self.checksum = hashlib.sha256(model.read_bytes()).hexdigest()

    def read(self, source: str) -> Dataset:
        """Features that the model can hash; pictures go through the model's own extractor."""
        data = self._reader.open(source)
        own = self.notes.get("extractor")
        if isinstance(data, Pictures) and isinstance(own, dict):
            self._reader = self._reader.like(own)
        dataset = self._reader.features(data)
        wanted, found = self.hasher.n_features_in_, dataset.X.shape[1]
        if found != wanted:
            raise DataError(
                f"{source}: {found} features for each sample, but {self.model} was trained on "
                f"{wanted} ({self.notes.get('features', 'of unknown origin')})"
            )
        return dataset

    def encode(self, dataset: Dataset) -> NDArray[np.uint8]:
        """Packed codes (n, bytes)."""
        packed: NDArray[np.uint8] = self.hasher.encode(dataset.X)
        return packed


def encode_data(source: str, model: Path, output: Path, reader: PictureReader) -> dict[str, Any]:
    """Write the packed codes of some data: with paths and labels to .npz, else alone, as .npy."""
    encoder = Encoder(model, reader)
    dataset = encoder.read(source)
    packed = encoder.encode(dataset)
    with whole_file(output) as file:
        if output.suffix == ".npz":
            np.savez_compressed(file, codes=packed, model=encoder.checksum, **known(dataset))
        else:
            np.save(file, packed, allow_pickle=False)
    return {"n": len(packed), "bits": int(encoder.hasher.n_bits), "bytes": packed.nbytes}


def known(dataset: Dataset) -> dict[str, Any]:
    """All that is known of the samples, as arrays."""
    arrays: dict[str, Any] = {}
    if dataset.paths:
        arrays["paths"] = np.array(dataset.paths)
    if dataset.labels is not None:
        arrays |= {"y": dataset.labels, "names": np.array(dataset.names)}
    if dataset.synsets:
        arrays["wnids"] = np.array(dataset.synsets)
    return arrays


def load_codes(path: Path, encoder: Encoder) -> Codes:
    """Codes that `encode_data` wrote, with the same model.

    Raises
    ------
    DataError
        If the file does not hold such codes.
    """
    try:
        with path.open("rb") as file:
            content = np.load(file, allow_pickle=False)
            arrays = {"codes": content} if isinstance(content, np.ndarray) else dict(content)
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error, KeyError) as error:
        raise DataError(f"{path}: not a file of codes, or damaged") from error
    packed, n_bytes = arrays.get("codes"), (encoder.hasher.n_bits + 7) // 8
    if packed is None or packed.ndim != 2 or packed.dtype != np.uint8:
        raise DataError(f"{path}: not a file of codes: zshash encode writes them")
    if packed.shape[1] != n_bytes or arrays.get("model", encoder.checksum) != encoder.checksum:
        raise DataError(f"{path}: codes of another model than {encoder.model}: encode again")
    known = {key: arrays.get(key) for key in ("paths", "y", "names")}
    if any(
        array is not None and len(array) != len(packed) for array in (known["paths"], known["y"])
    ):
        raise DataError(f"{path}: paths or labels are not as many as codes")
    return Codes(packed, known["paths"], known["y"], known["names"])
