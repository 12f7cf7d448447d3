"""Fits and codes on a GPU, with PyTorch."""

from zshash.scale.device.fitting import (
    check_finite,
    check_method,
    check_tensor,
    encoder,
    find_device,
    learn,
)
from zshash.scale.device.rows import ShardBlocks, TensorRows

__all__ = [
    "ShardBlocks",
    "TensorRows",
    "check_finite",
    "check_method",
    "check_tensor",
    "encoder",
    "find_device",
    "learn",
]
