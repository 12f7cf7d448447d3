import numpy as np
import pytest
from PIL import Image

from zshash.images.extractor import Extractor


class Colours(Extractor):
    """Mean of each channel in the four quarters of a picture."""

    name = "colours"
    dimension = 12
    fingerprint = "colours 1"
    side = 2
    batch_size = 3

    def __init__(self):
        self.n_prepared = 0

    def prepare(self, image):
        self.n_prepared += 1
        return np.asarray(image.resize((2, 2), Image.Resampling.BOX), dtype=np.float32)

    def run(self, batch):
        return batch.reshape(len(batch), -1)


@pytest.fixture
def colours():
    return Colours()


@pytest.fixture
def photos(tmp_path):
    """Forty pictures in four folders, each of its own colour."""
    rng = np.random.RandomState(0)
    root = tmp_path / "photos"
    for number, name in enumerate(["cat", "dog", "truck", "ship"]):
        (root / name).mkdir(parents=True)
        for i in range(10):
            pixels = rng.randint(0, 120, size=(20, 30, 3), dtype=np.uint8)
            pixels[..., number % 3] += np.uint8(100 - 60 * (number == 3))
            Image.fromarray(pixels).save(root / name / f"{i}.png")
    return root


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ZSHASH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
