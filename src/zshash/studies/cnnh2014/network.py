"""The convolutional network of the paper, which is that of cuda-convnet for CIFAR-10.

Three layers of 32, 32 and 64 filters of 5 × 5, each followed by max(0, ·) and by pooling over
3 × 3 pixels with a stride of 2: the largest value, then means. A linear layer gives an output for
each bit and, in CNNH+, for each class. Filters and pooling are the paper's. Its normalisation
across filters is left out; batches are normalised instead, so that fewer steps are enough.
"""

from typing import Any

from zshash._extras import needs

with needs("torch"):
    import torch
    from torch import nn

__all__ = ["convolutional_network", "outputs_of"]

FILTERS = 32, 32, 64
WIDTH = 5  # of a filter, in pixels


def convolutional_network(side: int, channels: int, n_outputs: int) -> Any:
    """The network for pictures of side × side pixels, with random weights."""
    parts: list[nn.Module] = []
    for depth, filters in enumerate(FILTERS):
        parts += [
            nn.Conv2d(channels, filters, WIDTH, padding=WIDTH // 2),
            nn.BatchNorm2d(filters),
            nn.ReLU(),
            _pooling(depth),
        ]
        channels, side = filters, -(-side // 2)
    return nn.Sequential(*parts, nn.Flatten(), nn.Linear(channels * side * side, n_outputs))


def _pooling(depth: int) -> nn.Module:
    kind = nn.MaxPool2d if depth == 0 else nn.AvgPool2d
    return kind(3, stride=2, padding=1)


def outputs_of(network: Any, pixels: Any, batch: int) -> Any:
    """Outputs (n, l) for all pictures, a batch at a time, on the CPU."""
    network.eval()
    with torch.inference_mode():
        return torch.cat([network(part).cpu() for part in pixels.split(batch)])
