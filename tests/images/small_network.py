"""A network so small that a test can write it."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def write_network(path, *, channels=32, size=32, seed=0):
    """One convolution with random weights, then the mean of each channel."""
    weights = np.random.RandomState(seed).randn(channels, 3, 5, 5).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["pixels", "weights"], ["map"], strides=[3, 3]),
        helper.make_node("Relu", ["map"], ["positive"]),
        helper.make_node("GlobalAveragePool", ["positive"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["features"]),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 3, size, size])],
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["n", channels])],
        [numpy_helper.from_array(weights, "weights")],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
