"""Fits and codes on a device."""

from functools import partial
from typing import Any

import numpy as np
import torch

from zshash.codes import code_bytes
from zshash.hashing.hasher import Hasher, SumHasher
from zshash.hashing.mth import MTH
from zshash.hashing.steps.kinds import KernelHasher, LinearHasher
from zshash.hashing.steps.samples import Samples
from zshash.hashing.zsh import ZSH
from zshash.scale.device.arrays import ROWS, padded
from zshash.scale.device.blocks import DeviceKernel, operations
from zshash.scale.device.distillation import DeviceDistillation
from zshash.scale.device.samples import DeviceSamples
from zshash.scale.tables import DeviceError

__all__ = [
    "check_finite",
    "check_method",
    "check_tensor",
    "encoder",
    "find_device",
    "learn",
]

ENCODED_ROWS = 2**17  # rows whose features are held at a time


def find_device(name):
    """The device with this name; DeviceError if it can not be used."""
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).cpu()  # "meta" has no values
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0].rstrip(".:")
        raise DeviceError(
            f"the device {str(name)!r} can not be used ({reason}): name one that PyTorch finds "
            "here, or work with arrays and without a device"
        ) from error
    return device


def check_method(hasher: Hasher) -> None:
    """Refuse a fit that a device can not do."""
    if isinstance(hasher, MTH):
        return
    if not (isinstance(hasher, KernelHasher) and isinstance(hasher, SumHasher)):
        raise ValueError(
            f"{type(hasher).__name__} can not be fitted on a device: fit it to arrays without "
            "one, or use MTH, ZSH or SDH"
        )
    if isinstance(hasher, ZSH) and hasher.graph is not None and hasher.gamma:
        raise ValueError(
            f"graph={hasher.graph!r} is not available on a device: set graph=None, or fit without "
            "a device"
        )


def check_tensor(X):
    """Refuse a tensor that is no table of features."""
    if not torch.is_tensor(X):
        raise TypeError(
            f"features are a tensor (n, d) of floats, got {type(X).__name__}: convert it with "
            "torch.from_numpy"
        )
    if X.ndim != 2 or not X.dtype.is_floating_point or 0 in X.shape:
        raise ValueError(
            f"features are a tensor (n, d) of floats, got shape {tuple(X.shape)} of {X.dtype}: "
            "convert it with X.reshape(n, d).float()"
        )


def check_finite(rows):
    """Refuse `TensorRows` that hold NaN or infinity."""
    if not all(bool(torch.isfinite(X).all()) for X in rows.blocks()):
        raise ValueError("the tensor contains NaN or infinity: remove or repair such rows")


def learn(hasher: Hasher, rows, targets, device) -> None:
    """Fit a hasher to `rows`, a `TensorRows` or `ShardBlocks`."""
    if len(rows) < 2:
        raise ValueError("there is one row: a fit needs two at least")
    try:
        if isinstance(hasher, MTH):
            _fit_network(hasher, rows, targets, device)
        else:
            assert isinstance(hasher, KernelHasher)  # `check_method` refuses others
            _fit_kernel(hasher, rows, targets, device)
    except torch.OutOfMemoryError as error:
        needs = (
            "8 bytes for each of their features: use fewer samples"
            if isinstance(hasher, MTH)
            else "2 bytes for each of their kernel features: use fewer anchors or samples"
        )
        raise DeviceError(
            f"{device} has not enough memory for {len(rows)} samples, about {needs}, or fit "
            "without a device"
        ) from error


def _fit_kernel(hasher: KernelHasher, rows, targets, device) -> None:
    """Fit a method that learns from kernel features, which the device holds."""
    # Any: it has the methods that ZSH and SDH use, and lacks others of `SampleSource`.
    samples: Any = DeviceSamples(rows, targets, device, bool(hasher.normalize))
    ends = samples.take(np.array([0, len(rows) - 1]))
    hasher.check_features(ends, reset=True)
    if hasher.bandwidth is not None:  # else the rows are looked at when it is chosen
        samples.squares_from(ends[0].astype(np.float64))
    hasher.learn(samples)
    hasher.check_amount(samples)  # afterwards: rows are looked at while it learns


def _fit_network(hasher: MTH, rows, targets, device) -> None:
    """Fit a network on a device; features pass through the memory of the host."""
    X = hasher.training_features(rows.take(np.arange(len(rows))))
    hasher.learn(Samples(X, targets), partial(DeviceDistillation, device=device))


def encoder(hasher: Hasher, device, *, is_half):
    """The function from features (n, d) on a device to packed codes there."""
    projector = type(hasher).projector
    if isinstance(hasher, KernelHasher) and projector is KernelHasher.projector:
        encode = _kernel_encoder(hasher, device, is_half)
    elif isinstance(hasher, LinearHasher) and projector is LinearHasher.projector:
        encode = _linear_encoder(hasher, device)
    elif isinstance(hasher, MTH):
        encode = _network_encoder(hasher, device)
    else:
        raise ValueError(
            f"{type(hasher).__name__} can not encode on a device: encode without, or use a method "
            "whose hash function is a matrix product, such as ZSH, SDH or ITQ"
        )
    dtype = torch.float16 if is_half else torch.float32

    def encode_checked(X):
        check_tensor(X)
        if X.shape[1] != hasher.n_features_in_:
            raise ValueError(
                f"a tensor of shape {tuple(X.shape)} was given, but the hasher was fitted to rows "
                f"of {hasher.n_features_in_} features: give it features of the same kind"
            )
        if is_half and X.dtype != dtype:
            raise ValueError(
                f"a tensor of {X.dtype} was given for codes from float16: give X.half(), or set "
                "is_half=False"
            )
        return encode(X.detach().to(device=device, dtype=dtype).contiguous())

    return encode_checked


def _kernel_encoder(hasher: KernelHasher, device, is_half):
    kernel = DeviceKernel(
        hasher.anchors_,
        hasher.bandwidth_,
        device,
        is_half=is_half,
        normalize=bool(hasher.normalize),
    )
    halves = kernel.weights(torch.as_tensor(hasher.projection_, device=device).double())
    signs = operations(device).signs

    def encode(X):
        codes = torch.empty((len(X), code_bytes(hasher.n_bits)), dtype=torch.uint8, device=device)
        shape = min(padded(len(X), ROWS), ENCODED_ROWS), kernel.width
        room = torch.empty(shape, dtype=torch.float16, device=device)
        for first in range(0, len(X), ENCODED_ROWS):
            part = X[first : first + ENCODED_ROWS]
            Psi = kernel(part, room[: padded(len(part), ROWS)])
            signs(Psi, halves, hasher.n_bits, codes[first : first + ENCODED_ROWS])
        return codes

    return encode


def _linear_encoder(hasher: LinearHasher, device):
    mean, projection = (
        torch.as_tensor(array, device=device) for array in (hasher.mean_, hasher.projection_)
    )

    return lambda X: _packed((_prepared(hasher, X) - mean) @ projection >= 0, device)


def _network_encoder(hasher: MTH, device):
    W, b, A, a, outputs = (torch.as_tensor(array, device=device) for array in hasher.weights())
    n_set = hasher.n_bits - len(b)

    def bits(X):
        X = _prepared(hasher, X)
        is_set = X @ W + torch.relu(X @ A + a) @ outputs + b >= 0
        return torch.nn.functional.pad(is_set, (0, n_set), value=True)

    return lambda X: torch.cat([_packed(bits(part), device) for part in X.split(ENCODED_ROWS)])


def _prepared(hasher: Hasher, X):
    X = X.float()
    return torch.nn.functional.normalize(X, dim=1, eps=1e-30) if hasher.normalize else X


def _packed(bits, device):
    return torch.from_numpy(np.packbits(bits.cpu().numpy(), axis=1)).to(device)
