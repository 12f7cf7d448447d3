"""Fits and codes on a GPU, with PyTorch."""

from zshash.scale.device.fitting import (
    DeviceError,
    check_method,
    check_tensor,
    encoder,
    find_device,
    learn,
)
from zshash.scale.device.rows import ShardBlocks, TensorRows

__all__ = [
    "DeviceError",
    "ShardBlocks",
    "TensorRows",
    "check_method",
    "check_tensor",
    "encoder",
    "find_device",
    "learn",
]
