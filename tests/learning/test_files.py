import json

import numpy as np
import pytest
from PIL import Image

import zshash
from zshash.datasets import DataError, digits
from zshash.images import PictureReader
from zshash.learning.files import Codes, encode_data, load_codes
from zshash.learning.model import Model

FACTS = {"name": "net", "options": {}, "fingerprint": "1"}


@pytest.fixture
def table(tmp_path):
    """Writes digits with more arrays beside them."""

    def write(name="digits.npz", **more):
        data = digits()
        arrays = {"X": data.X[:100], "y": data.labels[:100], "names": np.array(data.names)}
        np.savez(tmp_path / name, **(arrays | more))
        return str(tmp_path / name)

    return write


@pytest.fixture
def fit(tmp_path):
    def to_model(source):
        model = tmp_path / "model"
        zshash.fit(source, method="LSH", n_bits=16).save(model)
        return Model.load(model)

    return to_model


def test_codes_with_what_is_known(table, fit, tmp_path):
    paths = np.array([f"{i}.jpg" for i in range(100)])
    source = table(paths=paths, wnids=np.array([f"n{i:08d}" for i in range(10)]))
    model = fit(source)
    facts = encode_data(model, source, tmp_path / "codes.npz", reader=PictureReader())
    assert facts["output"] == str(tmp_path / "codes.npz")
    assert (facts["n"], facts["bits"], facts["bytes"]) == (100, 16, 200)
    codes = load_codes(tmp_path / "codes.npz", model)
    assert codes.describe(7) == {"row": 7, "path": "7.jpg", "labels": ["seven"]}
    with np.load(tmp_path / "codes.npz") as arrays:
        assert arrays["wnids"][3] == "n00000003"


def test_labels_of_an_item_that_has_several():
    labels = np.array([[True, False, True], [False, False, False]])
    codes = Codes(np.zeros((2, 1), np.uint8), labels=labels, names=("a", "b", "c"))
    assert codes.describe(0) == {"row": 0, "labels": ["a", "c"]}
    assert codes.describe(1) == {"row": 1, "labels": []}


def test_bare_codes(table, fit, tmp_path):
    source = table()
    model = fit(source)
    encode_data(model, source, tmp_path / "codes", reader=PictureReader())
    codes = load_codes(tmp_path / "codes", model)
    assert codes.describe(7) == {"row": 7}
    np.testing.assert_array_equal(codes.packed, model.encode(digits())[:100])


def test_projections_and_codes_come_from_one_computation(table, fit):
    model = fit(table())
    X = digits().X[:100]
    projections = model.project(X)
    np.testing.assert_array_equal(projections, model.hasher.project(X))
    np.testing.assert_array_equal(model.quantize(projections), model.encode(X))
    np.testing.assert_array_equal(model.encode(X), model.hasher.encode(X))
    with pytest.raises(ValueError, match="63 features"):
        model.project(X[:, 1:])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"codes": np.zeros((3, 2), np.int64)}, "not a file of codes"),
        ({"other": np.zeros((3, 2), np.uint8)}, "not a file of codes"),
        ({"codes": np.zeros((3, 3), np.uint8)}, "codes of another model"),
        ({"codes": np.zeros((3, 2), np.uint8), "model": "abc"}, "codes of another model"),
        ({"codes": np.zeros((3, 2), np.uint8), "paths": np.array(["a"])}, "must be 3 words"),
        (
            {"codes": np.zeros((2, 2), np.uint8), "y": np.array([0, 5]), "names": np.array(["a"])},
            "labels run from 0 to 5",
        ),
    ],
)
def test_files_that_hold_no_codes(table, fit, tmp_path, arrays, message):
    model = fit(table())
    path = tmp_path / "codes.npz"
    np.savez(path, **arrays)
    with pytest.raises(DataError, match=message):
        load_codes(path, model)


def test_features_of_another_network(table, fit):
    model = fit(table(extractor=json.dumps(FACTS)))
    assert model.notes["extractor"] == FACTS
    assert len(model.read(table("same.npz", extractor=json.dumps(FACTS)))) == 100
    assert len(model.read(table("unknown.npz"))) == 100
    other = json.dumps(FACTS | {"name": "other", "fingerprint": "2"})
    with pytest.raises(DataError, match=r"b\.npz: features of other, but .*model was trained on"):
        model.read(table("b.npz", extractor=other))
    with pytest.raises(DataError, match="its entry extractor makes no sense"):
        model.read(table("c.npz", extractor="[3]"))


def test_pictures_for_a_model_that_does_not_name_its_network(table, fit, tmp_path, monkeypatch):
    monkeypatch.setenv("ZSHASH_CACHE", str(tmp_path / "cache"))
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    wide = np.random.RandomState(0).randn(100, 1280)
    model = fit(table(X=wide))
    with pytest.warns(UserWarning, match="does not say which network made the features"):
        model.read(str(tmp_path / "a.png"))
