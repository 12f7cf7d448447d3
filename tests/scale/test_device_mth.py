"""Metric-transfer hashing with PyTorch, on the CPU and where there is one on a GPU."""

import numpy as np
import pytest

from zshash import MTH, scale
from zshash._progress import progress_bar
from zshash.hashing.steps.distillation import Distillation
from zshash.hashing.steps.imagination import Batches
from zshash.hashing.steps.networks import random_units

torch = pytest.importorskip("torch")

from zshash.scale.device import distillation  # noqa: E402

pytestmark = pytest.mark.torch

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Threads of PyTorch wait for each other where batches are small."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def data():
    """600 rows around twelve centres to learn from, 400 others, and vectors of the centres."""
    rng = np.random.RandomState(0)
    labels = rng.randint(0, 12, 1000)
    X = (rng.standard_normal((12, 24))[labels] + rng.standard_normal((1000, 24))) + 1
    vectors = rng.standard_normal((12, 10))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return X[:600].astype(np.float32), labels[:600], X[600:].astype(np.float32), vectors


def make(**parameters):
    quick = {"n_bits": 40, "n_units": 64, "n_steps": 15, "effort": "fast", "random_state": 0}
    return MTH(**(quick | parameters))


def share_of_equal_bits(left, right):
    return 1 - np.unpackbits(left ^ right).mean()


def trainings(device, p, n=304):
    """The same training twice, in NumPy and on a device."""
    for which in (Distillation, distillation.DeviceDistillation):
        rng = np.random.RandomState(0)
        categories = np.arange(n) % 7
        Z = (rng.standard_normal((7, 9))[categories] + rng.standard_normal((n, 9))) / 4
        meanings = rng.standard_normal((7, p)).astype(np.float32) / 3
        options = {"novelty": 0.1, "size": 200, "imaginary": 0.25, "rng": rng}
        batches = Batches(Z.astype(np.float32), categories, meanings, **options)
        weights = random_units(rng.standard_normal((9, 16)), 32, rng)
        where = {} if which is Distillation else {"device": torch.device(device)}
        options = {"perplexity": 12.0, "temperature": 0.6, "rate": 3e-3, "n_steps": 30}
        yield which(weights, batches, **options, **where), weights


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("p", [0, 5])
def test_the_training_is_that_of_numpy(device, p):
    (here, weights), (there, others) = trainings(device, p)
    losses = here.run()
    np.testing.assert_allclose(there.run(), losses, rtol=1e-3)
    assert losses[-1] < 0.9 * losses[0]
    for array, other in zip(weights, others, strict=True):
        assert other.dtype == np.float32
        assert np.linalg.norm(other - array) < 0.02 * np.linalg.norm(array) + 1e-3
    assert there._guess.dtype == torch.float32
    assert float(there._guess) == pytest.approx(here._guess, rel=1e-2)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"semantics": 0.6},
        {"normalize": True, "lookup": 1.0},
        {"n_bits": 9, "imaginary": 0.0, "effort": "best"},
    ],
)
def test_a_fit_is_that_of_numpy(data, device, parameters):
    X, labels, others, vectors = data
    inside = make(**parameters).fit(X, vectors[labels])
    outside = scale.fit(make(**parameters), X, labels, vectors=vectors, device=device)
    np.testing.assert_allclose(outside.loss_, inside.loss_, rtol=1e-3)
    assert share_of_equal_bits(outside.encode(others), inside.encode(others)) > 0.999
    assert outside.mapping_.shape == inside.mapping_.shape
    assert not hasattr(outside, "classes_")


@pytest.mark.parametrize("device", DEVICES)
def test_progress_is_shown_to_those_who_want_it(data, device, monkeypatch):
    bars = []
    monkeypatch.setattr(
        "zshash.hashing.steps.distillation.progress_bar",
        lambda total, wanted, **_: bars.append((total, wanted)) or progress_bar(total, False),
    )
    for progress in (True, False):
        scale.fit(make(), *data[:2], device=device, progress=progress)
    assert bars == [(15, True), (15, False)]


@pytest.mark.parametrize("device", DEVICES)
def test_rows_may_come_as_arrays_tensors_and_files(data, device, tmp_path):
    X, labels, others, _ = data
    whole = scale.fit(make(), X, labels, device=device)
    np.testing.assert_array_equal(whole.classes_, np.arange(12))
    for number, part in enumerate(np.split(X, [250])):
        np.save(tmp_path / f"{number}.npy", part)
    np.save(tmp_path / "0.labels.npy", labels[:250])
    np.save(tmp_path / "1.labels.npy", labels[250:])
    given = (
        (np.split(X, [1, 300]), labels),
        (torch.from_numpy(X), torch.from_numpy(labels)),
        ([tmp_path / "0.npy", tmp_path / "1.npy"], None),
    )
    for shards, targets in given:
        found = scale.fit(make(), shards, targets, device=device)
        assert share_of_equal_bits(found.encode(others), whole.encode(others)) > 0.999


@pytest.mark.parametrize("device", DEVICES)
def test_vectors_of_categories_without_samples_do_no_harm(data, device):
    X, labels, others, vectors = data
    few = labels < 6
    with_gap = np.where(labels[few] == 2, 9, labels[few])
    found = scale.fit(make(), X[few], with_gap, vectors=vectors, device=device)
    expected = make().fit(X[few], vectors[with_gap])
    assert share_of_equal_bits(found.encode(others), expected.encode(others)) > 0.999


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("parameters", [{}, {"lookup": 1.0, "normalize": True}])
def test_codes_of_a_device_are_those_of_the_hasher(data, device, parameters, monkeypatch):
    X, labels, others, _ = data
    hasher = make(**parameters).fit(X, labels)
    monkeypatch.setattr("zshash.scale.device.fitting.ENCODED_ROWS", 200)
    expected = hasher.encode(others)
    tensor = torch.from_numpy(others).to(device)
    codes = scale.encode(hasher, tensor)
    assert codes.device == tensor.device
    for found in (
        codes.cpu().numpy(),
        scale.encode(hasher, np.split(others, [70]), device=device),
        scale.frozen(hasher, device, is_half=False)(tensor).cpu().numpy(),
    ):
        assert found.shape == expected.shape
        assert share_of_equal_bits(found, expected) > 0.9999
    half = scale.frozen(hasher, device)(tensor.half()).cpu().numpy()
    assert share_of_equal_bits(half, hasher.encode(others.astype(np.float16))) > 0.9999
    np.testing.assert_array_equal(scale.encode(hasher, np.split(others, [70])), expected)


def test_without_a_device_all_rows_are_needed(data):
    X, labels, _, _ = data
    with pytest.raises(ValueError, match="MTH needs all rows in memory: fit it to a sample"):
        scale.fit(make(), np.split(X, 3), labels)


def test_what_a_device_can_not_do_is_said(data):
    X, labels, _, vectors = data
    with pytest.raises(scale.DeviceError, match="the device 'abacus' can not be used"):
        scale.fit(make(), X, labels, device="abacus")
    with pytest.raises(ValueError, match="one row: a fit needs two"):
        scale.fit(make(), X[:1], labels[:1], vectors=vectors, device="cpu")
    with pytest.raises(ValueError, match="lookup must be a number"):
        scale.fit(make(lookup=2), X, labels, device="cpu")
    with pytest.raises(ValueError, match="all rows of X are equal"):
        scale.fit(make(), np.ones((6, 3)), [0, 0, 0, 1, 1, 1], device="cpu")
    broken = torch.from_numpy(X).clone()
    broken[3, 3] = torch.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        scale.fit(make(), broken, labels)


def test_a_device_that_is_too_small_is_named(data, monkeypatch):
    def fail(_):
        raise torch.OutOfMemoryError("no room")

    X, labels, _, _ = data
    monkeypatch.setattr(distillation.DeviceDistillation, "run", fail)
    message = "cpu has not enough memory for 600 samples, about 8 bytes for each of their features"
    with pytest.raises(scale.DeviceError, match=message + ": use fewer samples, or fit without"):
        scale.fit(make(), X, labels, device="cpu")


@pytest.mark.parametrize("device", DEVICES)
def test_a_fit_gives_the_same_again(data, device):
    X, labels, others, _ = data
    first, second = (scale.fit(make(), X, labels, device=device) for _ in range(2))
    assert share_of_equal_bits(first.encode(others), second.encode(others)) > 0.999
    np.testing.assert_allclose(first.loss_, second.loss_, rtol=1e-4)
