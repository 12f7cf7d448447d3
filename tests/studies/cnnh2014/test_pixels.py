"""CNNH from pixels, on handwritten digits and on pictures that are noise."""

import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_digits

from zshash.datasets import DataError, Pictures
from zshash.hashing.cnnh import code_loss
from zshash.studies.cnnh2014.protocol import split_pictures

torch = pytest.importorskip("torch")

from zshash.studies.cnnh2014.__main__ import main  # noqa: E402
from zshash.studies.cnnh2014.experiment import PixelRun, Work, check_pictures  # noqa: E402
from zshash.studies.cnnh2014.network import convolutional_network, outputs_of  # noqa: E402
from zshash.studies.cnnh2014.training import Schedule, pixel_loss, prepared  # noqa: E402

pytestmark = pytest.mark.torch


def digits():
    pixels, labels = load_digits(return_X_y=True)
    return Pictures((15 * pixels).astype(np.uint8).reshape(-1, 8, 8), labels)


@pytest.mark.parametrize("classes", [False, True])
def test_digits_are_found(classes):
    told = []
    task = PixelRun(24, classes, Schedule(epochs=8), n_queries=10, n_train=60)
    record = task.run(0, Work(digits(), tell=told.append))
    assert record["map"] > 0.7
    assert len(told) == 8
    assert told[-1] < 0.5 * told[0]
    assert task.run(0, Work(digits()))["map"] == record["map"]
    assert task.planned(0).items() <= record.items()


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


def test_the_command_goes_on_from_stored_runs(tmp_path):
    write_cifar(tmp_path)
    command = [str(tmp_path), "--bits", "8", "--no-classes", "--epochs", "1"]
    command += ["--output", str(tmp_path / "runs.json")]
    told = CliRunner().invoke(main, command, catch_exceptions=False).output
    assert "CNNH, 8 bits  seed 0  MAP 0.1" in told
    (run,) = json.loads((tmp_path / "runs.json").read_text())["runs"]
    assert run["map"] == pytest.approx(0.1, abs=0.05)  # nothing can be learned from noise
    run["map"] = 0.25
    (tmp_path / "runs.json").write_text(json.dumps({"runs": [run]}))
    assert "MAP 0.25" in CliRunner().invoke(main, command, catch_exceptions=False).output


def test_mistakes_are_told_in_a_sentence(tmp_path):
    missing = CliRunner().invoke(main, [str(tmp_path)])
    assert missing.exit_code == 2
    assert "none of the files of cifar10 or cifar100" in " ".join(missing.output.split())
    device = CliRunner().invoke(main, [str(tmp_path), "--device", "toaster"])
    assert device.exit_code == 2
    assert "the device 'toaster' can not be used" in " ".join(device.output.split())


def test_without_pytorch_its_extra_is_named(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("zshash.scale.device")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    told = CliRunner().invoke(main, [str(tmp_path)])
    assert told.exit_code == 2
    assert "torch is not installed: pip install 'zshash[torch]'" in " ".join(told.output.split())
