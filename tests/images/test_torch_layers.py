import numpy as np
import pytest
from numpy.testing import assert_array_equal

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from zshash.images.torch_layers import (  # noqa: E402
    feeds,
    fill,
    last_linear,
    weights_and_biases,
)

pytestmark = pytest.mark.torch


def classifier():
    relu = nn.ReLU()
    parts = [nn.Linear(4, 4), relu, nn.Dropout(), nn.Linear(4, 4), relu, nn.Dropout()]
    return nn.ModuleDict(
        {"features": nn.Conv2d(3, 4, 1), "classifier": nn.Sequential(*parts, nn.Linear(4, 2))}
    )


def test_the_last_linear_layer():
    assert last_linear(classifier()) == "classifier.6"
    assert last_linear(nn.Conv2d(3, 4, 1)) is None


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        ("classifier.4", True),
        ("classifier.5", True),
        ("classifier.3", False),  # a ReLU, which serves twice, is between
        ("classifier.1", False),
        ("classifier.6", False),
        ("classifier.7", False),
        ("classifier", False),
        ("features", False),
        ("features.4", False),
    ],
)
def test_layers_that_feed_the_last_one(layer, expected):
    assert feeds(classifier(), layer, "classifier.6") is expected


def test_a_last_layer_outside_a_sequence():
    module = nn.ModuleDict({"body": nn.Linear(3, 4), "head": nn.Linear(4, 2)})
    assert not feeds(module, "body", "head")


def test_fill():
    torch.manual_seed(0)
    source = nn.Linear(3, 2)
    state = {f"fc.{name}": value for name, value in source.state_dict().items()}
    target = nn.Linear(3, 2)
    assert fill(target, state | {"other": torch.zeros(1)}, "fc.")
    assert torch.equal(target.weight, source.weight)
    assert torch.equal(target.bias, source.bias)


@pytest.mark.parametrize(
    "changes", [{"bias": None}, {"bias": "text"}, {"bias": torch.zeros(3)}, {}]
)
def test_weights_that_do_not_fit_change_nothing(changes):
    target = nn.Linear(3, 2)
    before = target.weight.clone()
    state = {"weight": torch.zeros(2, 3), **changes}
    assert not fill(target, state)
    assert torch.equal(target.weight, before)


def test_weights_and_biases():
    layer = nn.Linear(3, 2).half()
    weights, biases = weights_and_biases(layer)
    assert weights.dtype == biases.dtype == np.float32
    assert_array_equal(weights, layer.weight.detach().numpy())
    assert_array_equal(biases, layer.bias.detach().numpy())
    weights, biases = weights_and_biases(nn.Conv2d(3, 2, 1, bias=False))
    assert weights.shape == (2, 3)
    assert_array_equal(biases, [0, 0])
