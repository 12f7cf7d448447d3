from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

torch = pytest.importorskip("torch")
open_clip = pytest.importorskip("open_clip")

from tests.images.torch_pictures import IMAGES, RANDOM, features  # noqa: E402
from zshash.images.open_clip_network import open_clip_extractor  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def reports_nothing(monkeypatch):
    """No warning that Hugging Face's client is imported before zshash, as some tests do."""
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")


def test_features_of_open_clip():
    torch.manual_seed(0)
    module, _, transform = open_clip.create_model_and_transforms("ViT-S-32-alt", pretrained=None)
    module.eval()
    with torch.no_grad():
        expected = module.encode_image(torch.stack([transform(image) for image in IMAGES]))
    found = open_clip_extractor("ViT-S-32-alt", **RANDOM)
    assert (found.name, found.dimension, found.side) == ("open_clip:ViT-S-32-alt", 256, 224)
    assert_allclose(features(found), expected.numpy(), atol=1e-5)
    for name, message in (
        ("RN51/openai", "no 'RN51' there; some are RN50"),
        ("RN50/opeani", "no 'opeani' there; some are openai"),
        ("RN50", "no '' there; some are"),
    ):
        with pytest.raises(ValueError, match=f"^open_clip:{name}: {message}"):
            open_clip_extractor(name)


@pytest.fixture(scope="module")
def network():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
        return open_clip_extractor("ViT-S-32-alt", **RANDOM)


def test_texts(network):
    texts = ["dog", "a photo of a dog", "東京"]
    torch.manual_seed(0)
    module, _, _ = open_clip.create_model_and_transforms("ViT-S-32-alt", pretrained=None)
    with torch.no_grad():
        tokens = open_clip.get_tokenizer("ViT-S-32-alt")(texts)
        expected = module.eval().encode_text(tokens, normalize=True).numpy()
    found = network.text.embed(texts)
    assert network.text is network.text
    assert found.shape == (3, network.dimension)
    assert found.dtype == np.float32
    assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    assert_allclose(found, expected, atol=1e-5)
    assert network.categories is None


def test_texts_and_pictures_in_threads(network):
    texts = ["dog", "cat"]
    expected = network.text.embed(texts), features(network)
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(lambda _: network.text.embed(texts), range(4)))
        pictures = list(pool.map(lambda _: features(network), range(4)))
    for each, picture in zip(vectors, pictures, strict=True):
        assert_array_equal(each, expected[0])
        assert_array_equal(picture, expected[1])


def test_a_tokenizer_out_of_reach(monkeypatch):
    def get_tokenizer(name):
        raise ModuleNotFoundError(f"no\ntokenizer of {name}")

    found = open_clip_extractor("ViT-S-32-alt", **RANDOM)
    monkeypatch.setattr(open_clip, "get_tokenizer", get_tokenizer)
    message = r"^open_clip:ViT-S-32-alt: its tokenizer can not be loaded \(no tokenizer of ViT"
    with pytest.raises(ValueError, match=message):
        found.text.embed(["dog"])
