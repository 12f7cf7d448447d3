"""Models and codes of features in shards are those of the same features in one table."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import zshash
from zshash import ITQ, KSH, LSH, SDH, SSH, ZSH
from zshash.datasets import DataError, Dataset, digits
from zshash.images import PictureReader
from zshash.learning.categories import categories
from zshash.learning.files import encode_data, load_codes
from zshash.learning.sharding import are_shards, open_sharded
from zshash.learning.targets import make_targets, shared_targets
from zshash.scale import ShardError

DATA = digits()
NAMES = np.array(DATA.names)
PARTS = np.array_split(np.arange(900), 4)


def several_labels():
    """Of 900 digits: their own name, and "one" with every "three"."""
    labels = np.eye(10, dtype=bool)[DATA.labels[:900]]
    labels[:, 1] |= labels[:, 3]
    return labels


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The same digits as shards of each kind, and as one table."""
    home = tmp_path_factory.mktemp("shards")
    several = several_labels()
    for kind in ("npy", "npz", "several"):
        (home / kind).mkdir()
    for number, rows in enumerate(PARTS):
        X, y = DATA.X[rows], DATA.labels[rows]
        np.save(home / "npy" / f"{number}.npy", X)
        np.save(home / "npy" / f"{number}.labels.npy", NAMES[y])
        np.savez(home / "npz" / f"{number}.npz", X=X, y=y, names=NAMES)
        np.savez(home / "several" / f"{number}.npz", X=X, y=several[rows], names=NAMES)
    np.savez(home / "table.npz", X=DATA.X[:900], y=DATA.labels[:900], names=NAMES)
    np.savez(home / "table_several.npz", X=DATA.X[:900], y=several, names=NAMES)
    return home


def both(hasher, home, tmp_path, shards="npz", table="table.npz", **options):
    """A model of the shards and one of the table, which have been in files, and their notes."""
    models = []
    for number, source in enumerate((shards, table)):
        zshash.fit(home / source, method=hasher, **options).save(tmp_path / str(number))
        models.append(zshash.load(tmp_path / str(number)))
    return *(model.hasher for model in models), *(model.notes for model in models)


METHODS = [
    ZSH(n_bits=16, n_anchors=60, graph="anchor", random_state=0),
    SDH(n_bits=16, n_anchors=60, random_state=0),
    ITQ(n_bits=16, random_state=0),
    LSH(n_bits=16, random_state=0),
    SSH(n_bits=16, n_labeled=200, random_state=0),
]


@pytest.mark.parametrize("hasher", METHODS, ids=lambda hasher: type(hasher).__name__)
@pytest.mark.parametrize("options", [{}, {"unseen": ("four",), "n_train": 500, "random_state": 3}])
def test_the_model_is_that_of_one_table(hasher, options, home, tmp_path):
    ours, theirs, notes, expected = both(hasher, home, tmp_path, **options)
    assert_array_equal(ours.encode(DATA.X), theirs.encode(DATA.X))
    for key in expected.keys() - {"features", "fit_seconds"}:
        assert notes[key] == expected[key]
    assert (notes["features"], notes["shards"]) == ("npz", 4)
    assert notes.get("graph") == getattr(hasher, "graph", None)


@pytest.mark.parametrize("labels", [("onehot",), ("wordnet",)])
def test_samples_of_several_categories(labels, home, tmp_path):
    hasher = SDH(n_bits=16, n_anchors=60, random_state=0)
    tables = {"shards": "several", "table": "table_several.npz"}
    ours, theirs, notes, _ = both(
        hasher, home, tmp_path, **tables, semantics=labels, unseen=("two",)
    )
    assert notes["seen"] == [name for name in DATA.names if name != "two"]
    assert np.mean(ours.transform(DATA.X) != theirs.transform(DATA.X)) < 0.01


@pytest.mark.parametrize("labels", [["onehot"], ["wordnet"]])
def test_each_vector_once(labels, home):
    data = open_sharded(str(home / "several"))
    table = Dataset(DATA.X[:900], several_labels(), DATA.names)
    seen = categories(data)
    places, vectors = shared_targets(SDH(), data, seen, labels)
    assert len(vectors) == 10  # three is never without one
    expected = make_targets(SDH(), table, slice(None), seen, labels)
    assert_allclose(vectors[places], expected, atol=1e-6)


def test_words_beside_numpy_files(home, tmp_path):
    hasher = ZSH(n_bits=16, n_anchors=60, graph="anchor", random_state=0)
    ours, theirs, notes, _ = both(hasher, home, tmp_path, shards="npy", unseen=("four",))
    assert sorted(notes["seen"]) == sorted(set(DATA.names) - {"four"})
    assert np.mean(ours.transform(DATA.X) != theirs.transform(DATA.X)) < 0.01


def test_a_shard_of_hidden_categories_only_is_left_out(tmp_path):
    for number, name in enumerate(("one", "two", "three")):
        rows = np.flatnonzero(DATA.labels == DATA.names.index(name))[:40]
        np.save(tmp_path / f"{number}.npy", DATA.X[rows])
        np.save(tmp_path / f"{number}.labels.npy", np.full(40, name))
    data = open_sharded(str(tmp_path))
    chosen = data.select(np.flatnonzero(data.labels != data.names.index("two")))
    assert [shard.source.name for shard in chosen.shards] == ["0.npy", "2.npy"]
    assert (len(data), len(chosen)) == (120, 80)


def test_codes_with_labels_and_paths(tmp_path):
    folder = tmp_path / "shards"
    folder.mkdir()
    for number, rows in enumerate(PARTS):
        known = {"y": NAMES[DATA.labels[rows]], "paths": [f"{row}.png" for row in rows]}
        np.savez(folder / f"{number}.npz", X=DATA.X[rows], **known)
    model = tmp_path / "model"
    zshash.fit(folder, method="ITQ", n_bits=16).save(model)
    own, reader = zshash.load(model), PictureReader()
    facts = encode_data(own, str(folder), tmp_path / "codes.npz", reader=reader)
    assert (facts["n"], facts["bytes"], facts["shards"]) == (900, 1800, 4)
    codes = load_codes(tmp_path / "codes.npz", own)
    assert_array_equal(codes.packed, own.encode(DATA.X[:900]))
    assert codes.describe(700) == {
        "row": 700,
        "path": "700.png",
        "labels": [DATA.names[DATA.labels[700]]],
    }
    encode_data(own, str(folder), tmp_path / "codes.npy", reader=reader)
    assert_array_equal(np.load(tmp_path / "codes.npy"), codes.packed)


class TestExtractors:
    """Which network made the features, where shards say so."""

    @staticmethod
    def shards(folder, *fingerprints):
        for number, fingerprint in enumerate(fingerprints):
            facts = f'{{"name": "net", "options": {{}}, "fingerprint": "{fingerprint}"}}'
            rows = PARTS[number]
            known = {"y": NAMES[DATA.labels[rows]], "extractor": facts}
            np.savez(folder / f"{number}.npz", X=DATA.X[rows], **known)
        return str(folder)

    def test_it_is_noted(self, tmp_path):
        source = self.shards(tmp_path, "f", "f")
        assert zshash.fit(source, method="LSH").notes["extractor"]["fingerprint"] == "f"

    def test_two_are_refused(self, tmp_path):
        with pytest.raises(
            DataError, match="features of different networks, or of different weights"
        ):
            open_sharded(self.shards(tmp_path, "f", "g"))

    def test_features_of_another_one_are_not_encoded(self, tmp_path):
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
        model = zshash.fit(self.shards(tmp_path / "one", "f"), method="LSH", n_bits=16)
        other, output = self.shards(tmp_path / "two", "g"), tmp_path / "codes.npy"
        with pytest.raises(DataError, match=r"features of net, but .* or of other weights"):
            encode_data(model, other, output, reader=PictureReader())
        assert not output.exists()

    def test_none_is_wanted(self, home):
        with pytest.raises(DataError, match="features need no extractor: leave out pixels:8"):
            zshash.fit(home / "npz", method="LSH", extractor="pixels:8")


class TestRefused:
    """What can not be learned from shards."""

    @pytest.mark.parametrize(
        ("hasher", "message"),
        [
            (KSH(), "KSH needs all rows in memory: fit it to a sample of them, or use one of ZSH"),
            (ZSH(), 'graph="knn" compares all samples with each other: set graph="anchor"'),
            (SDH(loss="hinge"), 'loss="hinge" needs all codes in memory'),
        ],
    )
    def test_before_a_shard_is_read(self, hasher, message, tmp_path):
        (tmp_path / "a.npy").write_bytes(b"no array")
        with pytest.raises(ValueError, match=message):
            zshash.fit(tmp_path, method=hasher)

    def fails(self, error, message, source, **options):
        with pytest.raises(error, match=message):
            zshash.fit(source, method="SDH", n_bits=16, n_anchors=20, **options)

    def test_no_labels(self, tmp_path):
        np.save(tmp_path / "a.npy", DATA.X)
        message = r"no labels to learn from: .* labels of tables into .* or into NAME\.labels\.npy"
        self.fails(DataError, message, tmp_path)

    def test_labels_of_some(self, tmp_path):
        np.save(tmp_path / "a.npy", DATA.X[:100])
        np.savez(tmp_path / "b.npz", X=DATA.X, y=DATA.labels)
        message = r"a\.npy: it has no labels, and other shards have some"
        self.fails(DataError, message, tmp_path)

    def test_names(self, home):
        message = r"no category 'fuor' \(did you mean 'four'"
        self.fails(DataError, message, home / "npz", unseen=("fuor",))
        everything = {"unseen": DATA.names}
        self.fails(DataError, "every category is unseen", home / "npz", **everything)

    def test_a_bad_row(self, tmp_path):
        X = DATA.X.copy()
        X[17, 3] = np.nan
        np.savez(tmp_path / "a.npz", X=DATA.X, y=DATA.labels)
        np.save(tmp_path / "b.npy", X)
        np.save(tmp_path / "b.labels.npy", DATA.labels)
        message = r"b\.npy: .*NaN or infinity .* row 17"
        self.fails(ShardError, message, tmp_path)


class TestWhatShardsAre:
    """A folder of pictures stays what it is."""

    def test_tables_in_a_folder(self, home):
        assert are_shards(str(home / "npy"), PictureReader())
        assert not are_shards(str(home / "table.npz"), PictureReader())
        assert are_shards(str(home / "table.npz"), PictureReader(), on_cluster=True)

    def test_pictures_win(self, tmp_path):
        (tmp_path / "cat").mkdir()
        (tmp_path / "cat" / "1.png").touch()
        np.save(tmp_path / "features.npy", DATA.X)
        with pytest.warns(UserWarning, match="the pictures are read"):
            assert not are_shards(str(tmp_path), PictureReader())

    def test_known_data_sets_win(self, tmp_path):
        (tmp_path / "t10k-images-idx3-ubyte").touch()
        (tmp_path / "train-images-idx3-ubyte").touch()
        np.save(tmp_path / "features.npy", DATA.X)
        with pytest.warns(UserWarning, match="the pictures are read"):
            assert not are_shards(str(tmp_path), PictureReader())

    @pytest.mark.parametrize("name", ["cat.png", "nothing", "list.csv"])
    def test_a_cluster_wants_tables(self, name, tmp_path):
        if name != "nothing":
            (tmp_path / name).touch()
        with pytest.raises(DataError, match="a Dask cluster works on tables of features"):
            are_shards(str(tmp_path / name), PictureReader(), on_cluster=True)
