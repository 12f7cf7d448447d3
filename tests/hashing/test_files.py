import json
import os
import stat
import threading
from copy import copy

import numpy as np
import pytest
from safetensors.numpy import save as to_bytes
from safetensors.numpy import save_file

from zshash import LSH, ZSH, ModelError
from zshash.hashing import files, load, read_header, save


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((60, 4)).astype(np.float32)
    y = np.array(["cat", "dog", "eel"])[rng.randint(0, 3, 60)]
    return X, ZSH(16, n_anchors=10, sigma="auto", normalize=False, random_state=np.int64(1)).fit(
        X, y
    )


@pytest.fixture
def model(fitted, tmp_path):
    path = tmp_path / "model.zshash"
    save(fitted[1], path, notes={"seen": ["cat", "dog", "eel"]})
    return path


def test_a_model_comes_back_whole(fitted, model):
    X, hasher = fitted
    again = load(model)
    np.testing.assert_array_equal(again.project(X), hasher.project(X))
    assert again.get_params() == hasher.get_params()
    for name, value in vars(hasher).items():
        np.testing.assert_array_equal(getattr(again, name), value)
    assert again.classes_.tolist() == ["cat", "dog", "eel"]
    assert read_header(model)["notes"] == {"seen": ["cat", "dog", "eel"]}
    assert read_header(model)["method"] == "ZSH"


def test_other_methods_and_generators(tmp_path):
    X = np.random.RandomState(0).standard_normal((9, 3))
    hasher = LSH(8, random_state=np.random.RandomState(4)).fit(X)
    save(hasher, tmp_path / "m")
    np.testing.assert_array_equal(load(tmp_path / "m").encode(X), hasher.encode(X))
    assert load(tmp_path / "m").random_state is None


def test_a_file_is_replaced_whole(fitted, model):
    before = model.read_bytes()
    save(fitted[1], model, notes={"seen": ["cat", "dog", "eel"]})
    assert model.read_bytes() == before
    assert [path.name for path in model.parent.iterdir()] == ["model.zshash"]
    assert stat.S_IMODE(model.stat().st_mode) & stat.S_IRUSR


def test_nothing_is_left_when_writing_fails(fitted, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save(fitted[1], tmp_path / "model.zshash")
    assert list(tmp_path.iterdir()) == []


def test_every_flipped_bit_is_noticed(model):
    content = bytearray(model.read_bytes())
    rng = np.random.RandomState(0)
    header_bits = range(0, 8 * 600, 7)
    body_bits = rng.randint(0, 8 * len(content), 300)
    for bit in [*header_bits, *body_bits]:
        damaged = content.copy()
        damaged[bit // 8] ^= 1 << (bit % 8)
        model.write_bytes(damaged)
        with pytest.raises(ModelError):
            load(model)


def test_every_truncation_is_noticed(model):
    content = model.read_bytes()
    for size in range(0, len(content), 37):
        model.write_bytes(content[:size])
        with pytest.raises(ModelError, match=r"model\.zshash: "):
            load(model)


def forge(path, **header):
    """A file with a right checksum and a wrong content."""
    tensors = {"mean_": np.zeros(3, np.float32)}
    base = {"version": 1, "method": "LSH", "parameters": {"n_bits": 8}, "values": {}, "notes": {}}
    whole = base | header
    whole = {"sha256": files._digest(whole, tensors)} | whole
    path.write_bytes(to_bytes(tensors, metadata={files.METADATA_KEY: json.dumps(whole)}))
    return path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"version": 99}, "format 99, this zshash reads up to 2; upgrade"),
        ({"sha256": "0"}, "checksum does not match"),
        ({"method": "Pickle"}, "method 'Pickle' is unknown here; upgrade zshash"),
        ({"parameters": {"n_bits": 8, "colour": 1}}, "does not fit together"),
        ({"method": ["LSH"]}, "its header is not that of a zshash model"),
        ({"parameters": [1]}, "its header is not that of a zshash model"),
        ({"values": None}, "its header is not"),
        ({"values": {"fit": 1}}, "something other than fitted state"),
        ({"values": {"_n_": 1}}, "something other than fitted state"),
        ({"values": {"n_features_in_": 10**15}}, "does not fit together"),
        ({"values": {"n_features_in_": "many"}}, "does not fit together"),
        ({"values": {"n_features_in_": 3}}, "does not fit together"),
    ],
)
def test_forged_models(tmp_path, arguments, message):
    with pytest.raises(ModelError, match=message):
        load(forge(tmp_path / "m", **arguments))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_no_numbers(fitted, tmp_path, value):
    """Their checksum is right, and yet they would give all pictures the same bits."""
    for name, array in [item for item in vars(fitted[1]).items() if _is_real(*item)]:
        hasher = copy(fitted[1])
        spoilt = np.array(array)
        spoilt.flat[spoilt.size // 2] = value
        setattr(hasher, name, spoilt if isinstance(array, np.ndarray) else float(spoilt))
        save(hasher, tmp_path / "m")
        with pytest.raises(ModelError, match=f"{name} holds NaN or infinity: fit it again"):
            load(tmp_path / "m")


def _is_real(name, value):
    is_fitted = name.endswith("_") and not name.startswith("_") and name != "objective_"
    return is_fitted and np.asarray(value).dtype.kind == "f"


def test_files_that_are_no_models(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such model file"):
        load(tmp_path / "nothing")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ModelError, match="not a zshash model, or damaged"):
        load(tmp_path / "text")
    save_file({"weight": np.zeros(3)}, tmp_path / "other.safetensors")
    with pytest.raises(ModelError, match="a safetensors file, but not a zshash model"):
        load(tmp_path / "other.safetensors")
    for text in ("{", "[]", '{"version": 1}', "[" * 100_000):
        content = to_bytes({"mean_": np.zeros(3)}, metadata={files.METADATA_KEY: text})
        (tmp_path / "odd").write_bytes(content)
        with pytest.raises(ModelError, match="its header is not that of a zshash model"):
            load(tmp_path / "odd")


def test_models_of_named_columns_load_in_silence(tmp_path):
    hasher = LSH(8, random_state=0).fit(np.eye(3))
    hasher.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
    save(hasher, tmp_path / "m")
    assert load(tmp_path / "m").feature_names_in_.tolist() == ["a", "b", "c"]


def test_links_are_followed_and_pipes_stay_pipes(fitted, tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    save(fitted[1], tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "real").n_bits == 16
    os.mkfifo(tmp_path / "pipe")
    received = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    save(fitted[1], tmp_path / "pipe")
    reader.join()
    assert (tmp_path / "pipe").is_fifo()
    assert received == [(tmp_path / "real").read_bytes()]


def test_what_can_not_be_saved(tmp_path):
    fitted = LSH(8).fit(np.eye(3))
    with pytest.raises(TypeError, match="must be plain words, numbers and lists"):
        save(fitted, tmp_path / "m", notes={"seen": np.arange(3)})
    with pytest.raises(TypeError, match="dict is not a method of zshash"):
        save({}, tmp_path / "m")
    with pytest.raises(ValueError, match="not fitted yet"):
        save(LSH(8), tmp_path / "m")


@pytest.mark.parametrize("normalize", [True, False])
def test_a_model_keeps_its_own_normalize(normalize, tmp_path):
    X = np.random.RandomState(0).standard_normal((9, 3)) * np.arange(1, 10)[:, None] + 1
    hasher = LSH(8, normalize=normalize, random_state=0).fit(X)
    save(hasher, tmp_path / "m")
    assert load(tmp_path / "m").normalize is normalize
    np.testing.assert_array_equal(load(tmp_path / "m").project(X), hasher.project(X))
