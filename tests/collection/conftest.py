import numpy as np
import pytest
from PIL import Image

from zshash import LSH, Collection
from zshash.images import Extractor, PictureReader


class Colours(Extractor):
    """Mean of each channel in the four quarters of a picture."""

    name = "colours"
    dimension = 12
    fingerprint = "colours 1"
    side = 2
    batch_size = 3

    def prepare(self, image):
        return np.asarray(image.resize((2, 2), Image.Resampling.BOX), dtype=np.float32)

    def run(self, batch):
        return batch.reshape(len(batch), -1) - 127


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ZSHASH_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def X():
    return np.random.RandomState(0).randn(60, 12).astype(np.float32)


@pytest.fixture(scope="session")
def hasher(X):
    return LSH(n_bits=16, random_state=0).fit(X)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "photos.zshash"


@pytest.fixture
def photos(folder, hasher):
    """A collection without items."""
    with Collection.create(folder, hasher) as collection:
        yield collection


@pytest.fixture
def reader():
    return PictureReader(extractor=Colours())


@pytest.fixture
def album(tmp_path, hasher, reader):
    """A collection that takes pictures."""
    with Collection.create(tmp_path / "album.zshash", hasher, reader=reader) as collection:
        yield collection


def draw(path, seed):
    """A picture of noise in shades of a colour; the same seed gives the same bytes."""
    rng = np.random.RandomState(seed)
    pixels = np.clip(rng.randint(0, 256, size=3) + rng.randint(-40, 40, size=(16, 20, 3)), 0, 255)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels.astype(np.uint8)).save(path)
    return path


@pytest.fixture
def pictures(tmp_path):
    """Twelve pictures in folders for three categories."""
    for number, name in enumerate(["cat", "dog", "ship"]):
        for i in range(4):
            draw(tmp_path / "pictures" / name / f"{i}.png", 10 * number + i)
    return tmp_path / "pictures"
