from pathlib import PurePosixPath

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision")

from tests.images.torch_pictures import RANDOM, features, forward, outputs  # noqa: E402
from zshash.images.imagenet import imagenet_ids  # noqa: E402
from zshash.images.torchvision_network import torchvision_extractor  # noqa: E402

pytestmark = pytest.mark.torch


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


@pytest.fixture
def save(tmp_path):
    """Save weights of a network, other than those that it starts from."""

    def save(name, **options):
        torch.manual_seed(3)
        module = torchvision.models.get_model(name, weights=None, **options).eval()
        torch.save(module.state_dict(), tmp_path / "weights.pth")
        return module, {"weights": tmp_path / "weights.pth", "device": "cpu"}

    return save


@pytest.mark.parametrize("name", ["alexnet", "alexnet.fc7", "resnet18", "swin_t", "maxvit_t"])
def test_categories_from_a_file(save, name):
    network = name.partition(".")[0]
    module, options = save(network)
    found = torchvision_extractor(name, **options)
    assert found.categories.ids == imagenet_ids()
    assert found.categories.names[281] == "tabby"
    assert_allclose(outputs(found), forward(module, transform_of(network)).numpy(), atol=1e-4)


@pytest.mark.parametrize("name", ["mobilenet_v3_small.classifier.2", "vgg11.fc7"])
def test_dropout_before_the_last_layer_does_nothing(save, name):
    network = name.partition(".")[0]
    module, options = save(network)
    found = torchvision_extractor(name, **options)
    assert_allclose(outputs(found), forward(module, transform_of(network)).numpy(), atol=1e-4)


@pytest.mark.parametrize("layer", ["fc6", "classifier.4", "classifier.6", "classifier", "features"])
def test_layers_that_do_not_feed_the_last_one(save, layer):
    _, options = save("alexnet")
    assert torchvision_extractor(f"alexnet.{layer}", **options).categories is None


def test_networks_without_known_categories(save):
    for name in ("resnet18", "alexnet.fc7"):
        assert torchvision_extractor(name, **RANDOM).categories is None
    _, options = save("resnet18", num_classes=7)
    assert torchvision_extractor("resnet18", **options).categories is None
    module, options = save("resnet18")
    module.fc = torch.nn.Identity()
    torch.save(module.state_dict(), options["weights"])
    assert torchvision_extractor("resnet18", **options).categories is None
    _, options = save("squeezenet1_1")
    assert torchvision_extractor("squeezenet1_1.features", **options).categories is None


def test_a_last_layer_that_is_not_finite(save):
    module, options = save("resnet18")
    with torch.no_grad():
        module.fc.bias[5] = float("nan")
    torch.save(module.state_dict(), options["weights"])
    found = torchvision_extractor("resnet18", **options)
    with pytest.raises(ValueError, match=r"^torchvision:resnet18: biases must be finite numbers"):
        found.categories  # noqa: B018


@pytest.mark.parametrize("name", ["resnet18", "alexnet.fc7"])
def test_categories_of_fetched_weights(save, name, monkeypatch, tmp_path):
    network = name.partition(".")[0]
    module, options = save(network)
    weights = torchvision.models.get_model_weights(network).DEFAULT
    folder = tmp_path / "home" / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    options["weights"].rename(folder / PurePosixPath(weights.url).name)  # as if fetched before
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "home"))
    found = torchvision_extractor(name, device="cpu")
    assert found.categories.ids == imagenet_ids()
    assert found.categories.names == tuple(weights.meta["categories"])
    last = list(module.modules())[-1]
    assert_array_equal(found.categories.directions, last.weight.detach().numpy())
    assert_allclose(outputs(found), forward(module, transform_of(network)).numpy(), atol=1e-4)
