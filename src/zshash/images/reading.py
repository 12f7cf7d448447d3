"""Pictures of any origin turned into a data set of features.

pictures → keys → which features are in the store? → the others through the network → Dataset
"""

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zshash._cache import cache_folder
from zshash._progress import is_watched, progress_bar
from zshash._warnings import warn_user
from zshash.datasets import DataError, Dataset, Pictures, open_data
from zshash.datasets.folders import warn_of_plain
from zshash.images.extractor import Extractor
from zshash.images.limits import Limits
from zshash.images.networks import DEFAULT, extractor, fetches
from zshash.images.store import FeatureStore, file_key, picture_keys

if TYPE_CHECKING:
    from zshash.images.pipeline import Also, Batch

__all__ = ["ExtractorError", "PictureReader", "PictureWarning", "described", "warn_of_failures"]

DECODING = 1  # to be raised when pictures are decoded to other pixels than before
MAX_REPORTED = 20
ON_ERROR = ("skip", "fail")
HOW = ("batch_size", "device")  # options that say how a network runs, and not what it gives


class PictureWarning(UserWarning):
    """A picture that could not be read and is left out."""


class ExtractorError(DataError):
    """Error for a model whose extractor can not be chosen without naming it.

    Attributes
    ----------
    network : str or None
        The extractor to name, if only one fits.
    """

    def __init__(self, message: str, network: str | None = None) -> None:
        super().__init__(message)
        self.network = network


@dataclass(frozen=True)
class PictureReader:
    """Settings by which pictures become features.

    Attributes
    ----------
    extractor : str, Extractor or None
        As for `zshash.images.extractor`, or the extractor itself; None leaves it to the model at
        hand, or to the default.
    options : mapping
        Options of the extractor.
    files : Path or None
        Folder with the files of a known data set, so that they need not be downloaded.
    limits : Limits
        Limits on the size of a picture.
    on_error : {"skip", "fail"}
        Leave out a picture that can not be read, with a `PictureWarning`, or raise an error.
    labels : {"auto", "folders", "none"}, str or Path
        Where labels come from, as for `zshash.datasets.open_data`: folders that look like
        categories, every folder, nowhere, or a list of files with their labels.
    cache : bool
        Whether to keep features in the user's cache folder. They are found there again as long as
        a picture's path, size and times stay the same.
    progress : bool
        Show a progress bar, on a terminal or in a notebook.

    Examples
    --------
    >>> from zshash.datasets import digits
    >>> len(PictureReader(on_error="fail").features(digits()))
    1797
    """

    extractor: str | Extractor | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    files: Path | None = None
    limits: Limits = field(default_factory=Limits)
    on_error: str = "skip"
    cache: bool = True
    progress: bool = False
    labels: str | Path = "auto"

    def __post_init__(self) -> None:
        if not isinstance(self.extractor, str | Extractor | None):
            raise TypeError(f"extractor must be a name or an Extractor, got {self.extractor!r}")
        if self.on_error not in ON_ERROR:
            raise ValueError(f"on_error must be 'skip' or 'fail', not {self.on_error!r}")

    @cached_property
    def network(self) -> Extractor:
        """The extractor itself, made when it is first needed."""
        if isinstance(self.extractor, Extractor):
            return self.extractor
        return extractor(self.extractor or DEFAULT, **self.options)

    @property
    def has_kept(self) -> bool:
        """Whether features were extracted and are kept in the user's cache folder."""
        return self.cache and "network" in vars(self)

    def facts(self) -> dict[str, Any]:
        """Network, options and fingerprint that the features depend on, ready for JSON."""
        options = {name: value for name, value in self.options.items() if name not in HOW}
        return {
            "name": self.network.name,
            "options": options,
            "fingerprint": self.network.fingerprint,
        }

    def like(self, facts: Mapping[str, Any]) -> "PictureReader":
        """Reader that makes the same features as the reader whose `facts` are given.

        Raises
        ------
        DataError
            If this is not possible, or not with the extractor of this reader.
        """
        name, options = str(facts.get("name")), facts.get("options")
        options = options if isinstance(options, dict) else {}
        if self.extractor is None and not set(self.options) <= set(HOW):
            raise ExtractorError("options of an extractor need its name: name the extractor, too")
        if self.extractor is None and fetches(name):
            raise ExtractorError(
                f"the model was trained on features of {name}, whose weights are fetched from the "
                "internet: name this extractor if you trust it",
                name,
            )
        own = self
        if self.extractor is None or _kind(self.extractor) == _kind(name):
            own = replace(
                self, extractor=self.extractor or name, options=options | dict(self.options)
            )
        theirs = described(name, options)
        try:
            fingerprint = own.network.fingerprint
        except ValueError as error:
            if self.extractor:
                raise
            raise ExtractorError(
                f"the model was trained on features of {theirs}, which is not available here "
                f"({error}): name an extractor with the same network"
            ) from error
        if fingerprint != facts.get("fingerprint"):
            raise DataError(
                f"the model was trained on features of {theirs}, but "
                f"{described(own.network.name, own.options)} as it is here gives other features"
            )
        return own

    def open(self, source: str | Path) -> Dataset | Pictures:
        """Pictures or features at a path, or of a known data set by its name."""
        return open_data(source, self.files, labels=self.labels)

    def read(self, source: str | Path) -> Dataset:
        """Features of the data at a path, or of a known data set by its name.

        Warns if the names of some folders are not taken as labels.
        """
        data = self.open(source)
        warn_of_plain(data, source)
        return self.features(data)

    def features(self, data: Dataset | Pictures) -> Dataset:
        """Features of the pictures that can be read; a `Dataset` is returned as it is.

        Raises
        ------
        PictureError
            At the first picture that can not be read, with ``on_error="fail"``.
        DataError
            Where no picture can be read.
        """
        if isinstance(data, Dataset):
            if isinstance(self.extractor, str):
                raise DataError(f"features need no extractor: leave out {self.extractor}")
            return data
        return self.readable_features(data)[0]

    def readable_features(self, data: Pictures) -> tuple[Dataset, dict[int, str]]:
        """Features of the pictures that can be read; rows of the other pictures, with reasons.

        Warns of the other pictures, and raises the same errors as `features`.
        """
        if not len(data):
            raise DataError(f"{data.root or 'the data'}: no pictures")
        dataset, failures = self.try_features(data)
        if len(failures) == len(data):
            first = next(iter(failures.values()))
            several = f"none of the {len(data)} pictures could be used, the first one: "
            raise DataError(first if len(data) == 1 else several + first)
        warn_of_failures(list(failures.values()), len(data))
        return dataset, failures

    def try_features(
        self, data: Pictures, store: FeatureStore | None = None, also: "Also | None" = None
    ) -> tuple[Dataset, dict[int, str]]:
        """Features of the pictures that can be read; rows of the other pictures, with reasons.

        Parameters
        ----------
        data : Pictures
        store : FeatureStore, optional
            Store that the method `store` made for these pictures, or for more pictures.
        also : callable, optional
            Gets the row and the pixels of each picture whose features are not in the store yet.
        """
        keys = picture_keys(data.sources)
        store = self.store(data) if store is None else store
        failures = self._extract(data, keys, store, also)
        good = [row for row in range(len(data)) if row not in failures]
        paths = data.paths
        dataset = Dataset(
            store.gather([keys[row] for row in good]),
            None if data.labels is None else data.labels[good],
            data.names,
            data.synsets,
            paths=tuple(paths[row] for row in good) if paths else (),
            extractor=self.facts(),
        )
        return dataset, failures

    def _extract(
        self,
        data: Pictures,
        keys: Sequence[bytes],
        store: FeatureStore,
        also: "Also | None" = None,
    ) -> dict[int, str]:
        """Add missing features to the store; return the rows that can not be read, with reasons."""
        from zshash.images.decoding import PictureError
        from zshash.images.pipeline import extract_batches, slices

        # Batches are cut from the whole list, so they are the same after an interruption.
        missing = [
            [row for row in rows if keys[row] not in store]
            for rows in slices(len(keys), self.network.batch_size)
        ]
        missing = [rows for rows in missing if rows]
        failures: dict[int, str] = {}
        try:
            with self._bar(sum(map(len, missing))) as bar:
                found = extract_batches(self.network, data.sources, missing, self.limits, also)
                for batch in found:
                    batch = self._unchanged(batch, data.sources, keys)
                    if batch.failures and self.on_error == "fail":
                        raise PictureError(next(iter(batch.failures.values())))
                    failures |= batch.failures
                    store.append([keys[row] for row in batch.rows], batch.features)
                    bar.update(len(batch.rows) + len(batch.failures))
        except KeyboardInterrupt:
            if store.folder:
                warn_user("interrupted; the same command goes on from here")
            raise
        finally:
            store.flush()
        return failures

    def _unchanged(
        self, batch: "Batch", sources: Sequence[Path] | NDArray[np.uint8], keys: Sequence[bytes]
    ) -> "Batch":
        """The batch without files that were changed after their keys were taken."""
        if isinstance(sources, np.ndarray):
            return batch
        message = "changed while it was being read"
        return batch.without(
            {
                row: f"{sources[row]}: {message}"
                for row in batch.rows
                if file_key(sources[row]) != keys[row]
            }
        )

    def _bar(self, total: int) -> Any:
        about = {"desc": "extracting features", "unit": " pictures"}
        return progress_bar(total, self.progress or is_watched(), **about)

    def store(self, data: Pictures) -> FeatureStore:
        """Store of the features: in the cache, by the folder of the pictures, or in memory."""
        dimension = self.network.dimension
        if not self.cache or len(data) == 1:
            return FeatureStore(None, dimension)
        root = os.fsencode(data.root.resolve()) if data.root else b""
        facts = f"{DECODING}\n{self.limits}\n{self.network.fingerprint}\n".encode() + root
        digest = hashlib.blake2b(facts, digest_size=8).hexdigest()
        name = re.sub(r"[^\w.-]", "_", data.root.name if data.root else "pictures", flags=re.ASCII)
        try:
            return FeatureStore(cache_folder("features", f"{name[:40]}-{digest}"), dimension)
        except OSError as error:
            warn_user(
                f"features are not kept: {error.filename}: {error.strerror}; ZSHASH_CACHE can name "
                "another folder"
            )
            return FeatureStore(None, dimension)


def warn_of_failures(messages: Sequence[str], total: int) -> None:
    """Warn which pictures are left out, and how many."""
    for message in messages[:MAX_REPORTED]:
        warn_user(message, PictureWarning)
    if messages:
        warn_user(
            f"{len(messages)} of {total} pictures could not be used and are left out",
            PictureWarning,
        )


def _kind(extractor: str | Extractor) -> str | None:
    """Kind of a network: the part of its name before the colon; None for an `Extractor`."""
    return extractor.partition(":")[0] if isinstance(extractor, str) else None


def described(name: str, options: Mapping[str, Any]) -> str:
    """Name and options of an extractor, for messages."""
    settings = ", ".join(f"{key}={value}" for key, value in options.items())
    return f"{name} ({settings})" if settings else name
