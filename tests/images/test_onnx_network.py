import os
import subprocess
import sys

import numpy as np
import onnx
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from zshash.images.onnx_network import onnx_extractor
from zshash.images.preparation import Preparation

FLOAT, UINT8 = TensorProto.FLOAT, TensorProto.UINT8
PLAIN = {"mean": 0, "scale": 1}
WEIGHTS = np.random.RandomState(1).randn(12, 5).astype(np.float32)


def picture(seed=0, width=9, height=7):
    pixels = np.random.RandomState(seed).randint(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


PICTURES = [picture(seed) for seed in range(5)]


@pytest.fixture
def write(tmp_path):
    def write(nodes, shape, outputs, *, kind=FLOAT, weights=None):
        graph = helper.make_graph(
            nodes,
            "test",
            [helper.make_tensor_value_info("pixels", kind, shape)],
            [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs],
            [numpy_helper.from_array(value, name) for name, value in (weights or {}).items()],
        )
        opset = [helper.make_opsetid("", 17)]
        path = tmp_path / "model.onnx"
        onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
        return path

    return write


@pytest.fixture
def flat(write):
    """Write a network whose features are the pixels, for any number of pictures."""

    def flat(shape, **options):
        return write([helper.make_node("Flatten", ["pixels"], ["y"])], shape, ["y"], **options)

    return flat


@pytest.fixture
def linear(write):
    nodes = [
        helper.make_node("Flatten", ["pixels"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["y"]),
    ]
    return write(nodes, ["n", 3, 2, 2], ["y"], weights={"weights": WEIGHTS})


def features(network, pictures=PICTURES):
    return network.run(np.stack([network.prepare(each) for each in pictures]))


def expected(pictures=PICTURES, **settings):
    return np.stack([Preparation(**settings)(each).ravel() for each in pictures])


def test_a_network(linear):
    network = onnx_extractor(linear, **PLAIN, output="scores")
    assert network.name == f"onnx:{linear}"
    assert (network.dimension, network.side, network.batch_size) == (5, 2, 4)
    pixels = expected(size=2, **PLAIN)
    assert features(network).dtype == np.float32
    assert_allclose(features(network), pixels @ WEIGHTS, rtol=1e-4)
    scores = features(onnx_extractor(linear, **PLAIN))
    assert_allclose(scores.sum(axis=1), 1, rtol=1e-5)


def test_from_pictures_to_features(linear):
    network = onnx_extractor(linear, **PLAIN, output="scores")
    pixels = [np.asarray(each) for each in PICTURES]
    assert_allclose(network.extract(pixels), features(network), rtol=1e-5)


def test_every_option_of_the_preparation(flat):
    options = {
        "mean": (1, 2, 3),
        "scale": (4, 5, 6),
        "color": "bgr",
        "resize": "stretch",
        "filter": "box",
        "crop_fraction": 0.5,
    }
    network = onnx_extractor(flat(["n", 3, 3, 3]), **options)
    assert_allclose(features(network), expected(size=3, **options), rtol=1e-6)
    assert network.side == 6


@pytest.mark.parametrize(
    ("shape", "options", "size", "layout"),
    [
        (["n", 3, 5, 5], {}, 5, "nchw"),
        (["n", 5, 5, 3], {}, 5, "nhwc"),
        (["n", 3, "h", "w"], {}, 224, "nchw"),
        (["n", 3, "h", "w"], {"size": 6}, 6, "nchw"),
        (["n", "h", "w", 3], {"size": 6}, 6, "nhwc"),
        (["n", "c", 5, "w"], {}, 5, "nchw"),
        (["n", "a", "b", "c"], {"size": 4, "layout": "nhwc"}, 4, "nhwc"),
        ([None, None, None, None], {"size": 4}, 4, "nchw"),
        (["n", 3, 3, 3], {"layout": "nhwc"}, 3, "nhwc"),
    ],
)
def test_what_the_shape_says(flat, shape, options, size, layout):
    network = onnx_extractor(flat(shape), **PLAIN, **options)
    found = features(network, PICTURES[:1])
    assert_array_equal(found, expected(PICTURES[:1], size=size, layout=layout, **PLAIN))


@pytest.mark.parametrize("k", [1, 2, 3, 8])
def test_a_fixed_number_of_pictures(flat, k):
    network = onnx_extractor(flat([k, 3, 4, 4]), **PLAIN)
    assert network.batch_size == k
    for n in (1, 2, 5):
        assert_array_equal(features(network, PICTURES[:n]), expected(PICTURES[:n], size=4, **PLAIN))
    assert network.run(np.empty((0, 3, 4, 4), np.float32)).shape == (0, 48)
    assert onnx_extractor(flat([k, 3, 4, 4]), batch_size=6).batch_size == 6


def test_bytes(write):
    cast = [
        helper.make_node("Cast", ["pixels"], ["numbers"], to=FLOAT),
        helper.make_node("Flatten", ["numbers"], ["y"]),
    ]
    path = write(cast, ["n", 4, 4, 3], ["y"], kind=UINT8)
    assert_array_equal(
        features(onnx_extractor(path)), expected(size=4, layout="nhwc", mean=0, scale=1)
    )
    with pytest.raises(ValueError, match="its input takes bytes: leave out mean and scale"):
        onnx_extractor(path, mean=127)


def test_half_precision(write):
    nodes = [helper.make_node("Flatten", ["pixels"], ["y"])]
    path = write(nodes, ["n", 3, 4, 4], ["y"], kind=TensorProto.FLOAT16)
    model = onnx.load(path)
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT16
    onnx.save(model, path)
    found = features(onnx_extractor(path))
    assert found.dtype == np.float32
    assert_allclose(found, expected(size=4), atol=2e-3)


def test_maps_and_tokens(write):
    nodes = [
        helper.make_node("Identity", ["pixels"], ["maps"]),
        helper.make_node("Reshape", ["maps", "shape"], ["tokens"]),
        helper.make_node("ReduceSum", ["pixels"], ["total"], keepdims=0),
    ]
    weights = {"shape": np.array([0, 3, -1])}
    path = write(nodes, ["n", 3, 4, 4], ["maps", "tokens", "total"], weights=weights)
    pixels = expected(size=4, **PLAIN).reshape(5, 3, 16)
    averages = features(onnx_extractor(path, output="maps", **PLAIN))
    assert_allclose(averages, pixels.mean(axis=2), rtol=1e-5)
    first = features(onnx_extractor(path, output="tokens", pool="first", **PLAIN))
    assert_array_equal(first, pixels[:, 0])
    mean = features(onnx_extractor(path, output="tokens", pool="mean", **PLAIN))
    assert_allclose(mean, pixels.mean(axis=1), rtol=1e-5)
    with pytest.raises(
        ValueError, match=r"model\.onnx: its output has 3 vectors for each picture; ch"
    ):
        onnx_extractor(path, output="tokens")
    with pytest.raises(ValueError, match=r"model\.onnx: its output has the shape \(\); choose"):
        onnx_extractor(path, output="total")
    with pytest.raises(ValueError, match="choose one of the outputs by output=: maps, tokens, t"):
        onnx_extractor(path)


def test_tensors_that_are_called_by_a_number(write):
    nodes = [
        helper.make_node("Flatten", ["pixels"], ["495"]),
        helper.make_node("Neg", ["495"], ["y"]),
    ]
    network = onnx_extractor(write(nodes, ["n", 3, 4, 4], ["y"]), output=495, **PLAIN)
    assert_array_equal(features(network), expected(size=4, **PLAIN))


def test_fingerprints(linear, tmp_path):
    same = onnx_extractor(linear).fingerprint
    moved = tmp_path / "moved.onnx"
    moved.write_bytes(linear.read_bytes())
    assert onnx_extractor(moved, batch_size=9, size=2, layout="nchw").fingerprint == same
    others = [
        {"output": "scores"},
        {"mean": 0},
        {"scale": 1},
        {"color": "bgr"},
        {"resize": "stretch"},
        {"filter": "box"},
        {"crop_fraction": 0.9},
        {"pool": "mean"},
    ]
    prints = {onnx_extractor(linear, **options).fingerprint for options in others}
    assert len(prints | {same}) == len(others) + 1


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        (["n", 48], {}, r"its input pixels is a tensor\(float\) of shape \['n', 48\], no pictures"),
        (["n", 1, 4, 4], {}, r"takes no pictures of three colours"),
        (["n", 3, 4, 4], {"layout": "nhwc"}, "takes no pictures of three colours as nhwc"),
        (["n", 3, 4, 4], {"layout": "chw"}, "layout must be one of nchw, nhwc, got 'chw'"),
        (["n", 3, 4, 4], {"layout": ["nchw"]}, "layout must be one of nchw, nhwc"),
        (["n", 3, 4, 6], {}, r"the network takes \[4, 6\] pixels, but only squares are made"),
        (["n", 3, 4, 4], {"size": 5}, "size is 5, but the network takes 4 pixels"),
        (["n", 3, 4, 4], {"size": [4]}, r"size is \[4\], but the network takes 4 pixels"),
        (["n", 3, "h", "w"], {"size": "big"}, "size must be a whole number"),
        (["n", 3, 4, 4], {"mean": "x"}, "mean must be one number or three"),
        (["n", 3, 4, 4], {"filter": "x"}, "filter must be one of"),
        (["n", 3, 4, 4], {"output": "z"}, "no output 'z'; it has y"),
        (["n", 3, 4, 4], {"input": "z"}, "no input 'z'; it has pixels"),
    ],
)
def test_bad_choices(flat, shape, options, message):
    with pytest.raises(ValueError, match=rf"^\S*model\.onnx: .*{message}"):
        onnx_extractor(flat(shape), **options)


def test_pool_must_be_known(flat):
    with pytest.raises(ValueError, match="pool must be one of mean, first, got 'max'"):
        onnx_extractor(flat(["n", 3, 4, 4]), pool="max")


def test_whole_numbers_are_no_pixels(write):
    nodes = [
        helper.make_node("Cast", ["pixels"], ["numbers"], to=FLOAT),
        helper.make_node("Flatten", ["numbers"], ["y"]),
    ]
    path = write(nodes, ["n", 3, 4, 4], ["y"], kind=TensorProto.INT64)
    with pytest.raises(ValueError, match=r"onnx: its input pixels is a tensor\(int64\) of shape"):
        onnx_extractor(path)


def test_features_that_are_not_finite(write):
    nodes = [
        helper.make_node("Log", ["pixels"], ["logarithm"]),
        helper.make_node("Flatten", ["logarithm"], ["y"]),
    ]
    with pytest.raises(ValueError, match=r"onnx: the features of a black picture are empty or not"):
        onnx_extractor(write(nodes, ["n", 3, 4, 4], ["y"]), **PLAIN)


def test_one_vector_for_all_pictures(write):
    nodes = [
        helper.make_node("ReduceSum", ["pixels", "axes"], ["sum"]),
        helper.make_node("Reshape", ["sum", "shape"], ["y"]),
    ]
    weights = {"axes": np.array([0]), "shape": np.array([1, -1])}
    path = write(nodes, [2, 3, 4, 4], ["y"], weights=weights)
    with pytest.raises(ValueError, match=r"onnx: the network gives 1 vectors for 2 pictures"):
        onnx_extractor(path)


def test_a_graph_that_does_not_fit_together(write):
    nodes = [helper.make_node("Nonsense", ["pixels"], ["y"])]
    with pytest.raises(ValueError, match=r"model\.onnx: ONNX Runtime can not load it \(.*Nonsens"):
        onnx_extractor(write(nodes, ["n", 3, 4, 4], ["y"]))
    nodes = [helper.make_node("Reshape", ["pixels", "shape"], ["y"])]
    path = write(nodes, ["n", 3, "h", "w"], ["y"], weights={"shape": np.array([7, 7])})
    with pytest.raises(ValueError, match=r"model\.onnx: ONNX Runtime can not run it \(.*\)$") as e:
        onnx_extractor(path)
    assert "\n" not in str(e.value)


def test_onnx_runtime_says_nothing(write, tmp_path):
    nodes = [helper.make_node("Nonsense", ["pixels"], ["y"])]
    path = write(nodes, ["n", 3, 4, 4], ["y"])
    program = f"""
from zshash.images.onnx_network import onnx_extractor
try:
    onnx_extractor({str(path)!r})
except ValueError as error:
    print("one sentence")
"""
    found = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env=os.environ,
    )
    assert (found.stdout, found.stderr) == ("one sentence\n", "")
