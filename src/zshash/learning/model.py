"""A model: a hash function with its network, the names it knows and notes on its training."""

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from zshash._files import write_whole
from zshash._warnings import warn_user
from zshash.datasets import DataError, Dataset, Pictures
from zshash.hashing import files
from zshash.hashing.hasher import Hasher, check_binary
from zshash.images import PictureReader
from zshash.learning.knowledge import Knowledge
from zshash.learning.names import Names, NamesError
from zshash.learning.sources import are_all, as_data

__all__ = ["Model", "load"]


class Model:
    """A fitted hash function with all that it needs to turn pictures into codes.

    Models come from `zshash.fit` and `zshash.load`.

    Parameters
    ----------
    hasher : Hasher
        The fitted hash function.
    notes : dict, optional
        Facts on the training: which network made the features, names of the seen categories,
        sources of the vectors of names.
    reader : PictureReader, optional
        How pictures are read.
    path : path-like, optional
        The file that the model was read from or written to.
    semantics : list of str, optional
        Sources of the vectors of names, needed if there are files among them: the notes store
        the names of such files without their folders.
    knowledge : Knowledge, optional
        What the network and the labels say about names, for searches by name.

    Examples
    --------
    >>> import zshash
    >>> model = Model(zshash.LSH(n_bits=16, random_state=0).fit(np.eye(4)))
    >>> model.method, model.n_bits, model.encode(np.eye(4)).shape
    ('LSH', 16, (4, 2))
    """

    def __init__(
        self,
        hasher: Hasher,
        notes: dict[str, Any] | None = None,
        *,
        reader: PictureReader | None = None,
        path: str | os.PathLike[str] | None = None,
        semantics: Sequence[str] | None = None,
        knowledge: Knowledge | None = None,
    ) -> None:
        if not isinstance(hasher, Hasher):
            raise TypeError(f"{type(hasher).__name__} is no fitted hasher, which a model needs")
        check_binary(hasher, "a model")
        self.hasher, self.notes = hasher, dict(notes or {})
        self.knowledge = knowledge
        self.semantics = semantics
        self.path = None if path is None else Path(path)
        self.reader = reader or PictureReader()
        self._project = hasher.frozen_project()

    @classmethod
    def load(cls, path: str | os.PathLike[str], reader: PictureReader | None = None) -> Self:
        """Read a model that `save` wrote; see `zshash.load`."""
        hasher, notes, more = files.read_all(path)
        try:
            knowledge = None if more is None else Knowledge.from_parts(*more)
        except ValueError as error:
            raise files.ModelError(f"{path}: {error}") from error
        model = cls(hasher, notes, reader=reader, path=path, knowledge=knowledge)
        model.checksum = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        return model

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, whole or not at all."""
        write_whole(Path(path), self.to_bytes())
        self.path = Path(path)

    def to_bytes(self) -> bytes:
        """Contents of the model's file; to the last byte where it was read from one."""
        if self.path is not None and "checksum" in vars(self):
            with suppress(OSError):
                data = self.path.read_bytes()
                if hashlib.sha256(data).hexdigest() == self.checksum:
                    return data
        more = None if self.knowledge is None else self.knowledge.to_parts()
        data = files.to_bytes(self.hasher, notes=self.notes, more=more)
        return bytes(data)

    def __repr__(self) -> str:
        origin = f", {str(self.path)!r}" if self.path else ""
        return f"<{type(self).__name__} of {self.method}, {self.n_bits} bits{origin}>"

    @cached_property
    def checksum(self) -> str:
        """The sha256 of the model's file."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @property
    def name(self) -> str:
        """Name of the model in messages: the path of its file, if it has one."""
        return str(self.path or "the model")

    @property
    def method(self) -> str:
        """Name of the method that learned the hash function."""
        return type(self.hasher).__name__

    @property
    def n_bits(self) -> int:
        """Length of the codes in bits."""
        return int(self.hasher.n_bits)

    @property
    def seen(self) -> tuple[str, ...]:
        """Names of the categories that the model was trained on, as far as its notes say."""
        return tuple(self.notes.get("seen") or ())

    def names(self, semantics: Sequence[str] | None = None) -> Names:
        """The names that the model was trained with, and their vectors.

        Parameters
        ----------
        semantics : list of str, optional
            Sources of the vectors, in place of the model's own.

        Raises
        ------
        NamesError
            If the model was not trained with the meanings of names, or a source is missing.
        """
        return Names.of(self, semantics or self.semantics)

    def query_of_text(self, text: str) -> NDArray[np.float64]:
        """Real values (n_bits,) of a text; only if the model's network reads texts itself."""
        tower = self.picture_reader.network.text
        if self.knowledge is None or tower is None:
            raise NamesError(f"the network of {self.name} does not read texts")
        values = self.knowledge.decoder @ tower.embed([text])[0]
        return np.asarray(values, dtype=np.float64)

    @property
    def knows_names(self) -> bool:
        """Whether codes can be ranked by the name of a category."""
        if self.knowledge is not None:
            return True
        try:
            self.names()
        except NamesError:
            return False
        return True

    def open(self, source: str | Path) -> Dataset | Pictures:
        """Open the pictures or features of a path or of a known data set."""
        return self.reader.open(source)

    def read(self, source: str | Path) -> Dataset:
        """Read the features of a path or of a known data set."""
        return self.features(self.open(source), str(source))

    def features(self, data: Dataset | Pictures, source: str = "the data") -> Dataset:
        """Features that the model can hash; pictures go through the model's own network."""
        reader = self.picture_reader if isinstance(data, Pictures) else self.reader
        dataset = reader.features(data)
        self.check(dataset, source)
        return dataset

    @cached_property
    def picture_reader(self) -> PictureReader:
        """The reader that turns pictures into features by the model's own network."""
        own = self._own_extractor
        if own is None:
            warn_user(
                f"{self.name} does not say which network made the features that it was trained "
                f"on; pictures now go through {self.reader.network.name}"
            )
        return self.reader.like(own) if own else self.reader

    @property
    def _own_extractor(self) -> dict[str, Any] | None:
        own = self.notes.get("extractor")
        return own if isinstance(own, dict) else None

    def check(self, dataset: Dataset, source: str) -> None:
        """Raise an error if features are of another network or length than in the training."""
        self.check_width(source, dataset.X.shape[1])
        own = self._own_extractor
        theirs = dataset.extractor or own
        if own and theirs and theirs.get("fingerprint") != own.get("fingerprint"):
            raise DataError(
                f"{source}: features of {theirs.get('name')}, but {self.name} was trained on "
                f"features of {own.get('name')}, or of other weights"
            )

    def check_width(self, source: str, found: int) -> None:
        """Raise an error if features are of another length than in the training."""
        wanted = self.hasher.n_features_in_
        if found != wanted:
            raise DataError(
                f"{source}: {found} features for each sample, but {self.name} was trained on "
                f"{wanted} ({self.notes.get('features', 'of unknown origin')}): give features of "
                "the same network"
            )

    def encode(self, source: Any) -> NDArray[np.uint8]:
        """Packed codes (n, bytes) of pictures or features.

        Parameters
        ----------
        source : ndarray, path, list of paths, bytes, Dataset or Pictures
            Features (n, d), pixels (n, height, width[, 3]) of uint8, a path or the name of a known
            data set as `zshash.fit` takes it, files of pictures, or a picture's bytes. Where
            single pictures are given, all of them must be readable.
        """
        return self.quantize(self.project(source))

    def project(self, source: Any) -> NDArray[np.float32]:
        """Real values (n, n_bits) whose signs are the bits of the codes; see `encode`."""
        is_features = isinstance(source, np.ndarray) and source.ndim == 2
        X = source if is_features else self._features_of(source)
        projections: NDArray[np.float32] = self._project(X)
        return projections

    def quantize(self, projections: NDArray[np.float32]) -> NDArray[np.uint8]:
        """Packed codes (n, bytes) of real values as `project` returns them."""
        packed: NDArray[np.uint8] = self.hasher.quantize(projections)
        return packed

    def _features_of(self, source: Any) -> Any:
        """Features of anything that `encode` takes."""
        pictures = [source] if isinstance(source, bytes) else source
        if are_all(pictures, bytes):
            return self._extracted(pictures)
        data = as_data(source, self.reader)
        if are_all(source, str | os.PathLike):
            dataset = replace(self.picture_reader, on_error="fail").features(data)
            self.check(dataset, "the pictures")
            return dataset.X
        is_path = isinstance(source, str | os.PathLike)
        return self.features(data, str(source) if is_path else "the data").X

    def _extracted(self, pictures: Sequence[bytes]) -> NDArray[np.float32]:
        reader = self.picture_reader
        X = reader.network.extract(list(pictures), limits=reader.limits)
        self.check(Dataset(X, extractor=reader.facts()), "the pictures")
        return X


def load(path: str | os.PathLike[str], *, reader: PictureReader | None = None) -> Model:
    """Read a model that `Model.save` or ``zshash fit`` wrote.

    Parameters
    ----------
    path : path-like
    reader : PictureReader, optional
        How pictures are read; the network is the model's own.

    Raises
    ------
    ModelError
        If the file is not a model, is damaged, or was written by a later version.

    Examples
    --------
    >>> import tempfile, zshash
    >>> model = zshash.fit(np.eye(40), method="LSH", n_bits=16)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.zshash")
    ...     again = zshash.load(f"{folder}/model.zshash")
    >>> bool((again.encode(np.eye(40)) == model.encode(np.eye(40))).all())
    True
    """
    return Model.load(path, reader)
