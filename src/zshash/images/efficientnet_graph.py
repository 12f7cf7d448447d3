"""EfficientNet-Lite of any width and depth as an ONNX graph, from weights by their PyTorch names.

Batch normalisation is folded into the convolutions. The stem and the head of the Lite networks
have the same number of channels in all of them, and their first and last stage the same number of
blocks.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash._extras import needs

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

__all__ = ["GRAPH_VERSION", "build_graph", "stages"]

GRAPH_VERSION = 1  # raise it with any change of the graph
BATCH_NORM_EPSILON = 1e-3
OPSET, IR_VERSION = 17, 8
CHANNEL_STEP = 8

Weights = Mapping[str, NDArray[Any]]


class Stage(NamedTuple):
    """Blocks in a row; the first has the stride, the others add their input."""

    repeats: int
    kernel: int
    stride: int
    expansion: int
    channels: int


STEM_CHANNELS, HEAD_CHANNELS = 32, 1280
BASE = (
    Stage(1, 3, 1, 1, 16),
    Stage(2, 3, 2, 6, 24),
    Stage(2, 5, 2, 6, 40),
    Stage(3, 3, 2, 6, 80),
    Stage(3, 5, 1, 6, 112),
    Stage(4, 5, 2, 6, 192),
    Stage(1, 3, 1, 6, 320),
)
"""Stages of EfficientNet-Lite0."""


def stages(width: float, depth: float) -> tuple[Stage, ...]:
    """Stages of a network that is wider and deeper than EfficientNet-Lite0 by these factors.

    >>> [(stage.repeats, stage.channels) for stage in stages(width=1.1, depth=1.2)]
    [(1, 16), (3, 24), (3, 48), (4, 88), (4, 120), (5, 208), (1, 352)]
    """
    first, *middle, last = (
        stage._replace(channels=_wider(stage.channels, width)) for stage in BASE
    )
    deeper = [stage._replace(repeats=math.ceil(stage.repeats * depth)) for stage in middle]
    return (first, *deeper, last)


def _wider(channels: int, width: float) -> int:
    """Channels times width, to the nearest multiple of eight that is not over a tenth less."""
    wanted = channels * width
    rounded = max(int(wanted + CHANNEL_STEP / 2) // CHANNEL_STEP * CHANNEL_STEP, CHANNEL_STEP)
    return rounded if rounded >= 0.9 * wanted else rounded + CHANNEL_STEP


def build_graph(weights: Weights, name: str, rows: tuple[Stage, ...], size: int) -> bytes:
    """The network in ONNX form, from "pixels" (n, 3, size, size) to "features" (n, 1280)."""
    draw = _Drawing(weights)
    x = draw.convolution("pixels", "_conv_stem", "_bn0", (STEM_CHANNELS, 3, 3, 3), stride=2)
    x = draw.relu6(x)
    channels, number = STEM_CHANNELS, 0
    for stage in rows:
        for repeat in range(stage.repeats):
            y = _block(draw, x, f"_blocks.{number}.", stage, channels, repeat)
            x = draw.add(x, y) if repeat else y
            channels, number = stage.channels, number + 1
    x = draw.convolution(x, "_conv_head", "_bn1", (HEAD_CHANNELS, channels, 1, 1))
    return draw.finish(draw.relu6(x), name, size)


def _block(draw: "_Drawing", x: str, name: str, stage: Stage, channels: int, repeat: int) -> str:
    """Add a block: expand the channels, filter each one, project. Return its output."""
    wide = channels * stage.expansion
    if stage.expansion > 1:
        x = draw.convolution(x, f"{name}_expand_conv", f"{name}_bn0", (wide, channels, 1, 1))
        x = draw.relu6(x)
    x = draw.convolution(
        x,
        f"{name}_depthwise_conv",
        f"{name}_bn1",
        (wide, 1, stage.kernel, stage.kernel),
        stride=1 if repeat else stage.stride,
        groups=wide,
    )
    x = draw.relu6(x)
    return draw.convolution(x, f"{name}_project_conv", f"{name}_bn2", (stage.channels, wide, 1, 1))


class _Drawing:
    """Nodes and weights of a graph, in the order in which pictures flow through."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._nodes: list[NodeProto] = []
        self._stored: list[TensorProto] = []
        self._store("zero", np.float32(0))
        self._store("six", np.float32(6))

    def convolution(
        self,
        x: str,
        name: str,
        norm: str,
        shape: tuple[int, ...],
        stride: int = 1,
        groups: int = 1,
    ) -> str:
        """Add a convolution and the batch normalisation behind it, as one; return the output."""
        kernel, bias = _fold(self._weights, name, norm)
        if kernel.shape != shape:
            raise ValueError(f"{name} has the shape {kernel.shape} instead of {shape}")
        inputs = [x, self._store(f"{name}.kernel", kernel), self._store(f"{name}.bias", bias)]
        return self._node(
            "Conv",
            inputs,
            name,
            kernel_shape=shape[2:],
            strides=[stride, stride],
            group=groups,
            auto_pad="SAME_UPPER",
        )

    def relu6(self, x: str) -> str:
        return self._node("Clip", [x, "zero", "six"], f"{x}.relu6")

    def add(self, x: str, y: str) -> str:
        return self._node("Add", [x, y], f"{y}.sum")

    def finish(self, x: str, name: str, size: int) -> bytes:
        """Average over all places and close the graph."""
        with needs("images"):
            from onnx import TensorProto, helper
        self._node("GlobalAveragePool", [x], "average")
        self._node("Flatten", ["average"], "features")
        pixels = helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 3, size, size])
        features = helper.make_tensor_value_info(
            "features", TensorProto.FLOAT, ["n", HEAD_CHANNELS]
        )
        graph = helper.make_graph(self._nodes, name, [pixels], [features], self._stored)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION
        )
        content: bytes = model.SerializeToString()
        return content

    def _node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        with needs("images"):
            from onnx import helper
        self._nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def _store(self, name: str, values: Any) -> str:
        with needs("images"):
            from onnx import numpy_helper
        self._stored.append(numpy_helper.from_array(np.asarray(values), name))
        return name


def _fold(
    weights: Weights, name: str, norm: str
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Kernel and bias of one convolution that includes the batch normalisation behind it."""
    kernel, gain, shift, mean, variance = (
        weights[key].astype(np.float64)
        for key in (
            f"{name}.weight",
            f"{norm}.weight",
            f"{norm}.bias",
            f"{norm}.running_mean",
            f"{norm}.running_var",
        )
    )
    factor = gain / np.sqrt(variance + BATCH_NORM_EPSILON)
    folded = kernel * factor[:, np.newaxis, np.newaxis, np.newaxis]
    return folded.astype(np.float32), (shift - mean * factor).astype(np.float32)
