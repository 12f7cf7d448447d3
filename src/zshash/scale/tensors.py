"""Tensors of PyTorch where they are given, without a need for PyTorch."""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DeviceError", "as_array", "is_tensor"]


class DeviceError(RuntimeError):
    """A device that is not there or has not enough memory; the message says what to do."""


def is_tensor(value: Any) -> bool:
    """Whether something is a tensor of PyTorch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def as_array(value: Any) -> NDArray[Any]:
    """An array of what is given; a tensor may be on any device, and of a type NumPy lacks."""
    if not is_tensor(value):
        return np.asanyarray(value)
    plain = value.detach().cpu()
    array: NDArray[Any]
    try:
        array = plain.numpy()
    except TypeError:  # bfloat16 and shorter ones
        array = plain.float().numpy()
    return array
