import numpy as np
import onnx
import pytest
from numpy.testing import assert_array_equal
from onnx import TensorProto, helper, numpy_helper

from zshash.images.onnx_files import read_model
from zshash.images.onnx_runtime import onnxruntime

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
X = np.random.RandomState(0).randn(2, 3).astype(np.float32)
WEIGHTS = np.arange(12, dtype=np.float32).reshape(3, 4)


def save(path, nodes, inputs, outputs, weights=(), *, ir_version=8, **options):
    infos = [
        [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in each]
        for each in (inputs, outputs)
    ]
    stored = [numpy_helper.from_array(values, name) for name, values in dict(weights).items()]
    graph = helper.make_graph(nodes, "test", *infos, stored)
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=ir_version)
    onnx.save(model, path, **options)
    return path


@pytest.fixture
def two_sided(tmp_path):
    """Pictures and words, as in CLIP: x → double → y, words → z, and a sum of both."""
    nodes = [
        helper.make_node("Add", ["x", "x"], ["double"]),
        helper.make_node("MatMul", ["double", "weights"], ["y"]),
        helper.make_node("Cast", ["words"], ["z"], to=FLOAT),
        helper.make_node("ReduceSum", ["z"], ["total"], keepdims=0),
        helper.make_node("Add", ["y", "total"], ["both"]),
    ]
    inputs = [("words", INT64, ["n", 5]), ("x", FLOAT, ["n", 3])]
    outputs = [("y", FLOAT, ["n", 4]), ("z", FLOAT, ["n", 5]), ("both", FLOAT, ["n", 4])]
    weights = {"weights": WEIGHTS, "unused": np.zeros(9, np.float32)}
    return save(tmp_path / "two.onnx", nodes, inputs, outputs, weights)


def run(model, **feed):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    key = "session.model_external_initializers_file_folder_path"
    options.add_session_config_entry(key, str(model.folder))
    session = onnxruntime.InferenceSession(
        model.content, options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, feed)


def test_one_of_several_outputs(two_sided):
    (values,) = run(read_model(two_sided, output="y"), x=X)
    assert_array_equal(values, 2 * X @ WEIGHTS)


def test_a_tensor_inside(two_sided):
    model = read_model(two_sided, output="double")
    (values,) = run(model, x=X)
    assert_array_equal(values, 2 * X)
    graph = onnx.load_model_from_string(model.content).graph
    assert [node.op_type for node in graph.node] == ["Add"]
    assert not graph.initializer


def test_the_only_output(tmp_path):
    nodes = [helper.make_node("Neg", ["x"], ["y"])]
    path = save(tmp_path / "m.onnx", nodes, [("x", FLOAT, [2, 3])], [("y", FLOAT, [2, 3])])
    model = read_model(path)
    assert model.output == "y"
    assert_array_equal(run(model, x=X)[0], -X)


def test_weights_that_are_listed_as_inputs(tmp_path):
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    inputs = [("w", FLOAT, [3, 4]), ("x", FLOAT, ["n", 3])]
    outputs = [("y", FLOAT, ["n", 4])]
    path = save(tmp_path / "old.onnx", nodes, inputs, outputs, {"w": WEIGHTS}, ir_version=3)
    assert_array_equal(run(read_model(path), x=X)[0], X @ WEIGHTS)


def test_what_graphs_inside_nodes_read(tmp_path):
    branches = {
        f"{word}_branch": helper.make_graph(
            [helper.make_node(kind, [source, "w"], ["b"])],
            word,
            [],
            [helper.make_tensor_value_info("b", FLOAT, None)],
        )
        for word, kind, source in (("then", "Mul", "double"), ("else", "Sub", "x"))
    }
    nodes = [
        helper.make_node("Add", ["x", "x"], ["double"]),
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        helper.make_node("Greater", ["sum", "limit"], ["large"]),
        helper.make_node("If", ["large"], ["y"], **branches),
        helper.make_node("Neg", ["y"], ["other"]),
    ]
    outputs = [("y", FLOAT, ["n", 3]), ("other", FLOAT, ["n", 3])]
    weights = {"w": np.full(3, 5, np.float32), "limit": np.float32(0)}
    path = save(tmp_path / "if.onnx", nodes, [("x", FLOAT, ["n", 3])], outputs, weights)
    model = read_model(path, output="y")
    assert_array_equal(run(model, x=np.abs(X))[0], np.abs(X) * 2 * 5)
    assert_array_equal(run(model, x=-np.abs(X))[0], -np.abs(X) - 5)


def test_weights_in_a_file_beside(tmp_path):
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["y"]),
        helper.make_node("Neg", ["y"], ["z"]),
    ]
    (tmp_path / "a").mkdir()
    path = save(
        tmp_path / "a" / "m.onnx",
        nodes,
        [("x", FLOAT, ["n", 3])],
        [("z", FLOAT, ["n", 4])],
        {"w": WEIGHTS},
        save_as_external_data=True,
        location="m.data",
        size_threshold=0,
    )
    model = read_model(path, output="y")
    assert_array_equal(run(model, x=X)[0], X @ WEIGHTS)
    data = path.with_name("m.data")
    data.write_bytes(data.read_bytes()[:-1] + b"\x42")
    assert read_model(path, output="y").fingerprint != model.fingerprint
    data.unlink()
    with pytest.raises(ValueError, match=r"m\.onnx: its file of weights .*m\.data is not there"):
        read_model(path, output="y")
    content = path.read_bytes().replace(b"m.data", b"../m.d")
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"m\.onnx: weights in a file of another folder"):
        read_model(path, output="y")


def outside(values, name, location):
    """A tensor whose numbers are in a file."""
    tensor = numpy_helper.from_array(values, name)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    return tensor


def test_weights_of_a_node_in_a_file_beside(tmp_path):
    constant = helper.make_node("Constant", [], ["w"], value=outside(WEIGHTS, "w", "w.bin"))
    branch = helper.make_graph([constant], "inner", [], [])
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["y"]),
        helper.make_node("If", ["yes"], ["z"], then_branch=branch, else_branch=branch),
    ]
    for number, own in enumerate([[constant, nodes[0]], nodes]):
        (tmp_path / "w.bin").write_bytes(WEIGHTS.tobytes())
        path = save(
            tmp_path / f"{number}.onnx",
            own,
            [("x", FLOAT, ["n", 3]), ("yes", BOOL, [])],
            [("y", FLOAT, ["n", 4])],
            {} if number == 0 else {"w": WEIGHTS},
        )
        before = read_model(path).fingerprint
        assert read_model(path).fingerprint == before
        (tmp_path / "w.bin").write_bytes((2 * WEIGHTS).tobytes())
        assert read_model(path).fingerprint != before
    link = tmp_path / "model" / "0.onnx"
    link.parent.mkdir()
    link.write_bytes((tmp_path / "0.onnx").read_bytes())
    (link.parent / "w.bin").symlink_to(tmp_path / "w.bin")
    with pytest.raises(ValueError, match="weights in a file of another folder"):
        read_model(link)


def test_fingerprints(two_sided, tmp_path):
    prints = {read_model(two_sided, output=name).fingerprint for name in ("y", "double", "z")}
    assert len(prints) == 3
    moved = tmp_path / "moved.onnx"
    moved.write_bytes(two_sided.read_bytes())
    assert read_model(moved, output="y").fingerprint in prints
    model = onnx.load(two_sided)
    model.producer_name = "another"
    onnx.save(model, moved)
    assert read_model(moved, output="y").fingerprint not in prints


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({}, "choose one of the outputs by output=: y, z, both"),
        ({"output": "w"}, "no output 'w'; it has y, z, both$"),
        ({"output": "duble"}, "no output 'duble'; it has y, z, both, double"),
        ({"output": ""}, "no output ''"),
        ({"output": "x"}, "no output 'x'"),
        ({"output": "y", "input": "pixels"}, "no input 'pixels'; it has words, x$"),
        (
            {"output": "y", "input": "words"},
            "the output depends on the inputs x, but must depend on",
        ),
        ({"output": "both"}, "the output depends on the inputs words, x, but must depend on one"),
        ({"output": "both", "input": "x"}, "the output depends on the inputs words, x"),
    ],
)
def test_bad_choices(two_sided, choice, message):
    with pytest.raises(ValueError, match=rf"two\.onnx: {message}"):
        read_model(two_sided, **choice)


def test_bad_files(tmp_path, two_sided):
    path = tmp_path / "bad.onnx"
    with pytest.raises(ValueError, match=r"bad\.onnx: there is no such file"):
        read_model(path)
    with pytest.raises(ValueError, match="there is no such file"):
        read_model(tmp_path)
    content = two_sided.read_bytes()
    for bad in (b"", b"GIF89a, not a network", bytes(100), content[: len(content) // 2]):
        path.write_bytes(bad)
        with pytest.raises(ValueError, match=r"bad\.onnx: not an ONNX file, or"):
            read_model(path)
    with path.open("wb") as file:
        file.truncate(2**31 + 1)
    with pytest.raises(ValueError, match="too large for an ONNX file"):
        read_model(path)


def test_an_output_of_nothing(tmp_path):
    nodes = [helper.make_node("Constant", [], ["y"], value_floats=[1.0, 2.0])]
    path = save(tmp_path / "c.onnx", nodes, [("x", FLOAT, [1])], [("y", FLOAT, [2])])
    with pytest.raises(ValueError, match=r"depends on the inputs \(none\)"):
        read_model(path)
