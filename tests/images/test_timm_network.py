import pytest
from numpy.testing import assert_allclose, assert_array_equal

torch = pytest.importorskip("torch")
timm = pytest.importorskip("timm")

from tests.images.torch_pictures import RANDOM, features, forward, outputs  # noqa: E402
from zshash.images.imagenet import imagenet_ids  # noqa: E402
from zshash.images.timm_network import timm_extractor  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def reports_nothing(monkeypatch):
    """No warning that Hugging Face's client is imported before zshash, as some tests do."""
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")


def test_features_of_timm():
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


def network(name, **options):
    """A network with other weights than those that it starts from, and its transform."""
    torch.manual_seed(3)
    module = timm.create_model(name, pretrained=False, **options).eval()
    config = timm.data.resolve_model_data_config(module)
    return module, timm.data.create_transform(**config, is_training=False)


@pytest.fixture
def save(tmp_path):
    def save(module):
        torch.save(module.state_dict(), tmp_path / "weights.pth")
        return {"weights": tmp_path / "weights.pth", "device": "cpu"}

    return save


@pytest.mark.parametrize("name", ["resnet10t", "test_vit", "mobilenetv3_small_050", "resnetv2_18"])
def test_categories_from_a_file(save, name):
    module, transform = network(name)
    found = timm_extractor(name, **save(module))
    assert found.categories.ids == imagenet_ids()
    assert found.categories.names[281] == "tabby"
    last = module.get_classifier()
    assert_array_equal(found.categories.directions, last.weight.detach().flatten(1).numpy())
    expected = forward(module, transform).numpy()
    assert_allclose(outputs(found), expected, atol=1e-4 * abs(expected).max())


def test_categories_of_a_larger_imagenet(save):
    module, _ = network("vit_tiny_patch16_224.augreg_in21k")
    known = timm_extractor("vit_tiny_patch16_224.augreg_in21k", **save(module)).categories
    assert known.directions.shape == (21843, 192)
    assert known.ids[0] == "n00004475"
    assert known.names[0] == "organism"
    assert len(set(known.names)) == len(known)


@pytest.mark.parametrize(
    "name", ["deit_tiny_distilled_patch16_224", "levit_128s", "vit_base_patch32_clip_224.openai"]
)
def test_classifiers_of_another_kind(save, name):
    module, _ = network(name)
    assert timm_extractor(name, **save(module)).categories is None


def test_networks_without_known_categories(save):
    assert timm_extractor("resnet10t", **RANDOM).categories is None
    for n_categories in (0, 7):
        module, _ = network("resnet10t", num_classes=n_categories)
        assert timm_extractor("resnet10t", **save(module)).categories is None


def test_features_that_the_classifier_does_not_take(save):
    module, _ = network("resnet10t")
    found = timm_extractor("resnet10t", **save(module))
    run = found.run
    found.run = lambda batch: 1.01 * run(batch)
    assert found.categories is None


def test_categories_of_fetched_weights(monkeypatch):
    module, transform = network("resnet10t")
    fetched = []

    def fetch(*_, **__):
        fetched.append(1)
        return dict(module.state_dict())

    monkeypatch.setattr("timm.models._builder.load_state_dict_from_hf", fetch)
    found = timm_extractor("resnet10t", device="cpu")
    assert len(fetched) == 1
    assert found.categories is found.categories
    assert len(fetched) == 2  # from the cache of Hugging Face's client
    assert found.categories.ids == imagenet_ids()
    assert_allclose(outputs(found), forward(module, transform).numpy(), atol=1e-4)
