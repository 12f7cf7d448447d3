"""`fit` learns a model from pictures or features, labels and names."""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from zshash import scale
from zshash._progress import watched
from zshash._warnings import warn_user
from zshash.datasets import DataError, Dataset, Pictures
from zshash.datasets.data import bears
from zshash.datasets.folders import warn_of_plain
from zshash.datasets.splits import draw_training
from zshash.hashing import methods
from zshash.hashing.hasher import Hasher, check_binary
from zshash.hashing.mth import MTH
from zshash.hashing.steps.statistics import open_statistics
from zshash.images import Extractor, PictureReader
from zshash.learning.aliases import MeaningWarning
from zshash.learning.categories import Labelled, LabelledFeatures, categories, find_categories
from zshash.learning.knowledge import Knowledge, Membership, learn_knowledge
from zshash.learning.meanings import Meant, describe, has_letters
from zshash.learning.model import Model
from zshash.learning.sharding import ShardedData, are_shards, open_sharded
from zshash.learning.sources import as_data, reader_for, with_labels
from zshash.learning.statistics import check_prior, own_prior
from zshash.learning.targets import (
    ONE_HOT,
    WORDNET,
    label_meanings,
    label_names,
    label_sources,
    make_targets,
    shared_targets,
    usable_sources,
)
from zshash.scale.fitting import check_method

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["default_method", "fit", "fit_timed", "make_hasher", "membership", "training_part"]

METHOD, SHARD_METHOD, N_BITS = "MTH", "ZSH", 64
# Parameters for shards, of methods whose own defaults need all rows in memory.
FOR_SHARDS = {"ZSH": {"graph": "anchor"}}
Data = TypeVar("Data", bound=Labelled)


def fit(
    source: Any,
    labels: Any = None,
    *,
    names: Sequence[str] | None = None,
    method: str | Hasher | None = None,
    n_bits: int | None = None,
    semantics: str | Sequence[str] | None = None,
    aliases: Mapping[str, str] | None = None,
    unseen: str | Sequence[str] = (),
    n_train: int | None = None,
    random_state: int = 0,
    extractor: str | Extractor | None = None,
    reader: PictureReader | None = None,
    client: "Client | None" = None,
    progress: bool = False,
    **parameters: Any,
) -> Model:
    """Learn a model from pictures or features.

    Parameters
    ----------
    source : path-like, list of paths, ndarray, Dataset or Pictures
        A folder that has a folder of pictures for each category, or anything else that
        `zshash.datasets.open_data` reads; files of pictures; features (n, d); pixels (n, height,
        width[, 3]) of uint8. A folder of tables of features (.npz, .npy, .parquet) may be larger
        than memory: a block of rows is read at a time.
    labels : array or list, optional
        For each sample a word, a list of words, or the number of its category; or a 0/1 matrix
        (n, c). −1, None and "" mean that nobody labelled this sample. By default the labels that
        come with the source.
    names : list of str, optional
        Names of the categories, in the order of their numbers.
    method : str or Hasher, optional
        Name of a method, see `zshash.methods`; or an estimator that is not fitted yet, with its
        own parameters. By default MTH, which also learns from samples without a label, and ZSH
        for a folder of tables. For features of a network whose statistics come with the package,
        MTH gets them as its prior.
    n_bits : int
        Length of the codes in bits, 64 by default.
    semantics : str or list of str, optional
        Where the names of categories get their meanings: "wordnet", "onehot" (names mean nothing),
        a file of word vectors, or several of these. By default WordNet for methods that learn
        from names, and "onehot" for others and where categories have numbers but no names. A name
        that no source knows gets a vector of its own.
    aliases : dict of str to str, optional
        What names mean, where it is not what they are taken to mean: ``{"Rex": "dog"}``. A meaning
        may be exact, "crane (bird)", or a WordNet id.
    unseen : str or list of str
        Names of categories to leave out of the training.
    n_train : int, optional
        Number of samples to train on, drawn at random; by default all.
    random_state : int
        Seed of all random draws; the same seed gives the same codes.
    extractor : str or Extractor, optional
        The network that turns pictures into features, see `zshash.images.extractor`.
    reader : PictureReader, optional
        How pictures are read, in place of `extractor`.
    client : distributed.Client, optional
        A Dask cluster that works on tables of features.
    progress : bool
        Show a bar while features are extracted from pictures, for each pass over a folder of
        tables, and for the training of MTH; on a terminal or in a notebook.
    **parameters
        Parameters of the method.

    Returns
    -------
    Model

    Raises
    ------
    DataError
        If the data can not be read or learned from, or no source knows an alias.

    Warns
    -----
    MeaningWarning
        If names of categories are unknown, or were taken to mean something that they may not mean.

    Examples
    --------
    >>> from zshash import fit
    >>> from zshash.datasets import digits
    >>> data = digits()
    >>> model = fit(data.X, data.labels, names=data.names, unseen=["four"], effort="fast")
    >>> model.method, model.n_bits, len(model.seen), model.encode(data.X).shape
    ('MTH', 64, 9, (1797, 8))
    """
    reader = reader_for(extractor, reader)
    is_path = isinstance(source, str | os.PathLike)
    sharded = is_path and are_shards(os.fspath(source), reader, client is not None)
    method = _default(sharded) if method is None else method
    hasher = make_hasher(method, n_bits, random_state, parameters, sharded)
    sources = _as_list(semantics)
    label_sources(hasher, sources)  # an error comes before data is opened
    opened: Dataset | Pictures | ShardedData
    if sharded:
        opened = _open_shards(os.fspath(source), hasher, reader, client, progress)
    else:
        opened = as_data(source, reader)
        if labels is None and is_path:
            warn_of_plain(opened, source)
    opened = with_labels(opened, labels, names)
    sources = sources or _without_names(hasher, opened.names, aliases)
    specs = usable_sources(hasher, opened, sources)  # an error comes before pictures are read
    hidden = find_categories(opened, _as_list(unseen))
    chosen = training_part(hasher, opened, hidden, n_train, random_state)
    network = _network(chosen, reader)
    known = () if network is None or network.categories is None else network.categories.ids
    meant = _tell_meanings(chosen, specs, aliases, known)
    with watched(progress):
        data = chosen if isinstance(chosen, ShardedData) else reader.features(chosen)
    if isinstance(hasher, MTH) and not isinstance(method, Hasher) and "prior" not in parameters:
        hasher.prior = own_prior(data.extractor) if hasher.normalize else None
    check_prior(hasher, data.extractor)
    with watched(progress):
        seconds = _learn(hasher, data, sources, client, progress, meant)
    origin = Path(source).name if is_path else "features or pictures in memory"
    notes = _notes(hasher, data, hidden, sources, origin, seconds)
    if notes["seen"]:
        notes["meanings"] = [meant[number].synset for number in categories(data)]
    if aliases:
        notes["aliases"] = dict(aliases)
    if isinstance(opened, ShardedData):
        notes |= {"graph": hasher.graph} if hasattr(hasher, "graph") else {}
        notes["shards"] = len(opened.shards)
    has_files = not set(sources) <= {ONE_HOT, WORDNET}
    knowledge = None
    if network is not None and isinstance(data, Dataset) and not has_files:
        knowledge = _knowledge(hasher, data, network, meant)
    own = sources if has_files else None
    return Model(hasher, notes, reader=reader, semantics=own, knowledge=knowledge)


def _network(data: Dataset | Pictures | ShardedData, reader: PictureReader) -> Extractor | None:
    """The network that makes the features or has made them, if it is at hand."""
    if isinstance(data, Pictures):
        return reader.network
    if data.extractor is None:
        return None
    try:
        return reader.like(data.extractor).network
    except (ValueError, ImportError, OSError):
        return None


def _knowledge(
    hasher: Hasher, data: Dataset, network: Extractor, meant: Sequence[Meant] | None
) -> Knowledge | None:
    """What the network and the labels say about names, read from codes."""
    reads_texts = network.text is not None
    if network.categories is None and not reads_texts:
        return None
    signs = np.where(hasher.project(data.X) >= 0, np.float32(1), np.float32(-1))
    own = membership(data, meant)
    return learn_knowledge(data.X, signs, network.categories, own, reads_texts)


def membership(data: Dataset, meant: Sequence[Meant] | None) -> Membership | None:
    """The labels of the samples, with their meanings (one for each name); None without labels."""
    seen = categories(data)
    if data.labels is None or not len(seen):
        return None
    ids = [meant[number].synset if meant else "" for number in seen]
    names = [data.names[number] for number in seen]
    labels = np.stack([bears(data.labels, [own]) for own in seen], axis=1)
    return Membership(names, ids, labels)


def default_method(source: str, reader: PictureReader, client: "Client | None" = None) -> str:
    """Name of the method that `fit` uses for a source by default."""
    return _default(are_shards(source, reader, client is not None))


def _default(sharded: bool) -> str:
    return SHARD_METHOD if sharded else METHOD


def make_hasher(
    method: str | Hasher,
    n_bits: int | None,
    random_state: int,
    parameters: Mapping[str, Any],
    sharded: bool = False,
) -> Hasher:
    """The estimator to fit, with its parameters checked."""
    if isinstance(method, Hasher):
        if n_bits is not None or parameters:
            raise TypeError(
                f"{type(method).__name__} is an estimator with parameters of its own: set n_bits "
                "and other parameters there"
            )
        hasher: Hasher = clone(method)
    else:
        known = {name.lower(): name for name in methods()}
        name = known.get(str(method).lower())
        if name is None:
            raise ValueError(f"there is no method {method!r}: choose {', '.join(known.values())}")
        own = {**(FOR_SHARDS.get(name, {}) if sharded else {}), **parameters}
        bits = N_BITS if n_bits is None else n_bits
        hasher = methods()[name].estimator(n_bits=bits, random_state=random_state, **own)
    hasher.check_parameters()
    check_binary(hasher, "a model")
    return hasher


def _as_list(words: str | Sequence[str] | None) -> list[str]:
    if words is None:
        return []
    return [os.fspath(words)] if isinstance(words, str | os.PathLike) else list(words)


def _without_names(
    hasher: Hasher, names: Sequence[str], aliases: Mapping[str, str] | None
) -> list[str]:
    """One-hot labels for categories that have numbers but no names, else no source."""
    are_numbers = bool(names) and not aliases and not any(map(has_letters, names))
    return [ONE_HOT] if are_numbers and label_sources(hasher, []) else []


def _tell_meanings(
    data: Labelled,
    sources: Sequence[str],
    aliases: Mapping[str, str] | None,
    known: Iterable[str] = (),
) -> list[Meant]:
    """What the names of all categories mean; warns if it matters and is not plain."""
    seen = categories(data)
    meant = label_meanings(data, seen, sources, aliases, known)
    told = describe([meant[number] for number in seen])
    if told and sources and ONE_HOT not in sources:
        warn_user(told, MeaningWarning)
    return meant


def _open_shards(
    source: str, hasher: Hasher, reader: PictureReader, client: "Client | None", progress: bool
) -> ShardedData:
    """Features in shards, if the method can learn from them."""
    check_method(hasher)
    data = open_sharded(source, client, progress)
    reader.features(data.facts())  # raises an error if an extractor is named
    return data


def training_part(
    hasher: Hasher,
    data: Data,
    hidden: NDArray[np.int64],
    n_train: int | None,
    seed: int,
) -> Data:
    """The samples to train on: none of a hidden category, `n_train` of them at random."""
    rows = _training_rows(data, hidden, hasher.learns_unlabelled, n_train, seed)
    return data if len(rows) == len(data) else data.select(rows)


def _training_rows(
    data: Labelled,
    hidden: NDArray[np.int64],
    takes_all: bool,
    n_train: int | None,
    seed: int,
) -> NDArray[np.int64]:
    """Rows to train on: none of a hidden category, and all labelled unless the method takes all."""
    rng = np.random.RandomState(seed)
    if data.labels is None:
        return draw_training(np.arange(len(data)), n_train, rng)
    is_good = ~bears(data.labels, hidden)
    labelled = bears(data.labels, categories(data))
    if not takes_all and not labelled.all():
        lost = int((~labelled).sum())
        message = f"{lost} of {len(data)} samples have no label and are not trained on"
        warn_user(message)
        is_good &= labelled
    rows = np.flatnonzero(is_good)
    if not rows.size:
        raise DataError("every category is unseen: nothing is left to train on")
    return draw_training(rows, n_train, rng)


def fit_timed(
    hasher: Hasher,
    dataset: Dataset,
    rows: NDArray[np.int64] | slice,
    seen: NDArray[np.int64],
    sources: Sequence[str],
    meant: Sequence[Meant] | None = None,
) -> float:
    """Fit `hasher` on the samples `rows` of the categories `seen`; return the seconds it took."""
    targets = make_targets(hasher, dataset, rows, seen, sources, meant)
    start = time.perf_counter()
    hasher.fit(dataset.X[rows], targets)
    return round(time.perf_counter() - start, 3)


def _learn(
    hasher: Hasher,
    data: Dataset | ShardedData,
    sources: Sequence[str],
    client: "Client | None",
    progress: bool,
    meant: Sequence[Meant],
) -> float:
    """Fit `hasher` on all of the data; return the seconds it took."""
    if len(data) < 2:
        raise DataError("one sample is not enough to learn from: give at least two")
    seen = categories(data)
    if isinstance(data, Dataset):
        return fit_timed(hasher, data, slice(None), seen, sources, meant)  # without another copy
    targets, vectors = shared_targets(hasher, data, seen, sources, meant)
    start = time.perf_counter()
    scale.fit(hasher, data.shards, targets, vectors=vectors, client=client, progress=progress)
    return round(time.perf_counter() - start, 3)


def _notes(
    hasher: Hasher,
    data: LabelledFeatures,
    hidden: NDArray[np.int64],
    sources: Sequence[str],
    origin: str,
    seconds: float,
) -> dict[str, Any]:
    """Facts on a training, ready for JSON."""
    seen = categories(data)
    ids = [data.synsets[number] for number in seen] if data.synsets else [""]
    return {
        "features": origin,
        **({"extractor": data.extractor} if data.extractor else {}),
        "labels": label_names(hasher, sources) if len(seen) else [],
        "seen": [data.names[number] for number in seen],
        **({"synsets": ids} if all(ids) else {}),
        "unseen": [data.names[number] for number in hidden],
        "n_train": len(data),
        **_choices(hasher, data),
        "fit_seconds": seconds,
    }


def _choices(hasher: Hasher, data: LabelledFeatures) -> dict[str, Any]:
    """What MTH has decided from the samples."""
    if not isinstance(hasher, MTH):
        return {}
    n_labelled = 0 if data.labels is None else int(bears(data.labels, categories(data)).sum())
    prior = None if hasher.prior is None else open_statistics(hasher.prior)
    return {
        "n_unlabelled": len(data) - n_labelled,
        "averaging": round(hasher.averaging_, 4),
        "shrinkage": round(hasher.shrinkage_, 4),
        "prior": prior and (prior.network.get("name") or "a file"),
    }
