"""EfficientNet-Lite0 that goes on learning, from the weights that come with their package.

Pictures are enlarged by the network itself, a batch at a time. The weights, learned from ImageNet,
have the names of `zshash.images.efficientnet`; the last layer is new.
"""

from typing import Any

from zshash._extras import needs
from zshash.images.efficientnet import LITE0, read_weights
from zshash.images.efficientnet_graph import (
    BATCH_NORM_EPSILON,
    HEAD_CHANNELS,
    STEM_CHANNELS,
    Stage,
    stages,
)

with needs("torch"):
    import torch
    from torch import nn
    from torch.nn import functional

__all__ = ["lite_network"]


def lite_network(side: int, n_outputs: int) -> nn.Module:
    """The network for pictures (n, channels, h, w) of values up to 255, enlarged to `side`."""
    network = LiteNetwork(side, n_outputs)
    known = {
        name: torch.tensor(values)
        for name, values in read_weights(LITE0).items()
        if not name.startswith("_fc.")
    }
    _, unexpected = network.load_state_dict(known, strict=False)
    missing = network.state_dict().keys() - known.keys() - {"_fc.weight", "_fc.bias"}
    assert not unexpected
    assert all(name.endswith("num_batches_tracked") for name in missing)
    return network


class LiteNetwork(nn.Module):  # type: ignore[misc]
    """EfficientNet-Lite0 with another last layer; its parts have the names of the weights."""

    def __init__(self, side: int, n_outputs: int) -> None:
        super().__init__()
        self.side = side
        self._conv_stem = Convolution(3, STEM_CHANNELS, 3, stride=2)
        self._bn0 = _norm(STEM_CHANNELS)
        blocks, channels = [], STEM_CHANNELS
        for stage in stages(LITE0.width, LITE0.depth):
            for repeat in range(stage.repeats):
                blocks.append(Block(channels, stage, 1 if repeat else stage.stride))
                channels = stage.channels
        self._blocks = nn.ModuleList(blocks)
        self._conv_head = Convolution(channels, HEAD_CHANNELS, 1)
        self._bn1 = _norm(HEAD_CHANNELS)
        self._fc = nn.Linear(HEAD_CHANNELS, n_outputs)

    def forward(self, pixels: Any) -> Any:
        """Outputs (n, l) of pictures."""
        return self._fc(self.features(pixels))

    def features(self, pixels: Any) -> Any:
        """Features (n, 1280) of pictures; grey ones have one channel."""
        x = pixels.expand(-1, 3, -1, -1)
        if x.shape[2:] != (self.side, self.side):
            x = functional.interpolate(x, size=(self.side, self.side), mode="bicubic")
        known = LITE0.preparation
        x = (x - known.mean) / known.scale
        x = functional.relu6(self._bn0(self._conv_stem(x)))
        for block in self._blocks:
            x = block(x)
        return functional.relu6(self._bn1(self._conv_head(x))).mean(dim=(2, 3))


class Block(nn.Module):  # type: ignore[misc]
    """Expand the channels, filter each one, project; inputs of the same shape are added."""

    def __init__(self, channels: int, stage: Stage, stride: int) -> None:
        super().__init__()
        wide = channels * stage.expansion
        self._expands = stage.expansion > 1
        self._adds = stride == 1 and channels == stage.channels
        if self._expands:
            self._expand_conv = Convolution(channels, wide, 1)
            self._bn0 = _norm(wide)
        self._depthwise_conv = Convolution(wide, wide, stage.kernel, stride, groups=wide)
        self._bn1 = _norm(wide)
        self._project_conv = Convolution(wide, stage.channels, 1)
        self._bn2 = _norm(stage.channels)

    def forward(self, x: Any) -> Any:
        """Output of the block."""
        y = functional.relu6(self._bn0(self._expand_conv(x))) if self._expands else x
        y = functional.relu6(self._bn1(self._depthwise_conv(y)))
        y = self._bn2(self._project_conv(y))
        return x + y if self._adds else y


class Convolution(nn.Conv2d):  # type: ignore[misc]
    """A convolution without offset whose output has the size of its input over its stride."""

    def __init__(
        self, channels: int, filters: int, kernel: int, stride: int = 1, groups: int = 1
    ) -> None:
        super().__init__(channels, filters, kernel, stride, groups=groups, bias=False)

    def forward(self, x: Any) -> Any:
        """Filtered pictures; of an odd number of places beside them, one more is at the end."""
        pads: list[int] = []
        for size in (x.shape[3], x.shape[2]):
            kernel, stride = self.kernel_size[0], self.stride[0]
            missing = max((-(-size // stride) - 1) * stride + kernel - size, 0)
            pads += [missing // 2, missing - missing // 2]
        return super().forward(functional.pad(x, pads))


def _norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=BATCH_NORM_EPSILON)
