"""Features in shards: tables in a folder that together may be larger than memory."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from zshash._warnings import warn_user
from zshash.datasets import DataError, Dataset
from zshash.datasets.data import Labels
from zshash.datasets.tables import has_features
from zshash.images import PictureReader
from zshash.learning.categories import sample_counts
from zshash.scale.fitting import survey
from zshash.scale.shards import SUFFIXES, Shard, has_shards, is_shard_folder, rows_by_shard
from zshash.scale.targets import KnownLabels, combine

if TYPE_CHECKING:
    from distributed import Client

__all__ = [
    "ShardedData",
    "are_shards",
    "describe_shards",
    "open_sharded",
]


@dataclass(frozen=True)
class ShardedData:
    """Features in shards, with labels, names and paths if these are known.

    Attributes
    ----------
    shards : tuple of Shard
        The tables, with their shapes.
    labels, names, synsets, paths, extractor
        Facts on all rows, as in `zshash.datasets.Dataset`.
    """

    shards: tuple[Shard, ...]
    labels: Labels | None = None
    names: tuple[str, ...] = ()
    synsets: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    extractor: dict[str, Any] | None = None

    def __len__(self) -> int:
        return sum(self._sizes)

    @property
    def _sizes(self) -> list[int]:
        return [shard.shape[0] for shard in self.shards if shard.shape]

    def select(self, rows: NDArray[np.int64]) -> Self:
        """The samples `rows`, with all categories; shards without such samples are left out."""
        pairs = zip(self.shards, rows_by_shard(rows, self._sizes), strict=True)
        return replace(
            self,
            shards=tuple(shard.select(own) for shard, own in pairs if len(own)),
            labels=None if self.labels is None else self.labels[rows],
            paths=tuple(self.paths[row] for row in rows.tolist()) if self.paths else (),
        )

    def facts(self) -> Dataset:
        """Labels, names, paths and network of the rows, as a table of their width without rows."""
        shape = self.shards[0].shape
        assert shape is not None
        nothing = np.empty((0, shape[1]), dtype=np.float32)
        known = {key: value for key, value in vars(self).items() if key != "shards"}
        return Dataset(nothing, **known)


def are_shards(source: str, reader: PictureReader, on_cluster: bool = False) -> bool:
    """Whether data is worked on shard by shard: a folder of tables, or one table on a cluster.

    Raises
    ------
    DataError
        If it is for a cluster, and neither a folder of tables nor a table; or if other labels are
        wanted than those in the tables.
    """
    path = Path(source)
    if reader.files is None and is_shard_folder(path):
        _check_labels(source, reader)
        return True
    if has_shards(path):
        warn_user(
            f"{source}: it holds pictures and tables of features, and only the pictures are read: "
            "to read the tables, put them into a folder of their own"
        )
    if on_cluster and not _is_table(path):
        missing = "" if path.exists() else "there is no such file or folder; "
        raise DataError(
            f"{source}: {missing}a Dask cluster works on tables of features, a folder of them or "
            f"one table ({', '.join(SUFFIXES)}): zshash extract makes a table from pictures"
        )
    if on_cluster:
        _check_labels(source, reader)
    return on_cluster


def _check_labels(source: str, reader: PictureReader) -> None:
    if reader.labels not in ("auto", "folders"):
        raise DataError(
            f"{source}: labels of tables that are read in blocks are those in the tables: others, "
            "or none, can not be chosen for them"
        )


def _is_table(path: Path) -> bool:
    suffix = path.suffix.lower()
    return path.is_file() and suffix in SUFFIXES and (suffix != ".parquet" or has_features(path))


def open_sharded(
    source: str, client: "Client | None" = None, progress: bool = False, with_rows: bool = True
) -> ShardedData:
    """Open all shards, with labels, names and paths of their rows if `with_rows`.

    Raises
    ------
    DataError
        If some shards have labels and others have none, or features are of different networks.
    """
    shards, known = survey(source, client=client, progress=progress)
    data = ShardedData(tuple(shards), extractor=_one_extractor(source, known))
    if not with_rows:
        return data
    if all(own.paths for own in known):
        data = replace(data, paths=tuple(path for own in known for path in own.paths))
    if not any(own.labels is not None for own in known):
        return data
    for shard, own in zip(shards, known, strict=True):
        if own.labels is None:
            raise DataError(
                f"{shard.name}: it has no labels, and other shards have some: give labels to all "
                "shards or to none"
            )
    labels, names, synsets = combine(known)
    together: Any = np.concatenate(labels)
    return replace(data, labels=together, names=names, synsets=synsets)


def describe_shards(source: str) -> dict[str, Any]:
    """Facts on a folder of shards, under the same keys as for other data."""
    data = open_sharded(source)
    shape = data.facts().X.shape
    facts = {"samples": len(data), "dimension": shape[1], "shards": len(data.shards)}
    if data.labels is None:
        return facts
    pairs = zip(data.names, sample_counts(data).tolist(), strict=True)
    return facts | {"categories": len(data.names), "samples each": dict(pairs)}


def _one_extractor(source: str, known: Sequence[KnownLabels]) -> dict[str, Any] | None:
    found = {own.extractor["fingerprint"]: own.extractor for own in known if own.extractor}
    if len(found) > 1:
        names = " and ".join(str(extractor["name"]) for extractor in found.values())
        raise DataError(
            f"{source}: features of different networks, or of different weights ({names}): keep "
            "only one kind in this folder"
        )
    return next(iter(found.values()), None)
