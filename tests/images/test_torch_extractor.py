import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from safetensors.numpy import save_file

torch = pytest.importorskip("torch")

from zshash.images.categories import Categories  # noqa: E402
from zshash.images.torch_extractor import (  # noqa: E402
    TorchExtractor,
    check_weights,
    load_weights,
    make,
)

pytestmark = pytest.mark.torch


class Corner:
    """A transform that keeps the first pixels of a picture, and notes its size."""

    def __init__(self):
        self.sizes = []

    def __call__(self, image):
        self.sizes.append(image.size)
        pixels = np.asarray(image.resize((2, 2)), dtype=np.float32)
        return torch.from_numpy(pixels.transpose(2, 0, 1).copy())

    def __repr__(self):
        return object.__repr__(self)  # with an address, as functions have


def network(seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12, 5), torch.nn.BatchNorm1d(5))


def extractor(module=None, **options):
    module = network() if module is None else module
    return TorchExtractor("test", module, module, Corner(), device="cpu", **options)


BATCH = np.random.RandomState(0).randn(6, 3, 2, 2).astype(np.float32)


def test_features_are_those_of_the_module():
    found = extractor()
    with torch.no_grad():
        expected = network().eval()(torch.from_numpy(BATCH)).numpy()
    assert found.dimension == 5
    assert found.batch_size == 32
    assert found.run(BATCH).dtype == np.float32
    assert_allclose(found.run(BATCH), expected, atol=1e-6)
    assert found.run(BATCH[:0]).shape == (0, 5)


def test_arrays_that_are_not_writable():
    frozen = np.asfortranarray(BATCH)
    frozen.setflags(write=False)
    found = extractor()
    assert_array_equal(found.run(frozen), found.run(BATCH))


def test_one_batch_at_a_time():
    class Busy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.free = threading.Lock()

        def forward(self, pixels):
            assert self.free.acquire(blocking=False), "two threads inside"
            threading.Event().wait(0.01)
            self.free.release()
            return pixels.flatten(1)

    found = extractor(Busy())
    with ThreadPoolExecutor(4) as pool:
        for features in pool.map(lambda _: found.run(BATCH), range(8)):
            assert_array_equal(features, BATCH.reshape(6, 12))


def test_maps_and_tokens():
    maps = extractor(torch.nn.Identity()).run(BATCH)
    assert_allclose(maps, BATCH.mean(axis=(2, 3)), atol=1e-6)
    tokens = extractor(torch.nn.Flatten(2), pool="first").run(BATCH)
    assert_array_equal(tokens, BATCH[:, 0].reshape(6, 4))
    with pytest.raises(ValueError, match="3 vectors for each picture"):
        extractor(torch.nn.Flatten(2))


@pytest.mark.parametrize(
    ("size", "kept"),
    [((1, 100_000), (1, 10)), ((50_000, 3), (30, 3)), ((40, 4), (40, 4)), ((41, 4), (40, 4))],
)
def test_thin_pictures_are_shortened(size, kept):
    found = extractor()
    found.prepare(Image.new("RGB", size))
    assert found._transform.sizes[-1] == kept


def test_fingerprints():
    same = extractor().fingerprint
    assert extractor(batch_size=7).fingerprint == same
    other = network()
    with torch.no_grad():
        other[1].weight[0, 0] += 1e-6
    assert extractor(other).fingerprint != same
    assert extractor(pool="mean").fingerprint != same
    assert extractor(network().double().float()).fingerprint == same


def test_half_weights_have_a_fingerprint():
    module = torch.nn.Sequential(torch.nn.Flatten())
    module.register_buffer("scale", torch.tensor(2.0, dtype=torch.bfloat16))
    assert len(extractor(module).fingerprint) == 64


def test_categories_and_texts_when_asked_for():
    asked = []

    def find(found):
        asked.append(found)
        return Categories(("n02084071",), ("dog",), np.ones((1, found.dimension)), np.ones(1))

    found = extractor(find_categories=find, encode_text=lambda texts: torch.ones(len(texts), 5))
    assert asked == []
    assert found.categories.names == found.categories.names == ("dog",)
    assert asked == [found]
    assert_allclose(found.text.embed(["dog", "cat"]), np.full((2, 5), 5**-0.5), rtol=1e-6)
    assert extractor().fingerprint == found.fingerprint
    assert extractor().categories is None
    assert extractor().text is None


def test_what_is_no_network_for_features():
    class Two(torch.nn.Module):
        def forward(self, pixels):
            return pixels, pixels

    with pytest.raises(ValueError, match="the network gives a tuple instead of numbers"):
        extractor(Two())
    broken = network()
    with torch.no_grad():
        broken[1].bias[0] = float("nan")
    with pytest.raises(ValueError, match="features of a black picture are empty or not finite"):
        extractor(broken)


@pytest.mark.parametrize("device", ["abacus", "cuda:99", 5.5])
def test_a_device_that_is_not_there(device):
    module = network()
    with pytest.raises(ValueError, match=f"device '?{device}'? is not available; cpu always is"):
        TorchExtractor("test", module, module, Corner(), device=device)


@pytest.fixture
def save(tmp_path):
    def save(state, name="weights.pth"):
        torch.save(state, tmp_path / name)
        return tmp_path / name

    return save


def same_weights(module, other):
    own, others = module.state_dict(), other.state_dict()
    return all(torch.equal(own[key], others[key]) for key in own)


def test_weights_from_files(save, tmp_path):
    original = network(1)
    state = original.state_dict()
    tensors = {key: value.numpy() for key, value in state.items()}
    save_file(tensors, tmp_path / "weights.safetensors")
    more = state | {"head.weight": torch.zeros(3)}
    bare = {key: value for key, value in state.items() if "num_batches" not in key}
    for path in (
        tmp_path / "weights.safetensors",
        save(state, "plain.pth"),
        save({"state_dict": state, "epoch": 9}, "wrapped.pth"),
        save({"model": state}, "model.pth"),
        save({f"module.{key}": value for key, value in state.items()}, "parallel.pth"),
        save(more, "more.pth"),
        save(bare, "bare.pth"),
    ):
        module = network(0)
        assert not same_weights(module, original)
        rest = load_weights(module, path)
        assert list(rest) == (["head.weight"] if path.stem == "more" else [])
        assert same_weights(module, original), path


def test_words_for_weights():
    for word in ("default", "random"):
        module = network()
        check_weights(word)
        assert load_weights(module, word) == {}
        assert same_weights(module, network())


def test_files_without_the_weights(save, tmp_path):
    state = network().state_dict()
    fewer = {key: value for key, value in state.items() if key != "1.bias"}
    other = state | {"1.bias": torch.zeros(6)}
    text = state | {"1.bias": "zero"}
    cut = tmp_path / "cut.pth"
    cut.write_bytes(save(state).read_bytes()[:-200])
    bad = tmp_path / "bad.safetensors"
    bad.write_bytes(b"nothing")
    for path, message in (
        (save(fewer, "fewer.pth"), r"not weights of this network \(1\.bias is missing\)"),
        (save(other, "other.pth"), r"not weights of this network \(1\.bias has another shape\)"),
        (save(text, "text.pth"), r"not weights of this network \(1\.bias has another shape\)"),
        (save([1, 2], "list.pth"), "no dictionary of weights"),
        (cut, "not a file of weights, or damaged"),
        (bad, "not a file of weights, or damaged"),
    ):
        with pytest.raises(ValueError, match=rf"^{path}: {message}"):
            load_weights(network(), path)


def test_no_code_is_run_from_a_file(tmp_path):
    class Trap:
        def __reduce__(self):
            return exec, (f"open({str(tmp_path / 'trace')!r}, 'w').close()",)

    torch.save({"1.weight": Trap()}, tmp_path / "trap.pth")
    with pytest.raises(ValueError, match="not a file of weights"):
        load_weights(network(), tmp_path / "trap.pth")
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize("weights", ["imagenet", "/none/at/all.pth", None, ["random"]])
def test_weights_that_are_nowhere(weights):
    with pytest.raises(ValueError, match="weights must be 'default', 'random' or a file, got"):
        check_weights(weights)


def test_random_weights_are_always_the_same():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    first = make("test", "random", lambda _: torch.nn.Linear(3, 3))
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.manual_seed(6)
    assert same_weights(first, make("test", "random", lambda _: torch.nn.Linear(3, 3)))


def test_weights_that_can_not_be_fetched():
    def create(fetch):
        assert fetch
        raise ConnectionError("no\nroute")

    with pytest.raises(ValueError, match=r"^test: its weights could not be fetched \(no route\); "):
        make("test", "default", create)
