"""CNNH from pixels, on handwritten digits and on pictures that are noise."""

import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from zshash.cli import main
from zshash.datasets import DataError, Pictures
from zshash.hashing.cnnh import code_loss
from zshash.images import extractor
from zshash.studies import cnnh2014
from zshash.studies.cnnh2014.experiment import Pixels, check_pictures
from zshash.studies.cnnh2014.protocol import split_pictures
from zshash.studies.data import Sources
from zshash.studies.pages import PageReproduction

torch = pytest.importorskip("torch")

from zshash.studies.cnnh2014.efficientnet import lite_network  # noqa: E402
from zshash.studies.cnnh2014.network import convolutional_network, outputs_of  # noqa: E402
from zshash.studies.cnnh2014.training import pixel_loss, prepared  # noqa: E402

pytestmark = pytest.mark.torch
EXPERIMENT = "cnnh-pixels"


@pytest.fixture
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments):
    return CliRunner().invoke(main, ["reproduce", EXPERIMENT, *arguments], catch_exceptions=False)


def told(done):
    return " ".join(done.output.split())


@pytest.mark.parametrize("classes", [False, True])
def test_digits_are_found(classes):
    task = Pixels(
        data="digits",
        method="CNNH",
        bits=24,
        parameters={"classes": classes},
        epochs=8,
        n_queries=10,
        n_train=60,
    )
    checked = task.rehearse(Sources())
    record = task.run(0, Sources())
    assert record["map"] > 0.7
    assert len(record["losses"]) == 8
    assert record["losses"][-1] < 0.5 * record["losses"][0]
    assert task.run(0, Sources())["map"] == record["map"]
    assert task.rehearse(Sources()) == checked


def test_loss_is_that_of_the_method_for_features():
    rng = np.random.RandomState(0)
    U, B = rng.standard_normal((6, 7)), np.where(rng.uniform(size=(6, 4)) > 0.5, 1.0, -1.0)
    shares = np.eye(3)[rng.randint(0, 3, 6)]
    for outputs, own in ((U[:, :4], None), (U, shares)):
        expected, slope = code_loss(outputs, B, own)
        tensor = torch.tensor(outputs, requires_grad=True)
        known = None if own is None else torch.tensor(own)
        loss = pixel_loss(tensor, torch.tensor(B), known)
        loss.backward()
        assert loss.item() == pytest.approx(expected / 6)
        np.testing.assert_allclose(tensor.grad.numpy(), slope / 6, atol=1e-6)


def test_network_takes_pictures_of_any_side():
    for side, channels in ((32, 3), (8, 1), (15, 3)):
        pixels = torch.zeros(5, channels, side, side)
        assert outputs_of(convolutional_network(side, channels, 12), pixels, 2).shape == (5, 12)


def test_the_network_begins_with_the_features_of_its_extractor():
    known = extractor("efficientnet-lite0")
    pixels = np.random.RandomState(0).randint(0, 256, (3, 3, 224, 224)).astype(np.float32)
    network = lite_network(224, 8).eval()
    with torch.inference_mode():
        found = network.features(torch.from_numpy(pixels)).numpy()
    np.testing.assert_allclose(found, known.run((pixels - 127) / 128), atol=1e-4)


def test_pictures_are_enlarged_and_grey_ones_get_colours():
    network = lite_network(64, 5).eval()
    grey = torch.rand(2, 1, 8, 8) * 255
    assert outputs_of(network, grey, 1).shape == (2, 5)
    large = torch.nn.functional.interpolate(grey, size=(64, 64), mode="bicubic")
    with torch.inference_mode():
        np.testing.assert_allclose(network(grey), network(large.expand(2, 3, 64, 64)), atol=1e-4)


def test_weights_of_imagenet_go_on_learning():
    task = Pixels(
        data="digits", method="CNNH", bits=24, side=32, epochs=4, n_queries=10, n_train=60
    )
    assert task.label == "CNNH, EfficientNet-Lite0 of 32 pixels, 24 bits"
    record = task.run(0, Sources())
    assert record["map"] > 0.4
    assert record["losses"][1] < record["losses"][0]


def test_training_pictures_have_mean_zero():
    pixels = np.random.RandomState(0).randint(0, 256, (20, 4, 4, 3)).astype(np.uint8)
    train = np.arange(12)
    values = prepared(pixels, train)
    assert values.shape == (20, 3, 4, 4)
    np.testing.assert_allclose(values[:12].mean(dim=0), 0, atol=1e-5)
    raw = pixels.transpose(0, 3, 1, 2).astype(float)
    expected = (raw - raw[:12].mean(axis=0)) / raw[:12].std(ddof=1)
    np.testing.assert_allclose(values, expected, atol=1e-5)


def test_split_takes_the_same_number_of_each_category():
    labels = np.random.RandomState(0).randint(0, 5, 400)
    split = split_pictures(labels, 10, 30, seed=1)
    np.testing.assert_array_equal(np.bincount(labels[split.queries]), 10)
    np.testing.assert_array_equal(np.bincount(labels[split.train]), 30)
    assert not np.isin(split.queries, split.database).any()
    assert np.isin(split.train, split.database).all()
    with pytest.raises(DataError, match="category 0 has 3 pictures, and the protocol takes 40"):
        split_pictures(np.repeat([0, 1], [3, 60]), 10, 30)


@pytest.mark.parametrize(
    ("pictures", "message"),
    [
        (Pictures(("a.jpg",), np.zeros(1, dtype=int)), "needs pixels of one size"),
        (Pictures(np.zeros((2, 4, 5), np.uint8), np.zeros(2, dtype=int)), "square pictures"),
        (Pictures(np.zeros((2, 4, 4), np.uint8), np.eye(2, dtype=bool), ("a", "b")), "one label"),
    ],
)
def test_pictures_that_do_not_fit(pictures, message):
    with pytest.raises(DataError, match=message):
        check_pictures(pictures)


def write_cifar(folder):
    """Noise in CIFAR-10's binary layout: 650 pictures of each category."""
    rng = np.random.RandomState(0)
    folder = folder / "cifar-10-batches-bin"
    folder.mkdir()
    names = [f"data_batch_{number}" for number in range(1, 6)] + ["test_batch"]
    for name in names:
        records = rng.randint(0, 256, (1090, 3073)).astype(np.uint8)
        records[:, 0] = np.arange(1090) % 10
        records.tofile(folder / f"{name}.bin")
    (folder / "batches.meta.txt").write_text("\n".join(f"kind{i}" for i in range(10)))


def test_the_command_goes_on_from_stored_runs(inside):
    write_cifar(inside)
    (inside / "mine.toml").write_text(
        """
[[parts]]
task = "pixels"
data = "cifar-10-batches-bin"
method = "CNNH"
bits = 8
epochs = 1
"""
    )
    study = cnnh2014.STUDY.read(str(inside / "mine.toml"))
    work = PageReproduction([study], inside / "page", Sources())
    assert len(list(work.run(1))) == 1
    (file,) = (inside / "page" / "runs").rglob("*.json")
    (run,) = json.loads(file.read_text())["runs"]
    assert run["map"] == pytest.approx(0.1, abs=0.05)  # nothing can be learned from noise
    again = PageReproduction([study], inside / "page", Sources())
    assert list(again.run(1)) == []
    assert again.plan.n_finished == 1


def test_a_small_version(inside):
    done = call("--quick", "--jobs", "1")
    assert done.exit_code == 0
    page = (inside / "cnnh-pixels-quick.md").read_text()
    assert "| CNNH | 24 |" in page
    assert "| CNNH+ | 24 |" in page


def test_mistakes_are_told_in_a_sentence(inside):
    device = call("--quick", "--device", "toaster")
    assert device.exit_code == 2
    assert "the device 'toaster' can not be used" in told(device)
    other = CliRunner().invoke(main, ["reproduce", "names", "--device", "cpu"])
    assert "--device has no meaning without cnnh-pixels or mth; leave it out" in told(other)
    with pytest.raises(DataError, match="CNNH alone learns from pixels, not ITQ"):
        Pixels(data="digits", method="ITQ")
    missing = call("--files", "nowhere")
    assert missing.exit_code == 2
    assert list(inside.iterdir()) == []


@pytest.mark.usefixtures("inside")
def test_without_pytorch_its_extra_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("zshash.scale.device")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    done = call("--quick")
    assert done.exit_code == 2
    assert "torch is not installed: pip install 'zshash[torch]'" in told(done)
