import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision")

from zshash.images.torch_networks import (  # noqa: E402
    open_clip_extractor,
    timm_extractor,
    torchvision_extractor,
)

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def reports_nothing(monkeypatch):
    """No warning that Hugging Face's client is imported before zshash, as some tests do."""
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")


RANDOM = {"weights": "random", "device": "cpu"}
PIXELS = np.random.RandomState(0).randint(0, 256, (2, 40, 60, 3), dtype=np.uint8)
IMAGES = [Image.fromarray(pixels).resize((300, 260)) for pixels in PIXELS]


def forward(module, transform, images=IMAGES):
    with torch.no_grad():
        return module.eval()(torch.stack([transform(image) for image in images]))


def features(network):
    return network.run(np.stack([network.prepare(image) for image in IMAGES]))


def plain(name):
    torch.manual_seed(0)
    return torchvision.models.get_model(name, weights=None)


def transform_of(name):
    return torchvision.models.get_model_weights(name).DEFAULT.transforms()


@pytest.mark.parametrize(
    ("network", "layer", "n_parts"),
    [
        ("alexnet", ".fc6", 3),
        ("alexnet", ".fc7", 6),
        ("alexnet", "", 6),
        ("vgg11", ".fc6", 2),
    ],
)
def test_layers_of_torchvision(network, layer, n_parts):
    module = plain(network)
    module.classifier = module.classifier[:n_parts]
    expected = forward(module, transform_of(network)).numpy()
    found = torchvision_extractor(network + layer, **RANDOM)
    assert found.name == f"torchvision:{network}{layer}"
    assert (found.dimension, found.side, found.batch_size) == (4096, 256, 32)
    assert np.ptp(expected) > 0
    assert_allclose(features(found), expected, atol=1e-5)


def test_maps_and_tokens_of_torchvision():
    found = torchvision_extractor("resnet18.layer3", **RANDOM)
    module = torch.nn.Sequential(*list(plain("resnet18").children())[:-3])
    expected = forward(module, transform_of("resnet18")).mean((2, 3)).numpy()
    assert found.dimension == 256
    assert_allclose(features(found), expected, atol=1e-4)
    with pytest.raises(
        ValueError, match=r"^torchvision:vit_b_32\.encoder: its output has 50 vectors"
    ):
        torchvision_extractor("vit_b_32.encoder", **RANDOM)


def test_weights_from_a_file_with_another_last_layer(tmp_path):
    torch.manual_seed(3)
    module = torchvision.models.resnet18(weights=None, num_classes=7)
    torch.save(module.state_dict(), tmp_path / "seven.pth")
    module.fc = torch.nn.Identity()
    expected = forward(module, transform_of("resnet18")).numpy()
    for name in ("resnet18", "resnet18.flatten"):
        found = torchvision_extractor(name, weights=tmp_path / "seven.pth", device="cpu")
        assert_allclose(features(found), expected, atol=1e-4)
    message = r"^torchvision:alexnet: \S*seven\.pth: not weights of this network"
    with pytest.raises(ValueError, match=message):
        torchvision_extractor("alexnet", weights=tmp_path / "seven.pth")


def test_thin_pictures_stay_small():
    found = torchvision_extractor("squeezenet1_1.features", **RANDOM)
    assert found.prepare(Image.new("RGB", (1, 5_000_000))).shape == (3, 224, 224)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("alexnett", r"no 'alexnett' there; some are alexnet"),
        ("", r"no '' there; some are"),
        ("fasterrcnn_resnet50_fpn", r"no 'fasterrcnn_resnet50_fpn' there"),
        ("resnet18.layer9", r"no layer 'layer9'; near: .*layer"),
        ("resnet18.lay", r"no layer 'lay'"),
        ("resnet18.fc7", r"no layer 'fc7'; near: .*"),
        ("squeezenet1_1", r"it has no linear layer to leave out; name a layer behind a dot"),
    ],
)
def test_no_such_network_of_torchvision(name, message):
    with pytest.raises(ValueError, match=f"^torchvision:{name}: {message}"):
        torchvision_extractor(name, **RANDOM)


def test_weights_out_of_reach(monkeypatch, tmp_path):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    message = r"^torchvision:alexnet: its weights could not be fetched \(.*give a file .* weights="
    with pytest.raises(ValueError, match=message):
        torchvision_extractor("alexnet", device="cpu")


def test_timm():
    timm = pytest.importorskip("timm")
    torch.manual_seed(0)
    module = timm.create_model("resnet10t", pretrained=False, num_classes=0)
    config = timm.data.resolve_model_data_config(module)
    transform = timm.data.create_transform(**config, is_training=False)
    found = timm_extractor("resnet10t", **RANDOM)
    assert (found.name, found.dimension) == ("timm:resnet10t", 512)
    assert found.side >= config["input_size"][1]
    assert_allclose(features(found), forward(module, transform).numpy(), atol=1e-5)
    with pytest.raises(ValueError, match=r"^timm:resnet10t.none: can not be made \(.*none"):
        timm_extractor("resnet10t.none", **RANDOM)
    with pytest.raises(ValueError, match=r"^timm:resnet10x: no 'resnet10x' there; .*resnet10t"):
        timm_extractor("resnet10x", **RANDOM)


def test_open_clip():
    open_clip = pytest.importorskip("open_clip")
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
