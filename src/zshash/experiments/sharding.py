"""Models and codes of features that lie in shards, made here or by a Dask cluster."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from zshash import scale
from zshash._files import whole_file
from zshash.datasets import DataError, Dataset
from zshash.datasets.data import Labels
from zshash.datasets.tables import as_arrays, has_features
from zshash.encoding import Encoder
from zshash.experiments.training import (
    ONE_HOT,
    find_categories,
    label_sources,
    label_vectors,
    sample_counts,
    save_fitted,
    training_part,
    usable_sources,
)
from zshash.images import PictureReader
from zshash.scale.fitting import check_method, survey
from zshash.scale.shards import SUFFIXES, Shard, has_shards, is_shard_folder, rows_by_shard
from zshash.scale.targets import KnownLabels, combine
from zshash.semantics.names import unit

if TYPE_CHECKING:
    from distributed import Client

__all__ = [
    "ShardedData",
    "are_shards",
    "describe_shards",
    "encode_shards",
    "fit_shards",
    "open_sharded",
]


@dataclass(frozen=True)
class ShardedData:
    """Features in shards, and what is known about them.

    Attributes
    ----------
    shards : tuple of Shard
        With their shapes.
    labels, names, synsets, paths, extractor
        Of all rows, as in `zshash.datasets.Dataset`.
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
        """Some of the samples, all categories; shards of which none is left do not count."""
        pairs = zip(self.shards, rows_by_shard(rows, self._sizes), strict=True)
        return replace(
            self,
            shards=tuple(shard.select(own) for shard, own in pairs if len(own)),
            labels=None if self.labels is None else self.labels[rows],
            paths=tuple(self.paths[row] for row in rows.tolist()) if self.paths else (),
        )

    def facts(self) -> Dataset:
        """What is known of the rows, as a table of their width that has none of them."""
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
        If it is for a cluster, and no such thing.
    """
    path = Path(source)
    if reader.files is None and is_shard_folder(path):
        return True
    if has_shards(path):
        warnings.warn(
            f"{source}: it holds pictures and tables of features, and the pictures are read: keep "
            "tables that are meant in a folder of their own",
            UserWarning,
            stacklevel=2,
        )
    if on_cluster and not _is_table(path):
        missing = "" if path.exists() else "there is no such file or folder; "
        raise DataError(
            f"{source}: {missing}a Dask cluster works on tables of features, a folder of them or "
            f"one ({', '.join(SUFFIXES)}): zshash extract makes one of pictures"
        )
    return on_cluster


def _is_table(path: Path) -> bool:
    suffix = path.suffix.lower()
    return path.is_file() and suffix in SUFFIXES and (suffix != ".parquet" or has_features(path))


def open_sharded(
    source: str, client: "Client | None" = None, progress: bool = False, with_rows: bool = True
) -> ShardedData:
    """Look at all shards, and read what they know of their rows, or of their origin only.

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
                f"{shard.name}: it has no labels, and other shards have some: give them to all or "
                "to none"
            )
    labels, names, synsets = combine(known)
    together: Any = np.concatenate(labels)
    return replace(data, labels=together, names=names, synsets=synsets)


def describe_shards(source: str) -> dict[str, Any]:
    """What a folder of shards holds, in the words for any data."""
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
        raise DataError(f"{source}: features of different networks, or weights ({names})")
    return next(iter(found.values()), None)


def fit_shards(
    hasher: Any,
    source: str,
    output: Path,
    *,
    reader: PictureReader,
    labels: Sequence[str],
    unseen: Sequence[str],
    n_train: int | None,
    seed: int,
    client: "Client | None" = None,
    progress: bool = False,
) -> dict[str, Any]:
    """What `fit_model` does, for features in shards, of which a block is in memory at a time."""
    check_method(hasher)
    needs_labels = bool(label_sources(hasher, labels))
    data = open_sharded(source, client, progress)
    reader.features(data.facts())  # refuses an extractor
    if needs_labels and data.labels is None:
        raise DataError(
            f"{source}: there are no labels to learn from: put those of NAME.npy into "
            "NAME.labels.npy, or y into .npz and .parquet files, or choose a method that does not "
            "look at labels, such as ITQ"
        )
    hidden = find_categories(data, unseen)
    chosen = training_part(hasher, data, hidden, labels, n_train, seed)

    def fit(seen: NDArray[np.int64]) -> float:
        targets, vectors = shared_targets(hasher, chosen, seen, labels)
        start = time.perf_counter()
        scale.fit(hasher, chosen.shards, targets, vectors=vectors, client=client, progress=progress)
        return round(time.perf_counter() - start, 3)

    more = {"graph": hasher.graph} if hasattr(hasher, "graph") else {}
    more["shards"] = len(data.shards)
    return save_fitted(hasher, chosen, source, output, fit, labels=labels, hidden=hidden, **more)


def shared_targets(
    hasher: Any, data: ShardedData, seen: NDArray[np.int64], labels: Sequence[str]
) -> tuple[NDArray[np.int64] | None, NDArray[Any] | None]:
    """What `make_targets` gives for all samples, with each vector once: `scale.fit` takes both.

    Returns
    -------
    targets : ndarray of shape (n,) or None
        Class labels, or which of the vectors each sample has.
    vectors : ndarray of shape (c, p) or None
        None where there are class labels, or nothing to learn from.
    """
    sources = usable_sources(hasher, data, labels)
    if not sources or data.labels is None:
        return None, None
    own: NDArray[Any] = data.labels
    vectors = None if ONE_HOT in sources else label_vectors(data, seen, sources)
    if own.ndim == 1:
        return (own, None) if vectors is None else (np.searchsorted(seen, own), vectors)
    packed, places = np.unique(np.packbits(own[:, seen], axis=1), axis=0, return_inverse=True)
    sets = np.unpackbits(packed, axis=1, count=len(seen))
    return places.ravel(), sets if vectors is None else unit(sets @ vectors)


def encode_shards(
    source: str,
    model: Path,
    output: Path,
    *,
    reader: PictureReader,
    client: "Client | None" = None,
    progress: bool = False,
) -> dict[str, Any]:
    """What `encode_data` does, for features in shards, of which a block is in memory at a time.

    Codes go to a .npy file as they are made; all of them are held for a .npz file.
    """
    encoder = Encoder(model, reader)
    has_rows = output.suffix == ".npz"
    data = open_sharded(source, client, progress, with_rows=has_rows)
    facts = encoder.features(data.facts(), source)
    packed = scale.encode(
        encoder.hasher,
        data.shards,
        output=None if has_rows else output,
        client=client,
        progress=progress,
    )
    if has_rows:
        with whole_file(output) as file:
            np.savez_compressed(file, codes=packed, model=encoder.checksum, **as_arrays(facts))
    return {
        "output": str(output),
        "n": len(packed),
        "bits": int(encoder.hasher.n_bits),
        "bytes": packed.nbytes,
        "extractor": facts.extractor,
        "shards": len(data.shards),
    }
