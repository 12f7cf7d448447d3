import json

import numpy as np
import pytest

from zshash import CCAITQ, ITQ, KSH, LSH, MTH, SDH, ZSH, metrics
from zshash.codes import unpack
from zshash.datasets import DataError, Dataset, digits
from zshash.evaluation import Protocol, Setup, run, summarize
from zshash.evaluation.protocol import fit_setup, score, with_deviation
from zshash.evaluation.scoring import of_model
from zshash.images import PictureReader
from zshash.learning.categories import find_categories
from zshash.learning.model import Model
from zshash.learning.targets import label_vectors, make_targets


@pytest.fixture(scope="module")
def records():
    setups = [
        Setup("words", ZSH(16, n_anchors=100, normalize=True), ("wordnet",)),
        Setup("random", LSH(16)),
    ]
    protocol = Protocol(unseen=2, n_train=600, n_queries=50, k=100, radius=1)
    return list(run(digits(), setups, protocol, [3, 4]))


def test_records_say_everything_and_fit_in_json(records):
    assert [(r["name"], r["seed"]) for r in records] == [
        ("words", 3),
        ("random", 3),
        ("words", 4),
        ("random", 4),
    ]
    first = json.loads(json.dumps(records[0]))
    assert first["method"] == "ZSH"
    assert first["labels"] == ["wordnet"]
    assert first["parameters"]["random_state"] == 3
    assert first["protocol"]["n_train"] == 600
    assert len(first["unseen"]) == 2
    assert first["n_queries"] == 50
    assert first["n_database"] == 1747
    assert first["radius"] == 1
    assert {"python", "numpy", "zshash"} <= first["versions"].keys()
    assert records[0]["unseen"] == records[1]["unseen"] != records[2]["unseen"]


def test_scores_beat_chance_and_repeat(records):
    assert all(record["map"] > 0.15 for record in records)
    setups = [Setup("random", LSH(16))]
    protocol = Protocol(unseen=2, n_train=600, n_queries=50, k=100, radius=1)
    (again,) = run(digits(), setups, protocol, [4])
    assert again["map"] == records[3]["map"]
    assert again["precision"] == records[3]["precision"]
    assert again["map_real"] == records[3]["map_real"]


def test_scores_are_those_of_codes_and_projections():
    data, protocol = digits(), Protocol(unseen=2, n_train=600, n_queries=50, k=100, radius=1)
    split = protocol.split(data, 3)
    hasher, _ = fit_setup(data, Setup("random", LSH(24)), split, 3)
    found = score(data, hasher, split, protocol)
    queries, database = data.X[split.queries], hasher.encode(data.X[split.database])
    same = data.labels[split.queries][:, None] == data.labels[split.database]
    expected = metrics.evaluate(hasher.encode(queries), database, same, k=100, radius=1)
    sums = hasher.project(queries).astype(float) @ (2.0 * unpack(database, 24) - 1).T
    by_value = metrics.mean_average_precision(*metrics.real_histograms(sums.round(9), same), 100)
    scores = {key: value for key, value in found.items() if not key.endswith("_alone")}
    assert scores == expected | {"map_real": pytest.approx(by_value, abs=1e-9)}
    assert found["map_real"] > found["map"]


def test_other_kinds_of_queries():
    protocol = Protocol(unseen=2, n_train=600, n_queries=50, k=100, n_seen_queries=40)
    data = digits()
    split = protocol.split(data, 3)
    hasher, _ = fit_setup(data, Setup("random", LSH(24)), split, 3)
    found = score(data, hasher, split, protocol)
    assert found["n_seen_queries"] == 40
    is_hidden = np.isin(data.labels[split.database], split.unseen)
    alone, everything = split.database[is_hidden], split.database
    for suffix, queries, database in (
        ("_alone", split.queries, alone),
        ("_seen", split.seen_queries, everything),
    ):
        by_bits, by_value = [], []
        for query in queries:  # one after the other, each without itself
            others = database[database != query]
            same = (data.labels[others] == data.labels[query])[None]
            codes = hasher.encode(data.X[others])
            own = hasher.project(data.X[[query]])
            by_bits.append(metrics.evaluate(hasher.quantize(own), codes, same, k=100)["map"])
            by_value.append(metrics.evaluate_real(own, codes, same, k=100)["map_real"])
        assert found[f"map{suffix}"] == pytest.approx(np.mean(by_bits))
        assert found[f"map_real{suffix}"] == pytest.approx(np.mean(by_value))


class Wavering(LSH):
    """Gives some samples other bits where fewer are hashed at a time, as rounding can."""

    def encode(self, X):
        codes = super().encode(X)
        return codes ^ (np.uint8(3) if len(X) < 500 else np.uint8(0))


def test_a_query_in_the_database_has_the_code_that_it_has_there():
    data = digits()
    protocol = Protocol(unseen=[4], n_train=500, n_queries=30, k=100, n_seen_queries=40)
    split = protocol.split(data, 0)
    train = data.X[split.train]
    wavering, steady = (make(16, random_state=0).fit(train) for make in (Wavering, LSH))
    found, wanted = (score(data, hasher, split, protocol) for hasher in (wavering, steady))
    assert found["map_seen"] == wanted["map_seen"]
    assert found["map"] != wanted["map"]


def test_one_hidden_category_is_not_searched_alone():
    protocol = Protocol(unseen=[3], n_train=200, n_queries=20, k=50)
    (record,) = run(digits(), [Setup("random", LSH(16))], protocol, [0])
    assert not [key for key in record if key.endswith(("_alone", "_seen"))]


def test_methods_that_can_learn_from_samples_without_a_label():
    data = digits()
    given = {"unseen": 2, "n_train": 200, "n_queries": 50, "n_seen_queries": 40}
    split = Protocol(**given).split(data, 0)
    pool = np.setdiff1d(split.database, split.seen_queries)
    labels = np.where(np.isin(pool, split.train), data.labels[pool], -1)
    by_hand = MTH(16, effort="fast", n_steps=5, random_state=0).fit(data.X[pool], labels)
    setups = [
        Setup("MTH", MTH(16, effort="fast", n_steps=5), ("onehot",)),
        Setup("ITQ", ITQ(16)),
        Setup("SDH", SDH(16, n_anchors=50), ("onehot",)),
    ]
    fitted = [fit_setup(data, setup, split, 0, unlabelled=True)[0] for setup in setups]
    expected = [by_hand, ITQ(16, random_state=0).fit(data.X[pool])]
    alone = SDH(16, n_anchors=50, random_state=0)  # it can not
    expected.append(alone.fit(data.X[split.train], data.labels[split.train]))
    for own, other in zip(fitted, expected, strict=True):
        np.testing.assert_array_equal(own.encode(data.X), other.encode(data.X))
    records = [
        next(run(data, setups[:1], Protocol(**given, unlabelled=own), [0])) for own in (True, False)
    ]
    assert records[0]["protocol"]["unlabelled"]
    assert "unlabelled" not in records[1]["protocol"]
    assert records[0]["map"] > records[1]["map"]


def test_meanings_of_names_for_the_samples_that_have_a_label():
    data = digits()
    split = Protocol(unseen=2, n_train=200, n_queries=50).split(data, 0)
    hasher, _ = fit_setup(
        data, Setup("MTH", MTH(16, effort="fast", n_steps=5)), split, 0, unlabelled=True
    )
    assert hasher.mapping_.shape[1] > 2
    assert 0 < hasher.averaging_ <= 1


def test_summary(records):
    words, random = summarize(records)
    assert words["name"] == "words"
    assert words["n_seeds"] == 2
    assert words["map"] == pytest.approx((records[0]["map"] + records[2]["map"]) / 2)
    difference = abs(records[1]["map"] - records[3]["map"])
    assert random["map_deviation"] == pytest.approx(difference / np.sqrt(2))
    by_value = (records[0]["map_real"] + records[2]["map_real"]) / 2
    assert words["map_real"] == pytest.approx(by_value)
    assert summarize(records[:1])[0]["map_deviation"] is None
    assert with_deviation({"map": 0.5, "map_deviation": None}, "map") == "0.500"
    assert with_deviation({"map": None, "map_deviation": None}, "map") == "–"
    assert with_deviation({}, "map_real") == "–"
    assert with_deviation({"map": 0.5, "map_deviation": 0.02}, "map") == "0.500 ± 0.020"


def test_a_method_without_labels_records_none(records):
    assert records[1]["labels"] == []


@pytest.fixture
def animals():
    return Dataset(
        X=np.zeros((3, 2), np.float32),
        labels=np.array([0, 1, 2]),
        names=("goldfish, Carassius auratus", "bullfrog", "monarch"),
        synsets=("n01443537", "n01641577", "n02279972"),
    )


def test_categories_by_name_synonym_or_id(animals):
    names = ["Carassius_auratus", "n01641577", "MONARCH", "goldfish"]
    assert find_categories(animals, names).tolist() == [0, 1, 2]
    assert find_categories(animals, []).tolist() == []
    with pytest.raises(DataError, match=r"'bullfrg' \(did you mean 'bullfrog'\?\); .*'segway'"):
        find_categories(animals, ["bullfrg", "goldfish", "segway"])
    with pytest.raises(DataError, match="has no labels"):
        find_categories(Dataset(animals.X), ["cat"])


def test_a_name_comes_before_a_synonym():
    X = np.zeros((3, 2), np.float32)
    data = Dataset(X, np.arange(3), ("tiger, cat", "cat", "dog, hound"))
    assert find_categories(data, ["cat"]).tolist() == [1]
    assert find_categories(data, ["tiger", "hound"]).tolist() == [0, 2]
    shared = Dataset(X, np.arange(3), ("tiger, big cat", "lion, big cat", "eel"))
    with pytest.raises(DataError, match="no category 'big cat'"):
        find_categories(shared, ["big cat"])
    with pytest.raises(DataError, match="no category ''"):
        find_categories(shared, ["", ","])


def test_synsets_decide_what_a_name_means(animals):
    vectors = label_vectors(animals, np.array([1, 2]), ["wordnet"])
    unnamed = Dataset(animals.X, animals.labels, animals.names)
    by_name = label_vectors(unnamed, np.array([1, 2]), ["wordnet"])
    # both are animals; the monarch that the name alone means first is a ruler
    assert vectors[0] @ vectors[1] > by_name[0] @ by_name[1]


def test_several_sources_stand_side_by_side(animals, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("goldfish 1 0\nbullfrog 0 1\nmonarch 3 4\n")
    both = label_vectors(animals, np.arange(3), ["wordnet", str(words)])
    np.testing.assert_allclose(np.linalg.norm(both, axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(both[2, -2:] * np.sqrt(2), [0.6, 0.8], rtol=1e-6)
    exact = label_vectors(animals, np.arange(3), ["wordnet"])
    np.testing.assert_allclose(both[:, :-2] * np.sqrt(2), exact, rtol=1e-6)


def test_targets(animals):
    rows, seen = np.array([2, 0, 2]), np.array([0, 2])
    zsh = ZSH()
    assert make_targets(zsh, animals, rows, seen, ["onehot"]).tolist() == [2, 0, 2]
    vectors = make_targets(zsh, animals, rows, seen, ["wordnet"])
    np.testing.assert_array_equal(vectors[0], vectors[2])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    assert make_targets(LSH(), Dataset(animals.X), rows, seen, []) is None
    np.testing.assert_array_equal(make_targets(zsh, animals, rows, seen, []), vectors)
    assert make_targets(CCAITQ(), animals, rows, seen, []).tolist() == [2, 0, 2]
    assert make_targets(CCAITQ(), animals, rows, seen, ["wordnet"]).shape == vectors.shape
    assert make_targets(KSH(), animals, rows, seen, []).tolist() == [2, 0, 2]
    with pytest.raises(DataError, match="LSH does not look at labels: it takes no source"):
        make_targets(LSH(), animals, rows, seen, ["onehot"])
    with pytest.raises(DataError, match="KSH learns which samples share a category"):
        make_targets(KSH(), animals, rows, seen, ["wordnet"])
    with pytest.raises(DataError, match="can not be combined"):
        make_targets(zsh, animals, rows, seen, ["wordnet", "onehot"])
    with pytest.raises(DataError, match="no labels to learn from"):
        make_targets(zsh, Dataset(animals.X), rows, seen, ["onehot"])
    unknown = Dataset(animals.X, animals.labels, ("cat", "qwrtz", "xyzzyx"))
    targets = make_targets(zsh, unknown, np.arange(3), np.arange(3), ["wordnet"])
    np.testing.assert_allclose(targets @ targets.T, np.eye(3), atol=1e-6)


def test_a_model_that_left_out_no_category_needs_names(tmp_path):
    Model(LSH(16, random_state=0).fit(digits().X)).save(tmp_path / "model")
    records = of_model("digits", PictureReader(), tmp_path / "model", (), seeds=1)
    with pytest.raises(DataError, match=r"left out no category .* name the unseen categories"):
        next(records)
