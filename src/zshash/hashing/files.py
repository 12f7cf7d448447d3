"""Models on disk: safetensors with a JSON header. Nothing in such a file can run code."""

import hashlib
import json
from numbers import Real
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as write_tensors
from sklearn.utils.validation import check_is_fitted

from zshash._files import write_whole
from zshash.hashing.registry import METHODS

METADATA_KEY = "zshash"
# A file with more than a hasher has format 2, so that an older zshash does not lose the rest.
FORMAT_VERSION, FORMAT_WITH_MORE = 1, 2
MORE = "more."  # arrays that belong to no hasher begin so


class ModelError(ValueError):
    """A file that can not be read as a model; the message says why."""


def save(hasher, path, *, notes=None):
    """Write a fitted hasher to `path`, whole or not at all.

    Parameters
    ----------
    hasher : Hasher
    path : path-like
    notes : dict, optional
        Facts to keep with the model (category names, where the labels came from, …), as JSON.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from zshash.hashing import LSH, load, save
    >>> hasher = LSH(n_bits=16, random_state=0).fit(np.eye(4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(hasher, f"{folder}/model.zshash")
    ...     again = load(f"{folder}/model.zshash")
    >>> bool((again.encode(np.eye(4)) == hasher.encode(np.eye(4))).all())
    True
    """
    write_whole(Path(path), to_bytes(hasher, notes=notes))


def to_bytes(hasher, *, notes=None, more=None):
    """Contents of the file that `save` writes.

    `more` are arrays by name and a dict of facts, which belong to the model but not to the hasher.
    """
    if type(hasher).__name__ not in METHODS:
        raise TypeError(f"{type(hasher).__name__} is not a method of zshash")
    check_is_fitted(hasher)
    tensors, values = _split(vars(hasher))
    header = {
        "version": FORMAT_VERSION,
        "method": type(hasher).__name__,
        "parameters": _parameters(hasher),
        "values": values,
        "notes": notes or {},
    }
    if more is not None:
        arrays, facts = more
        header |= {"version": FORMAT_WITH_MORE, "more": facts}
        tensors |= {f"{MORE}{name}": np.ascontiguousarray(own) for name, own in arrays.items()}
    try:
        header["sha256"] = _digest(header, tensors)
    except TypeError as error:
        raise TypeError(
            f"notes and labels must be plain words, numbers and lists: {error}"
        ) from None
    # One entry: safetensors would write several in any order.
    metadata = {METADATA_KEY: json.dumps(header, sort_keys=True)}
    return write_tensors(tensors, metadata=metadata)


def load(path):
    """Read a hasher that `save` wrote.

    Raises
    ------
    ModelError
        If the file is not a model, is damaged, or was written by a later version.
    """
    return read(path)[0]


def read(path):
    """Read a hasher that `save` wrote, and the notes that were kept with it; see `load`."""
    return read_all(path)[:2]


def read_all(path):
    """Read hasher, notes, and what else `to_bytes` was given as `more`, or None; see `load`."""
    header, tensors = _read(path)
    others = {name for name in tensors if name.startswith(MORE)}
    more = {name.removeprefix(MORE): tensors.pop(name) for name in sorted(others)}
    method = METHODS.get(header["method"])
    if method is None:
        raise ModelError(
            f"{path}: its method {header['method']!r} is unknown here; upgrade zshash to read it"
        )
    try:
        hasher = method.estimator(**header["parameters"])
        for name, value in (tensors | header["values"]).items():
            setattr(hasher, name, np.asarray(value) if isinstance(value, list) else value)
        _check_finite(tensors | header["values"])
        _try_out(hasher)
    except (TypeError, ValueError, AttributeError, OverflowError, MemoryError) as error:
        raise ModelError(f"{path}: the model does not fit together ({error})") from error
    return hasher, header["notes"], (more, header["more"]) if "more" in header else None


def _try_out(hasher):
    """Hash one row of zeros, which fails unless the arrays fit each other."""
    row = np.zeros((1, hasher.n_features_in_), dtype=np.float32)
    values = hasher.projector()(row)
    if values.shape != (1, hasher.n_outputs):
        raise ValueError("n_bits is not the number of projections")
    if 8 * hasher.quantize(values).shape[1] < hasher.n_bits:
        raise ValueError("codes have fewer bits than n_bits")


def _check_finite(state):
    """Refuse weights that are NaN or infinite: they give every sample the same bits.

    The objective of a fit decides about no bit.
    """
    for name, value in state.items():
        numbers = np.asarray(value) if isinstance(value, (np.ndarray, list, float)) else None
        if name == "objective_" or numbers is None or numbers.dtype.kind != "f":
            continue
        if not np.isfinite(numbers).all():
            raise ValueError(f"{name} holds NaN or infinity: fit it again")


def is_model(path):
    """Whether a file calls itself a model of zshash; it may still be damaged."""
    try:
        with safe_open(path, framework="numpy") as file:
            return METADATA_KEY in (file.metadata() or {})
    except (SafetensorError, ValueError, TypeError, OSError):
        return False


def read_header(path):
    """Method, parameters, scalar state and notes of a model, without its arrays' meaning."""
    return _read(path)[0]


def _split(state):
    """Part the fitted attributes into arrays and JSON values."""
    tensors, values = {}, {}
    for name, value in state.items():
        if name.startswith("_") or not name.endswith("_"):
            continue
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            tensors[name] = np.ascontiguousarray(value)
        elif isinstance(value, np.ndarray):
            values[name] = value.tolist()
        else:
            values[name] = value.item() if isinstance(value, np.generic) else value
    return tensors, values


def _parameters(hasher):
    """Parameters as JSON; a random generator has no such form and is left out."""
    parameters = {}
    for name, value in hasher.get_params().items():
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (str, bool, Real)):
            parameters[name] = value
    return parameters


def _digest(header, tensors):
    """Checksum of all that a file says."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.data if array.size else b"")
    return digest.hexdigest()


def _read(path):
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such model file")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, ValueError, TypeError, OSError) as error:
        raise ModelError(f"{path}: not a zshash model, or damaged ({error})") from error
    return _header(path, metadata, tensors), tensors


def _header(path, metadata, tensors):
    if METADATA_KEY not in metadata:
        raise ModelError(f"{path}: a safetensors file, but not a zshash model")
    try:
        header = json.loads(metadata[METADATA_KEY])
        version, checksum = header["version"], header.pop("sha256")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise ModelError(f"{path}: its header is not that of a zshash model") from None
    if version not in (FORMAT_VERSION, FORMAT_WITH_MORE):
        raise ModelError(
            f"{path}: written in format {version!r}, this zshash reads up to {FORMAT_WITH_MORE}; "
            "upgrade zshash, or fit the model again"
        )
    if checksum != _digest(header, tensors):
        raise ModelError(f"{path}: damaged, its checksum does not match; copy or fit it again")
    kinds = {"method": str, "parameters": dict, "values": dict, "notes": dict}
    if "more" in header:
        kinds["more"] = dict
    if not all(isinstance(header.get(name), kind) for name, kind in kinds.items()):
        raise ModelError(f"{path}: its header is not that of a zshash model")
    state = [*header["values"], *(name for name in tensors if not name.startswith(MORE))]
    if not all(name.endswith("_") and name[0].isalpha() for name in state):
        raise ModelError(f"{path}: it would set something other than fitted state")
    return header
