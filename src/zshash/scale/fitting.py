"""Fits and codes of features that do not fit into memory, or into one machine."""

from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from zshash._extras import needs
from zshash._files import whole_file
from zshash._progress import watched
from zshash._threads import all_cores
from zshash.codes import code_bytes
from zshash.hashing.hasher import Hasher, SumHasher, SupervisedHasher, check_binary
from zshash.hashing.registry import METHODS
from zshash.scale.cluster import OnDask
from zshash.scale.samples import ShardedSamples
from zshash.scale.shards import Shard, ShardRows, open_shards
from zshash.scale.tables import ShardError, as_array, is_tensor
from zshash.scale.targets import KnownLabels, all_targets, combine, known_labels, read_targets
from zshash.scale.workers import Here, Workers

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["check_method", "encode", "fit", "frozen", "survey"]

CHUNK_ROWS = 16384  # rows encoded at a time


Fitted = TypeVar("Fitted", bound=Hasher)


def fit(
    hasher: Fitted,
    shards: Any,
    targets: Any = None,
    *,
    vectors: ArrayLike | None = None,
    client: "Client | None" = None,
    device: Any = None,
    progress: bool = False,
) -> Fitted:
    """Fit a hasher to features in shards; one block of rows is in memory at a time.

    The result is that of ``hasher.fit`` on all rows at once, up to the rounding of sums; for the
    same shards it is always the same, with or without a cluster.

    Parameters
    ----------
    hasher : ZSH, SDH, ITQ, LSH or SSH; MTH on a device
        For ZSH with ``graph="anchor"`` or ``graph=None``, for SDH with ``loss="l2"``.
    shards : path-like, ndarray, or sequence of these
        Features (n, d): ``.npy`` files, which may be larger than memory, ``.npz`` or Parquet
        files, arrays, or a folder of such files. All have the same width.
    targets : array, path-like, or list of one for each shard, optional
        As ``y`` in ``hasher.fit``, for all rows or shard by shard. By default the labels that the
        files hold; the labels of ``NAME.npy`` are in ``NAME.labels.npy``.
    vectors : array of shape (c, p), optional
        Label vectors; `targets` then hold the row number of each sample's vector.
    client : distributed.Client, optional
        A Dask cluster that works on the shards, whose files its workers must see under the same
        paths.
    device : str or torch.device, optional
        A GPU that works on the shards, such as "cuda", and holds the kernel features of all
        samples (2 bytes for each anchor and sample); for ZSH with ``graph=None`` and SDH, and for
        MTH, whose samples must fit into the memory of the host, too. By default, where `shards` is
        a tensor of PyTorch, the device that it is on.
    progress : bool
        Show a bar for each pass over the shards, and for the training of MTH on a device.

    Returns
    -------
    hasher

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import ZSH, scale
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = ZSH(n_bits=16, n_anchors=100, graph="anchor", normalize=True, random_state=0)
    >>> scale.fit(hasher, [X[:900], X[900:]], y).encode(X[:3]).shape
    (3, 2)
    """
    _check_hasher(hasher)
    if is_tensor(shards) or device is not None:
        _check_alone(client)
        with watched(progress):
            return _fit_on_device(hasher, shards, targets, vectors, device)
    method = check_method(hasher)
    workers = _workers(client, progress)
    found = look(open_shards(shards), workers)
    own, shared = _read_targets(hasher, found, targets, vectors, workers)
    samples = ShardedSamples(
        found,
        workers,
        normalize=bool(hasher.normalize),
        own=own,
        vectors=shared,
    )
    check_rows(hasher, samples)
    with all_cores():
        method.learn(samples)
    return hasher


def encode(
    hasher: Hasher,
    shards: Any,
    *,
    output: str | Path | None = None,
    client: "Client | None" = None,
    device: Any = None,
    progress: bool = False,
) -> Any:
    """Packed codes (n, bytes) of features in shards.

    Parameters
    ----------
    hasher : Hasher
        Any fitted method.
    shards, client, progress
        As for `fit`.
    device : str or torch.device, optional
        A GPU that works on the shards. The codes of a tensor of PyTorch stay on this device, by
        default the one that the tensor is on.
    output : path-like, optional
        A ``.npy`` file for the codes, written completely or not at all; `encode` returns a memory
        map of it.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from zshash import ITQ, scale
    >>> X, _ = load_digits(return_X_y=True)
    >>> hasher = ITQ(n_bits=32, random_state=0).fit(X)
    >>> bool((scale.encode(hasher, [X[:900], X[900:]]) == hasher.encode(X)).all())
    True
    """
    check_is_fitted(hasher)
    if is_tensor(shards):
        _check_alone(client)
        codes = _encode_tensor(hasher, shards, device)
        return codes if output is None else _write(iter([as_array(codes)]), codes.shape, output)
    workers = _workers(client, progress)
    found = look(open_shards(shards), workers)
    _check_width(hasher, found)
    if device is None:
        parts = workers.map(encode_shard, found, hasher=workers.keep(without_codes(hasher)))
    else:
        _check_alone(client)
        parts = _encode_on_device(hasher, found, device)
    if output is None:
        return np.concatenate(list(parts))
    n = sum(shard.shape[0] for shard in found if shard.shape)
    return _write(parts, (n, code_bytes(hasher.n_bits)), output)


def _write(
    parts: Iterator[NDArray[np.uint8]], shape: Sequence[int], output: str | Path
) -> NDArray[np.uint8]:
    """Write codes to a file as they are made; returns a memory map of it."""
    header = {"descr": "|u1", "fortran_order": False, "shape": tuple(shape)}
    with whole_file(Path(output)) as file:
        np.lib.format.write_array_header_1_0(file, header)
        for part in parts:
            file.write(part.tobytes())
    packed: NDArray[np.uint8] = np.load(output, mmap_mode="r")
    return packed


def survey(
    shards: Any, *, client: "Client | None" = None, progress: bool = False
) -> tuple[list[Shard], list[KnownLabels]]:
    """The shards with their shapes, and the labels each of them holds; parameters as for `fit`."""
    workers = _workers(client, progress)
    found = look(open_shards(shards), workers)
    return found, list(workers.map(known_labels, found))


def frozen(hasher: Hasher, device: Any, *, is_half: bool = True) -> Any:
    """A function from tensors (n, d) on a device to packed codes there, for many calls.

    The function returns what `encode` returns. Everything it needs is prepared once and kept on
    the device. Values are not checked: codes of NaN mean nothing.

    Parameters
    ----------
    hasher : Hasher
        A fitted method whose hash function is a matrix product, such as ZSH, SDH, KSH or ITQ.
    device : str or torch.device
    is_half : bool
        Whether the tensors will be of float16; else they are of float32.
    """
    check_is_fitted(hasher)
    gpu = _gpu()
    return gpu.encoder(hasher, gpu.find_device(device), is_half=is_half)


def _fit_on_device(
    hasher: Fitted, given: Any, targets: Any, vectors: ArrayLike | None, device: Any
) -> Fitted:
    gpu = _gpu()
    gpu.check_method(hasher)
    hasher.check_parameters()
    check_binary(hasher, "a fit on a device")
    if isinstance(hasher, SumHasher):
        hasher.check_sums()
    where = gpu.find_device(given.device if device is None else device)
    if is_tensor(given):
        gpu.check_tensor(given)
        shards = [Shard(np.empty((0, 0)), "the tensor", shape=tuple(given.shape))]
        rows = gpu.TensorRows(given.detach().to(where))
    else:
        shards = look(open_shards(given), Here())
        rows = gpu.ShardBlocks(shards, where)
    own, shared = _read_targets(hasher, shards, targets, vectors, Here())
    with all_cores():
        gpu.learn(hasher, rows, all_targets(own or [], shared), where)
    return hasher


def _encode_tensor(hasher: Hasher, given: Any, device: Any) -> Any:
    gpu = _gpu()
    where = gpu.find_device(given.device if device is None else device)
    gpu.check_tensor(given)
    X = given.detach().to(where)
    rows = gpu.TensorRows(X)
    encode = gpu.encoder(hasher, where, is_half=rows.is_half)
    gpu.check_finite(rows)
    return encode(X)


def _encode_on_device(
    hasher: Hasher, shards: Sequence[Shard], device: Any
) -> Iterator[NDArray[np.uint8]]:
    gpu = _gpu()
    where = gpu.find_device(device)
    encode = gpu.encoder(hasher, where, is_half=False)
    return (encode(block).cpu().numpy() for block in gpu.ShardBlocks(shards, where).blocks())


def _gpu() -> Any:
    """The module for fits on a GPU, which needs PyTorch."""
    with needs("torch"):
        from zshash.scale import device
    return device


def _check_alone(client: Any) -> None:
    if client is not None:
        raise ValueError("give client or device, not both: a cluster works without a device")


def look(shards: Sequence[Shard], workers: Workers) -> list[Shard]:
    """The shards with their shapes; ShardError where their widths differ."""
    found = list(workers.map(Shard.looked_at, shards))
    first = found[0]
    for shard in found:
        if shard.shape[1] != first.shape[1]:
            raise ShardError(
                f"{shard.name}: {shard.shape[1]} features for each sample, but {first.name} has "
                f"{first.shape[1]}: all shards must have the same width"
            )
    return found


def check_rows(hasher: Hasher, samples: ShardedSamples) -> None:
    """Raise ValueError unless there are at least two rows, not all equal, as ``fit`` does.

    Warns as ``fit`` does where rows are too few for the method.
    """
    if len(samples) < 2:
        raise ValueError("there is one row in the shards: a fit needs two at least")
    ends = samples.take(np.array([0, len(samples) - 1]))
    hasher.check_features(ends, reset=True)
    if (ends[0] == ends[1]).all() and not samples.total(number_unlike, ends[0]):
        hasher.training_features(ends)  # says what is wrong
    hasher.check_amount(samples)


def number_unlike(block: NDArray[np.float32], row: NDArray[np.float32]) -> np.float64:
    """How many rows of a block differ from a row."""
    return np.float64((block != row).any(axis=1).sum())


def encode_shard(shard: Shard, *, hasher: Hasher) -> NDArray[np.uint8]:
    """Packed codes of a shard."""
    rows, frozen = ShardRows(shard), hasher.frozen()
    with all_cores():
        parts = [frozen(rows[part]) for part in gen_batches(len(rows), CHUNK_ROWS)]
    return np.concatenate(parts)


def without_codes(hasher: Hasher) -> Hasher:
    """A copy of the hasher without the codes of its training samples."""
    light = copy(hasher)
    light.__dict__.pop("codes_", None)
    return light


def _workers(client: "Client | None", progress: bool) -> Workers:
    return Here(progress) if client is None else OnDask(client, progress)


def _check_hasher(hasher: object) -> None:
    if not isinstance(hasher, Hasher):
        what = hasher.__name__ if isinstance(hasher, type) else repr(hasher)
        raise TypeError(f"the hasher must be an object such as ZSH(n_bits=64), got {what}")


def check_method(hasher: Hasher) -> SumHasher:
    """The hasher, or ValueError if its method or its parameters need all rows in memory."""
    if not isinstance(hasher, SumHasher):
        able = [name for name, own in METHODS.items() if issubclass(own.estimator, SumHasher)]
        raise ValueError(
            f"{type(hasher).__name__} needs all rows in memory: fit it to a sample of them, or use "
            f"one of {', '.join(able)}, which learn from sums over rows"
        )
    hasher.check_parameters()
    hasher.check_sums()
    return hasher


def _read_targets(
    hasher: Hasher,
    shards: Sequence[Shard],
    targets: Any,
    vectors: ArrayLike | None,
    workers: Workers,
) -> tuple[list[Any] | None, NDArray[np.float64] | None]:
    if not isinstance(hasher, SupervisedHasher):
        return None, None
    if targets is None:
        known = list(workers.map(known_labels, shards))
        if not hasher.needs_labels and all(own.labels is None for own in known):
            return [
                np.zeros(shard.shape[0], np.int32) for shard in shards if shard.shape
            ], np.zeros((1, 0))
        labels, names, _ = combine(known)
        is_single = labels[0].ndim == 1
        targets = [np.array(names)[own] if is_single else own.astype(int) for own in labels]
    return read_targets(hasher, shards, targets, vectors)


def _check_width(hasher: Hasher, shards: Sequence[Shard]) -> None:
    for shard in shards:
        if shard.shape and shard.shape[1] != hasher.n_features_in_:
            raise ShardError(
                f"{shard.name}: {shard.shape[1]} features for each sample, but the hasher was "
                f"fitted to {hasher.n_features_in_}: give it features of the same kind"
            )
