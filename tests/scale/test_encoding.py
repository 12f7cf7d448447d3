"""Codes of rows in shards against those of rows in memory."""

import numpy as np
import pytest

import zshash
from tests.every_method import each
from tests.scale.comparing import cut
from zshash import LSH, scale
from zshash.scale import ShardError, fitting
from zshash.scale.fitting import without_codes

METHODS = zshash.methods()


@pytest.fixture(scope="module")
def hashers(digits):
    """Each method that can be fitted here, fitted to a few rows."""
    X, y, _ = digits
    found = {}
    for name, method in METHODS.items():
        if not method.is_available:
            continue
        sizes = {"n_anchors": 60, "n_steps": 20}
        small = {key: size for key, size in sizes.items() if key in method.parameters}
        hasher = method.estimator(22, normalize=name in ("ZSH", "LSH"), random_state=0, **small)
        found[name] = hasher.fit(X[:400], y[:400])
    return found


@pytest.mark.parametrize("name", each())
def test_codes_are_those_of_rows_in_memory(name, hashers, digits, tmp_path, monkeypatch):
    X = digits[0]
    hasher = hashers[name]
    np.save(tmp_path / "x.npy", X[701:].astype(np.float64))
    monkeypatch.setattr(fitting, "CHUNK_ROWS", 300)
    codes = scale.encode(hasher, [X[:700], X[700:701], tmp_path / "x.npy"])
    assert codes.shape == (1500, 3)
    assert codes.dtype == np.uint8
    assert np.array_equal(codes, hasher.encode(X))


@pytest.mark.parametrize("data", [list, np.concatenate])
def test_codes_in_a_file(data, hashers, digits, tmp_path):
    X, hasher = digits[0], hashers["ZSH"]
    path = tmp_path / "codes.npy"
    shards = data(cut(X, [1, 1024, 475]))
    codes = scale.encode(hasher, shards, output=path)
    assert isinstance(codes, np.memmap)
    assert not codes.flags.writeable
    assert np.array_equal(codes, scale.encode(hasher, shards))
    assert np.array_equal(np.load(path), codes)
    again = scale.encode(hasher, X[:7], output=str(path))  # in place of the first
    assert np.array_equal(again, hasher.encode(X[:7]))
    assert [file.name for file in tmp_path.iterdir()] == ["codes.npy"]


@pytest.mark.parametrize("existing", [None, b"what was there before"])
def test_no_half_of_a_file(existing, hashers, digits, tmp_path):
    path = tmp_path / "codes.npy"
    if existing:
        path.write_bytes(existing)
    bad = digits[0][700:].copy()
    bad[300] = np.nan
    with pytest.raises(ShardError, match=r"shard 1: .* the first is row 300"):
        scale.encode(hashers["ZSH"], [digits[0][:700], bad], output=path)
    assert (path.read_bytes() if path.exists() else None) == existing
    assert len(list(tmp_path.iterdir())) == bool(existing)


def test_a_file_where_no_folder_is(hashers, digits, tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        scale.encode(hashers["LSH"], digits[0], output=tmp_path / "nowhere" / "codes.npy")


def test_shards_of_another_width_than_the_hasher(hashers, digits):
    X = digits[0]
    with pytest.raises(ShardError, match=r"the array: 63 features .* the hasher was fitted to 64"):
        scale.encode(hashers["ITQ"], X[:, 1:])
    with pytest.raises(ShardError, match=r"shard 1: 63 features .* shard 0 has 64"):
        scale.encode(hashers["ITQ"], [X, X[:, 1:]])


def test_no_shards_and_no_file_for_them(hashers, tmp_path):
    with pytest.raises(ShardError, match="there are no shards"):
        scale.encode(hashers["LSH"], [], output=tmp_path / "codes.npy")
    assert list(tmp_path.iterdir()) == []


def test_codes_of_training_samples_need_not_travel(hashers):
    hasher = hashers["ZSH"]
    light = without_codes(hasher)
    assert not hasattr(light, "codes_")
    assert hasattr(hasher, "codes_")
    assert light.projection_ is hasher.projection_


def test_a_fit_to_shards_encodes_them(digits):
    X, y, others = digits
    shards = cut(X, [700, 800])
    hasher = scale.fit(LSH(16, random_state=0), shards, y)
    assert np.array_equal(scale.encode(hasher, [others]), hasher.encode(others))
