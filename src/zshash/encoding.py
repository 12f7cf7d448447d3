"""Codes of pictures or features, in a file with what is known of each."""

import hashlib
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zshash._files import whole_file
from zshash.datasets import DataError, Dataset, Pictures
from zshash.datasets.data import Labels
from zshash.datasets.tables import as_arrays, known_rows, read_numpy
from zshash.hashing import load, read_header
from zshash.images import PictureReader

__all__ = ["Codes", "Encoder", "encode_data", "load_codes"]


@dataclass(frozen=True)
class Codes:
    """Packed codes, a row each, and what is known of them.

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


class Encoder:
    """A model from a file, with the reader for the pictures that it can hash."""

    def __init__(self, model: Path, reader: PictureReader) -> None:
        self.hasher = load(model)
        self.notes = read_header(model)["notes"]
        self.model, self._reader = model, reader
        self._project = self.hasher.frozen_project()
        self._for_pictures: PictureReader | None = None
        self.checksum = hashlib.sha256(model.read_bytes()).hexdigest()

    def open(self, source: str) -> Dataset | Pictures:
        """Pictures or features that a path or the name of a known data set stands for."""
        return self._reader.open(source)

    def read(self, source: str) -> Dataset:
        """Features of all that a path or the name of a known data set stands for."""
        return self.features(self.open(source), source)

    def features(self, data: Dataset | Pictures, source: str) -> Dataset:
        """Features that the model can hash; pictures go through the model's own extractor."""
        reader = self.picture_reader if isinstance(data, Pictures) else self._reader
        dataset = reader.features(data)
        self.check(dataset, source)
        return dataset

    @property
    def picture_reader(self) -> PictureReader:
        """The reader whose features of pictures are those that the model was trained on."""
        if self._for_pictures is None:
            own = self._own_extractor
            self._for_pictures = self._reader.like(own) if own else self._reader
            if own is None:
                warnings.warn(
                    f"{self.model} does not say which network made the features that it was "
                    f"trained on; {self._reader.network.name} makes those of the pictures",
                    UserWarning,
                    stacklevel=4,
                )
        return self._for_pictures

    @property
    def _own_extractor(self) -> dict[str, Any] | None:
        own = self.notes.get("extractor")
        return own if isinstance(own, dict) else None

    def check(self, dataset: Dataset, source: str) -> None:
        """Refuse features that are not of the kind that the model was trained on."""
        self.check_width(source, dataset.X.shape[1])
        own = self._own_extractor
        theirs = dataset.extractor or own
        if own and theirs and theirs.get("fingerprint") != own.get("fingerprint"):
            raise DataError(
                f"{source}: features of {theirs.get('name')}, but {self.model} was trained on "
                f"those of {own.get('name')}, or of other weights"
            )

    def check_width(self, source: str, found: int) -> None:
        """Refuse features of another length than the model was trained on."""
        wanted = self.hasher.n_features_in_
        if found != wanted:
            raise DataError(
                f"{source}: {found} features for each sample, but {self.model} was trained on "
                f"{wanted} ({self.notes.get('features', 'of unknown origin')})"
            )

    def encode(self, dataset: Dataset) -> NDArray[np.uint8]:
        """Packed codes (n, bytes)."""
        return self.hash(dataset.X)

    def hash(self, features: NDArray[np.float32]) -> NDArray[np.uint8]:
        """Packed codes (n, bytes) of features (n, d)."""
        return self.quantize(self.project(features))

    def project(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Real values (n, n_bits) of features (n, d), whose signs are the bits of their codes."""
        projections: NDArray[np.float32] = self._project(features)
        return projections

    def quantize(self, projections: NDArray[np.float32]) -> NDArray[np.uint8]:
        """Packed codes (n, bytes) of what `project` gave."""
        packed: NDArray[np.uint8] = self.hasher.quantize(projections)
        return packed


def encode_data(source: str, model: Path, output: Path, reader: PictureReader) -> dict[str, Any]:
    """Write the packed codes of some data: with paths and labels to .npz, else alone, as .npy."""
    encoder = Encoder(model, reader)
    dataset = encoder.read(source)
    packed = encoder.encode(dataset)
    with whole_file(output) as file:
        if output.suffix == ".npz":
            np.savez_compressed(file, codes=packed, model=encoder.checksum, **as_arrays(dataset))
        else:
            np.save(file, packed, allow_pickle=False)
    return {
        "output": str(output),
        "n": len(packed),
        "bits": int(encoder.hasher.n_bits),
        "bytes": packed.nbytes,
        "extractor": dataset.extractor,
    }


def load_codes(path: Path, encoder: Encoder) -> Codes:
    """Codes that `encode_data` wrote, with the same model.

    Raises
    ------
    DataError
        If the file does not hold such codes.
    """
    arrays = read_numpy(path)
    packed = arrays.get("codes", arrays.get("X"))
    if packed is None or packed.ndim != 2 or packed.dtype != np.uint8:
        raise DataError(f"{path}: not a file of codes: zshash encode writes them")
    n_bytes = (encoder.hasher.n_bits + 7) // 8
    if packed.shape[1] != n_bytes or arrays.get("model", encoder.checksum) != encoder.checksum:
        raise DataError(f"{path}: codes of another model than {encoder.model}: encode again")
    rows = known_rows(path, arrays, len(packed))
    return Codes(packed, rows["paths"], rows["labels"], rows["names"])
