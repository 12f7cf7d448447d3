from contextlib import nullcontext
from warnings import catch_warnings, filterwarnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

import zshash
from zshash import MTH, SDH, ZSH, methods
from zshash._progress import progress_bar
from zshash.datasets import DataError, Dataset, Pictures, digits, zero_shot_split
from zshash.evaluation.protocol import Protocol, Setup, run
from zshash.hashing.steps.statistics import open_statistics
from zshash.images import extractor
from zshash.learning.aliases import AliasError, MeaningWarning
from zshash.learning.categories import find_categories
from zshash.learning.targets import make_targets
from zshash.semantics import WordNet

NAMES = ("cat", "dog", "truck", "ship")


@pytest.fixture
def several():
    """Pictures of one or two categories; the third is never alone, some have none."""
    rng = np.random.RandomState(0)
    labels = rng.rand(60, 4) < 0.35
    labels[:, 0] |= labels[:, 2]
    labels[50:] = False
    return Dataset(rng.randn(60, 8).astype(np.float32), labels, NAMES)


def test_one_hot_targets_of_several_labels(several):
    split = zero_shot_split(several.labels, [1], random_state=0)
    targets = make_targets(SDH(), several, split.train, split.seen, ["onehot"])
    assert_array_equal(targets, several.labels[split.train][:, [0, 2, 3]])
    assert targets.any(axis=1).all()


def test_semantic_targets_of_several_labels(several):
    split = zero_shot_split(several.labels, [1], random_state=0)
    targets = make_targets(ZSH(), several, split.train, split.seen, ["wordnet"])
    seen = ["cat", "truck", "ship"]
    vectors = WordNet(basis=seen).embed(seen)
    assert_allclose(np.linalg.norm(targets, axis=1), 1, rtol=1e-6)
    for row, target in zip(split.train, targets, strict=True):
        own = [vectors[i] for i, name in enumerate(seen) if several.labels[row, NAMES.index(name)]]
        mean = np.sum(own, axis=0)
        assert_allclose(target, mean / np.linalg.norm(mean), atol=1e-6)


def test_a_category_that_only_hidden_ones_have_is_not_seen(several):
    split = zero_shot_split(several.labels, [0], random_state=0)
    assert_array_equal(split.seen, [1, 3])


def test_one_shared_label_is_enough(several):
    setup = Setup("SDH", SDH(n_bits=16, n_anchors=20), ("onehot",))
    protocol = Protocol(unseen=[1], n_queries=5, k=60)
    (record,) = run(several, [setup], protocol, [0])
    split = protocol.split(several, 0)
    hasher = SDH(n_bits=16, n_anchors=20, random_state=0)
    hasher.fit(several.X[split.train], several.labels[split.train][:, split.seen])
    bits = hasher.transform(several.X)
    scores = []
    for query in split.queries:
        order = sorted((int((bits[query] != bits[row]).sum()), row) for row in split.database)
        within = [row for distance, row in order if distance <= 2]
        shared = [(several.labels[query] & several.labels[row]).any() for row in within]
        scores.append(np.mean(shared) if shared else 0)
    assert record["precision"] == pytest.approx(np.mean(scores))


class TestNames:
    """Which category a user means."""

    def test_as_it_is_spelled(self):
        data = Dataset(np.eye(4), np.arange(4), ("Dog", "dog", "ice cream", "ice_cream"))
        assert find_categories(data, ["dog"]).tolist() == [1]
        assert find_categories(data, ["ice_cream", "Dog"]).tolist() == [0, 3]

    def test_what_may_be_several_is_refused(self):
        data = Dataset(np.eye(3), np.arange(3), ("Dog", "dog", "cat"))
        with pytest.raises(DataError, match="'DOG' may mean 'Dog' or 'dog': write one of them"):
            find_categories(data, ["DOG", "cat"])

    def test_id_synonym_and_name(self):
        names = ("goldfish, Carassius auratus", "tabby, tabby cat")
        data = Pictures((), names=names, synsets=("n01443537", "n02123045"), labels=np.arange(2))
        for name in ("goldfish", "carassius auratus", names[0], "n01443537"):
            assert find_categories(data, [name]).tolist() == [0]


def test_what_is_trained_on_is_what_can_be_read(tmp_path):
    data = digits()
    rows = np.flatnonzero(data.labels < 4)[:80]
    path = tmp_path / "digits.npz"
    names = np.array(data.names)
    np.savez(path, X=data.X[rows], y=data.labels[rows], names=names)
    notes = zshash.fit(path, method="SDH", n_bits=8, n_anchors=20, unseen="two").notes
    assert notes["seen"] == ["zero", "one", "three"]
    assert notes["unseen"] == ["two"]
    assert notes["n_train"] == int((data.labels[rows] != 2).sum())
    assert "extractor" not in notes


class TestFit:
    """One fit for everything that people have."""

    data = digits()
    small = {"method": "SDH", "n_bits": 16, "n_anchors": 50}  # noqa: RUF012

    def codes(self, *args, **options):
        return zshash.fit(*args, **self.small | options).encode(self.data.X)

    def test_the_same_data_in_every_form(self, tmp_path):
        data = self.data
        names = np.array(data.names)
        np.savez(tmp_path / "digits.npz", X=data.X, y=data.labels, names=names)
        words = names[data.labels]
        expected = SDH(n_bits=16, n_anchors=50, random_state=0).fit(data.X, data.labels)
        for source in (
            (tmp_path / "digits.npz",),
            (str(tmp_path / "digits.npz"),),
            (data,),
            (data.X, data.labels),
            (data.X.tolist(), data.labels.tolist()),
        ):
            assert_array_equal(self.codes(*source), expected.encode(data.X))
        alphabetical = SDH(n_bits=16, n_anchors=50, random_state=0).fit(data.X, words)
        assert_array_equal(self.codes(data.X, words), alphabetical.encode(data.X))
        estimator = SDH(n_bits=16, n_anchors=50, random_state=0)
        model = zshash.fit(data, method=estimator)
        assert_array_equal(model.encode(data.X), expected.encode(data.X))
        assert model.hasher is not estimator  # which stays as it was
        assert not hasattr(estimator, "projection_")

    def test_names_are_learned_from(self):
        model = zshash.fit(self.data, unseen="seven", method="ZSH", n_bits=16, n_anchors=50)
        assert (model.method, model.notes["labels"]) == ("ZSH", ["wordnet"])
        assert model.knows_names
        vectors = WordNet(basis=model.seen).embed(model.seen)
        rows = np.flatnonzero(self.data.labels != 7)
        places = [model.seen.index(self.data.names[label]) for label in self.data.labels[rows]]
        expected = ZSH(n_bits=16, n_anchors=50, random_state=0)
        expected.fit(self.data.X[rows], vectors[places])
        assert_array_equal(model.encode(self.data.X), expected.encode(self.data.X))

    def test_numbers_without_names_mean_nothing(self):
        model = zshash.fit(self.data.X, self.data.labels, method="ZSH", n_bits=16, n_anchors=50)
        assert model.notes["labels"] == ["onehot"]
        assert not model.knows_names

    def test_samples_that_nobody_labelled(self):
        labels = self.data.labels.copy()
        labels[::2] = -1
        with pytest.warns(UserWarning, match="899 of 1797 samples have no label and are not"):
            model = zshash.fit(self.data.X, labels, names=self.data.names, **self.small)
        assert model.notes["n_train"] == 898
        unlabelled = zshash.fit(self.data.X, labels, names=self.data.names, method="ITQ")
        assert unlabelled.notes["n_train"] == 1797

    def test_a_file_of_word_vectors(self, tmp_path):
        lines = [f"{name} {i} {i % 3} 1" for i, name in enumerate(self.data.names)]
        words = tmp_path / "words.txt"
        words.write_text("\n".join([f"{len(lines)} 3", *lines]))
        options = {"semantics": words, "unseen": "four", "method": "ZSH", "n_bits": 16} | {
            "n_anchors": 50
        }
        model = zshash.fit(self.data, **options)
        assert model.notes["labels"] == ["words.txt"]
        assert model.knows_names  # the file is where it was
        with zshash.Collection.create(tmp_path / "album", model) as album:
            album.add(self.data.X[:50])
            assert album.search(name="four", k=5)

    def test_an_album_of_a_model_searches_by_name_and_picture(self, tmp_path):
        pictures = Pictures(
            self.data.images.repeat(8, axis=1).repeat(8, axis=2), self.data.labels, self.data.names
        )
        model = zshash.fit(
            pictures, unseen="four", extractor="pixels:8", method="ZSH", n_anchors=100
        )
        model.save(tmp_path / "model.zshash")
        again = zshash.load(tmp_path / "model.zshash")
        assert again.checksum == model.checksum
        assert again.notes == model.notes
        found = []
        for number, own in enumerate((model, again, tmp_path / "model.zshash", model)):
            path = tmp_path / str(number)
            with zshash.Collection.create(path, own) as album:
                album.add(pictures.select(np.arange(200)))
                assert album.model.checksum == model.checksum
                assert album.search(pictures.sources[7], k=1)[0].id == 7
                found.append([match.id for match in album.search(name="three", k=10)])
        assert found[1:] == found[:-1]

    def test_a_file_of_an_earlier_version_stays_as_it_is(self, tmp_path):
        model = zshash.fit(self.data, method="LSH", n_bits=16)
        written, path = model.to_bytes(), tmp_path / "model.zshash"
        header = int.from_bytes(written[:8], "little")
        padded = written[8 : 8 + header] + b" " * 8  # not as this version writes it
        path.write_bytes((header + 8).to_bytes(8, "little") + padded + written[8 + header :])
        again = zshash.load(path)
        assert again.to_bytes() == path.read_bytes() != written
        again.save(tmp_path / "copy.zshash")
        assert (tmp_path / "copy.zshash").read_bytes() == path.read_bytes()
        with zshash.Collection.create(tmp_path / "album", again) as album:
            assert album.model.checksum == again.checksum

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"method": "zsh2"}, ValueError, "there is no method 'zsh2': choose ZSH, MTH"),
            ({"method": SDH(), "n_bits": 8}, TypeError, "an estimator with parameters of its own"),
            ({"n_bits": 3}, ValueError, "n_bits must be a whole number of at least 8"),
            ({"wings": 2}, TypeError, "wings"),
            ({"semantics": ["onehot", "wordnet"]}, DataError, "can not be combined"),
            ({"method": "ITQ", "semantics": "wordnet"}, DataError, "takes no source"),
            ({"unseen": "fuor"}, DataError, r"did you mean 'four'\?"),
        ],
    )
    def test_mistakes(self, options, error, message):
        with pytest.raises(error, match=message):
            zshash.fit(self.data, **options)

    def test_mistakes_are_found_before_pictures_are_read(self, tmp_path):
        missing = [tmp_path / "a.jpg", tmp_path / "b.jpg"]
        with pytest.raises(DataError, match="no labels to learn from"):
            zshash.fit(missing, method="ZSH")
        with pytest.raises(ValueError, match="n_anchors must be"):
            zshash.fit(missing, ["cat", "dog"], method="ZSH", n_anchors=0)


class TestWithoutLabels:
    """Labels are welcome, and not needed."""

    data = digits()
    quick = {"n_bits": 16, "n_steps": 10, "n_units": 32}  # noqa: RUF012

    def test_no_label_at_all(self):
        model = zshash.fit(self.data.X, **self.quick)
        assert (model.method, model.seen, model.notes["labels"]) == ("MTH", (), [])
        assert (model.notes["n_unlabelled"], model.notes["averaging"]) == (1797, 1.0)
        assert not model.knows_names
        assert_array_equal(
            model.encode(self.data.X), zshash.fit(self.data.X, **self.quick).encode(self.data.X)
        )

    def test_some_labels(self):
        labels = np.where(self.data.labels < 9, self.data.labels, -1)
        model = zshash.fit(self.data.X, labels, names=self.data.names, **self.quick)
        assert model.seen == self.data.names[:9]
        assert model.notes["n_unlabelled"] == (labels < 0).sum()
        assert 0 < model.notes["averaging"] < 1
        assert model.knows_names
        vectors = WordNet(basis=model.seen).embed(model.seen)
        targets = np.zeros((1797, vectors.shape[1]), np.float32)
        targets[labels >= 0] = vectors[labels[labels >= 0]]
        expected = MTH(random_state=0, **self.quick).fit(self.data.X, targets)
        assert_array_equal(model.encode(self.data.X), expected.encode(self.data.X))

    def test_progress_is_shown_to_those_who_want_it(self, monkeypatch):
        bars = []
        monkeypatch.setattr(
            "zshash.hashing.steps.distillation.progress_bar",
            lambda total, wanted, **_: bars.append((total, wanted)) or progress_bar(total, False),
        )
        for progress in (True, False):
            zshash.fit(self.data.X[:50], progress=progress, **self.quick)
        MTH(random_state=0, **self.quick).fit(self.data.X[:50])
        assert bars == [(10, True), (10, False), (10, False)]

    def test_progress_is_shown_while_pictures_are_read(self, monkeypatch, tmp_path):
        bars = []
        monkeypatch.setattr(
            "zshash.images.reading.progress_bar",
            lambda total, wanted, **_: bars.append((total, wanted)) or progress_bar(total, False),
        )
        monkeypatch.setenv("ZSHASH_CACHE", str(tmp_path))
        pixels = (self.data.X[:60].reshape(-1, 8, 8) * 16).clip(0, 255).astype(np.uint8)
        for progress, part in ((True, pixels[:30]), (False, pixels[30:])):
            zshash.fit(part, extractor="pixels:8", progress=progress, **self.quick)
        assert bars == [(30, True), (30, False)]

    def test_pictures_in_no_folder_of_their_own(self, tmp_path):
        for number in range(30):
            pixels = (self.data.X[number].reshape(8, 8) * 16).astype(np.uint8)
            Image.fromarray(pixels).resize((32, 32)).save(tmp_path / f"{number}.png")
        model = zshash.fit(sorted(tmp_path.glob("*.png")), extractor="pixels:8", **self.quick)
        assert (model.notes["n_train"], model.notes["prior"]) == (30, None)


class TestPriors:
    """Statistics of the network that made the features."""

    facts = {"name": "efficientnet-lite0", "options": {}}  # noqa: RUF012
    quick = {"n_bits": 16, "n_steps": 5, "n_units": 32}  # noqa: RUF012

    def features(self, fingerprint):
        X = np.random.RandomState(0).rand(40, 1280).astype(np.float32)
        return Dataset(X, extractor=self.facts | {"fingerprint": fingerprint})

    @property
    def own(self):
        return open_statistics("efficientnet-lite0").network["fingerprint"]

    def test_the_default_network_has_one(self):
        assert extractor("efficientnet-lite0").fingerprint == self.own
        model = zshash.fit(self.features(self.own), **self.quick)
        assert (model.notes["prior"], model.hasher.prior) == ("efficientnet-lite0",) * 2
        without = zshash.fit(self.features(self.own), prior=None, **self.quick)
        assert without.notes["prior"] is None
        raw = zshash.fit(self.features(self.own), normalize=False, **self.quick)
        assert raw.notes["prior"] is None
        estimator = MTH(random_state=0, **self.quick)
        assert zshash.fit(self.features(self.own), method=estimator).hasher.prior is None

    def test_another_network_has_none(self):
        lite2 = extractor("efficientnet-lite2")
        network = {"name": lite2.name, "options": {}, "fingerprint": lite2.fingerprint}
        X = np.random.RandomState(0).rand(40, 1280).astype(np.float32)
        assert zshash.fit(Dataset(X, extractor=network), **self.quick).notes["prior"] is None
        with pytest.raises(DataError, match="statistics of efficientnet-lite0, and the features"):
            zshash.fit(Dataset(X, extractor=network), prior="efficientnet-lite0", **self.quick)

    def test_other_weights_have_none(self):
        assert zshash.fit(self.features("other"), **self.quick).notes["prior"] is None

    def test_statistics_of_another_network_are_refused(self):
        with pytest.raises(DataError, match="statistics of efficientnet-lite0, and the features"):
            zshash.fit(self.features("other"), prior="efficientnet-lite0", **self.quick)
        X = self.features("other").X  # of an unknown network
        assert zshash.fit(X, prior="efficientnet-lite0", **self.quick).notes["prior"]


class TestUnknownNames:
    """No name of a category stops a fit."""

    quick = {"method": "ZSH", "n_bits": 16, "n_anchors": 40}  # noqa: RUF012

    @staticmethod
    def some(names):
        """Digits 0, 1, … under other names."""
        data = digits()
        rows = np.flatnonzero(data.labels < len(names))[:300]
        return data.X[rows], data.labels[rows], names

    def fit(self, names, **options):
        X, labels, names = self.some(names)
        return zshash.fit(X, labels, names=names, **self.quick | options)

    def test_they_get_vectors_of_their_own(self):
        names = ["Bella", "東京", "dog", "crane"]
        with pytest.warns(MeaningWarning) as caught:
            model = self.fit(names)
        assert [str(one.message) for one in caught] == [
            "crane was taken as Crane (writer); nobody knows Bella and 東京: each gets a vector of "
            "its own, so other names do not find it"
        ]
        assert model.notes["seen"] == names
        assert model.notes["meanings"] == ["", "", "n02084071", "n10914447"]
        assert "aliases" not in model.notes
        assert "synsets" not in model.notes
        width = WordNet(["dog", "n10914447"]).dimension
        assert model.hasher.mapping_.shape[1] == width + 2

    def test_the_warning_points_at_the_caller(self):
        X, labels, names = self.some(["Bella", "dog"])
        with pytest.warns(MeaningWarning) as caught:
            zshash.fit(X, labels, names=names, **self.quick)
        assert caught[0].filename == __file__

    def test_plain_names_are_not_talked_about(self):
        assert self.fit(["cat", "dog"]).notes["meanings"] == ["n02121620", "n02084071"]

    @pytest.mark.parametrize("names", [["Bella", "東京", "qqqq"], ["Bella"]])
    @pytest.mark.parametrize("method", ["MTH", "ZSH", "SDH", "ITQ", "KSH"])
    def test_nothing_but_unknown_names(self, names, method):
        X, labels, _ = self.some(names)
        options = {"effort": "fast"} if method == "MTH" else {}
        expected = methods()[method].estimator(n_bits=8, random_state=0, **options)
        warns = pytest.warns(MeaningWarning) if method in ("MTH", "ZSH") else nullcontext()
        with warns, catch_warnings():
            filterwarnings("ignore", message=".*(one category|fewer|only|larger than).*")
            model = zshash.fit(X, labels, names=names, method=expected)
        assert model.encode(X).shape == (len(X), 1)
        assert model.notes["meanings"] == [""] * len(names)

    def test_aliases(self):
        aliases = {"Rex": "dog", "tom": "cat.n.01", "crane": "crane (bird)"}
        model = self.fit(["Rex", "Tom", "crane"], aliases=aliases)
        assert model.notes["seen"] == ["Rex", "Tom", "crane"]
        assert model.notes["aliases"] == aliases
        assert model.notes["meanings"] == ["n02084071", "n02121620", "n02012849"]
        X = digits().X
        same = self.fit(["dog", "cat", "crane (bird)"])
        assert_array_equal(model.encode(X), same.encode(X))

    def test_aliases_that_can_not_be_used(self, tmp_path):
        with pytest.raises(AliasError, match="WordNet does not know 'dgo', the alias of 'Rex'"):
            self.fit(["Rex", "cat"], aliases={"Rex": "dgo"})
        with pytest.warns(MeaningWarning, match="no label is called Tom"):
            self.fit(["dog", "cat"], aliases={"Tom": "cat"})
        (tmp_path / "cat").mkdir()
        (tmp_path / "cat" / "broken.jpg").touch()  # is not read before the alias
        with pytest.raises(AliasError, match="alias of 'cat'"):
            zshash.fit(tmp_path, aliases={"cat": "qqqq"})

    def test_aliases_in_a_file_of_word_vectors(self, tmp_path):
        (tmp_path / "words.txt").write_text("Hund 1 0\nKatze 0 1\n")
        options = {"semantics": str(tmp_path / "words.txt")}
        with pytest.warns(MeaningWarning, match="^nobody knows Tom: it gets"):
            model = self.fit(["Rex", "Katze", "Tom"], aliases={"Rex": "Hund"}, **options)
        assert model.hasher.mapping_.shape[1] == 3
        with pytest.raises(AliasError, match="no source knows 'dog', the alias of 'Rex'"):
            self.fit(["Rex", "Katze"], aliases={"Rex": "dog"}, **options)

    def test_hidden_names_are_not_talked_about(self):
        model = self.fit(["Bella", "dog", "cat"], unseen="Bella")
        assert model.notes["meanings"] == ["n02084071", "n02121620"]

    def test_samples_without_labels(self):
        X, labels, names = self.some(["Bella", "dog"])
        labels[::2] = -1
        with pytest.warns(MeaningWarning, match="nobody knows Bella"):
            model = zshash.fit(X, labels, names=names, n_bits=16, effort="fast")
        assert model.notes["n_unlabelled"] == (labels < 0).sum()


class TestNumbers:
    """Numbers of categories without names are never WordNet's nouns for numbers."""

    data = digits()
    quick = {"method": "ZSH", "n_bits": 16, "n_anchors": 40}  # noqa: RUF012

    def check(self, *args, **options):
        model = zshash.fit(*args, **self.quick | options)
        assert model.notes["labels"] == ["onehot"]
        assert set(model.notes["meanings"]) == {""}
        assert not model.knows_names
        return model

    def test_arrays_and_lists(self):
        X, y = self.data.X[:200], self.data.labels[:200]
        codes = self.check(X, y).encode(X)
        assert_array_equal(self.check(X, y.tolist()).encode(X), codes)
        assert_array_equal(self.check(X, list(map(str, y))).encode(X), codes)
        model = zshash.fit(X, [None, *y.tolist()[1:]], n_bits=16, effort="fast")
        assert model.notes["labels"] == ["onehot"]

    @pytest.mark.parametrize("suffix", [".npz", ".parquet"])
    def test_tables(self, tmp_path, suffix):
        X, y = self.data.X[:200], self.data.labels[:200]
        path = tmp_path / f"digits{suffix}"
        if suffix == ".npz":
            np.savez(path, X=X, y=y)
        else:
            pq.write_table(pa.table({"X": list(X), "y": y}), path)
        assert_array_equal(self.check(path).encode(X), self.check(X, y).encode(X))

    def test_shards(self, tmp_path):
        for number in range(3):
            rows = slice(100 * number, 100 * (number + 1))
            np.save(tmp_path / f"{number}.npy", self.data.X[rows])
            np.save(tmp_path / f"{number}.labels.npy", self.data.labels[rows])
        assert self.check(tmp_path).notes["seen"] == list(map(str, range(10)))

    def test_pictures(self, tmp_path):
        lines = ["path,label"]
        for number, digit in enumerate(self.data.labels[:100]):
            home = tmp_path / "pictures" / str(digit)
            home.mkdir(parents=True, exist_ok=True)
            pixels = (self.data.X[number].reshape(8, 8) * 16).clip(0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(home / f"{number}.png")
            lines.append(f"pictures/{digit}/{number}.png,{digit}")
        (tmp_path / "list.csv").write_text("\n".join(lines))
        for source in ("pictures", "list.csv"):
            model = self.check(tmp_path / source, extractor="pixels:8")
            assert model.notes["seen"] == list(map(str, range(10)))

    def test_words_for_digits_stay_words(self):
        model = zshash.fit(self.data, **self.quick)
        assert model.notes["labels"] == ["wordnet"]
        assert all(model.notes["meanings"])

    def test_an_alias_gives_numbers_a_meaning(self):
        X, y = self.data.X[:200], self.data.labels[:200] % 2
        model = zshash.fit(X, y, aliases={"0": "cat", "1": "dog"}, **self.quick)
        assert model.notes["labels"] == ["wordnet"]
        assert model.notes["meanings"] == ["n02121620", "n02084071"]


def test_folders_of_dates_are_learned_without_labels(tmp_path):
    data = digits()
    for number, name in enumerate(("2021", "Rex", "n02123045", "DCIM")):
        for row in np.flatnonzero(data.labels == number)[:8]:
            pixels = (data.X[row].reshape(8, 8) * 16).clip(0, 255).astype(np.uint8)
            (tmp_path / name).mkdir(exist_ok=True)
            Image.fromarray(pixels).save(tmp_path / name / f"{row}.png")
    options = {"extractor": "pixels:8", "n_bits": 16, "effort": "fast", "aliases": {"Rex": "dog"}}
    with pytest.warns(UserWarning, match="2021 and DCIM are no labels"):
        notes = zshash.fit(tmp_path, **options).notes
    assert notes["seen"] == ["Rex", "tabby"]
    assert notes["meanings"] == ["n02084071", "n02123045"]
    assert (notes["n_train"], notes["n_unlabelled"]) == (32, 16)
    reader = zshash.images.PictureReader("pixels:8", labels="folders")
    with pytest.warns(MeaningWarning, match="nobody knows 2021 and DCIM"):
        model = zshash.fit(
            tmp_path, reader=reader, n_bits=16, effort="fast", aliases={"Rex": "dog"}
        )
    assert model.notes["seen"] == ["2021", "DCIM", "Rex", "tabby"]


def test_unseen_categories_may_be_numbers():
    X, y = np.random.RandomState(0).randn(40, 12), np.repeat([5, 7], 20)
    model = zshash.fit(X, y, method="LSH", n_bits=8, unseen=[7])
    assert (model.notes["unseen"], model.seen) == (["7"], ("5",))
