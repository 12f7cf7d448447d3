"""Heads where PyTorch is not installed: fits are refused, models work."""

import sys

import numpy as np
import pytest

import zshash
from zshash._extras import MissingExtra

HEADS = [name for name, method in zshash.methods().items() if method.extra == "torch"]
SENTENCE = "torch is not installed: pip install 'zshash\\[torch\\]'$"


@pytest.fixture(autouse=True)
def no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)


def test_the_heads_are_known():
    assert {"OrthoHash", "CSQ", "DPN", "GreedyHash", "BiHalf"} <= set(HEADS)
    unavailable = {name for name, method in zshash.methods().items() if not method.is_available}
    assert unavailable == set(HEADS)


@pytest.mark.parametrize("name", HEADS)
def test_a_fit_is_refused_before_any_work(name):
    hasher = getattr(zshash, name)(16)
    with pytest.raises(MissingExtra, match=SENTENCE):
        hasher.fit(np.full((4, 3), np.nan), [0, 1, 0, 1])  # which nobody has looked at
    with pytest.raises(MissingExtra, match=SENTENCE):
        zshash.methods()[name].check()


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("n_units", [0, 5])
def test_a_model_needs_no_pytorch(name, n_units, tmp_path):
    rng = np.random.RandomState(0)
    hasher = getattr(zshash, name)(16, n_units=n_units)
    hasher.n_features_in_ = 7
    shapes = {"linear_": (7, 16), "bias_": 16, "units_": (7, n_units), "unit_bias_": n_units}
    for attribute, shape in {**shapes, "outputs_": (n_units, 16)}.items():
        setattr(hasher, attribute, rng.standard_normal(shape).astype(np.float32))
    zshash.hashing.save(hasher, tmp_path / "model")
    X = rng.standard_normal((20, 7))
    Z = X / np.linalg.norm(X, axis=1, keepdims=True)
    hidden = np.maximum(Z @ hasher.units_ + hasher.unit_bias_, 0)
    expected = Z @ hasher.linear_ + hasher.bias_ + hidden @ hasher.outputs_
    again = zshash.hashing.load(tmp_path / "model")
    np.testing.assert_allclose(again.project(X), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(again.encode(X), np.packbits(expected >= 0, axis=1))
