"""Search by any name: the task against slow computations, and its tables."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import spearmanr
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from zshash.datasets import DataError
from zshash.evaluation.runs import RunFolder
from zshash.images import Categories
from zshash.learning.memberships import Memberships
from zshash.semantics import WordNet
from zshash.studies.data import Sources
from zshash.studies.experiments import Changes
from zshash.studies.findings import Findings
from zshash.studies.names2026 import STUDY, any_name, shipped
from zshash.studies.names2026.any_name import AnyName, merged, show, turn
from zshash.studies.names2026.shipped import (
    decoded_scores,
    directions,
    known_besides,
    learn,
    learned_codes,
    scores_of,
    whitened,
)

DATA = {  # the categories of the pictures, of which the network knows kinds
    "n02121620": "cat",
    "n02084071": "dog",
    "n04490091": "truck",
    "n07753592": "banana",
    "n01443537": "goldfish",
    "n02503517": "elephant",
}
KINDS = {
    "n02123045": ("tabby", 0),
    "n02124075": ("Egyptian cat", 0),
    "n02088364": ("beagle", 1),
    "n02106030": ("collie", 1),
    "n03417042": ("garbage truck", 2),
    "n04461696": ("tow truck", 2),
    "n07753592": ("banana", 3),
    "n01443537": ("goldfish", 4),
    "n02504458": ("African elephant", 5),
    "n02391049": ("zebra", None),
    "n07747607": ("orange", None),
    "n04285008": ("sports car", None),
}
QUICK = {"method": "MTH", "bits": 16, "parameters": {"n_steps": 5, "n_units": 16}}


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """Fifteen pictures of each category, in half precision."""
    rng = np.random.RandomState(0)
    y = np.repeat(np.arange(6), 15)
    X = (rng.rand(6, 12)[y] + 0.1 * rng.rand(90, 12)).astype(np.float16)
    path = tmp_path_factory.mktemp("features") / "pictures.npz"
    np.savez(path, X=X.astype(np.float32), y=y, wnids=list(DATA), names=list(DATA.values()))
    return str(path)


@pytest.fixture(autouse=True)
def network(monkeypatch, pictures):
    """A classifier that knows the mean of each category of the pictures, and three others."""
    table = np.load(pictures)
    rng = np.random.RandomState(1)
    means = [table["X"][table["y"] == number].mean(axis=0) for number in range(6)]
    centres = [
        rng.rand(12) if number is None else means[number] + 0.02 * rng.randn(12)
        for _, number in KINDS.values()
    ]
    names = [name for name, _ in KINDS.values()]
    biases = [-10 * centre @ centre for centre in centres]
    known = Categories(tuple(KINDS), tuple(names), 20 * np.array(centres), np.array(biases))
    monkeypatch.setattr(shipped, "network", lambda: known)
    return known


@pytest.fixture
def task(pictures):
    return AnyName(data=pictures, groups=3, k=40, **QUICK)


def first_case(task, seed=0):
    return next(iter(task.cases(seed, Sources())))


def test_merged_by_hand():
    turns = [
        {"map": 0.2, "found": {"cat": 0.1, "dog": 0.3}, "accuracy": 1},
        {"map": 0.5, "found": {"truck": 0.9}, "accuracy": 0},
        {"map": 0.8, "found": {}, "accuracy": 0.5},
    ]
    assert merged(turns) == {
        "map": pytest.approx(0.5),
        "found": {"cat": 0.1, "dog": 0.3, "truck": 0.9},
        "accuracy": 0.5,
    }
    assert merged(turns[:1]) == turns[0]


@pytest.mark.parametrize("n_labelled", [0, 30])
def test_a_run_comes_out_again(task, n_labelled):
    own = replace(task, n_labelled=n_labelled)
    first, again = (own.run(1, Sources()) for _ in range(2))
    first.pop("seconds"), again.pop("seconds")
    assert first == again
    assert first["seed"] == 1
    assert set(first["found"]) == set(first["forecast"]) == set(DATA.values())
    for key in ("map", "accuracy", "map_known"):
        for ending in ("", "_decoded", "_features"):
            assert 0 <= first[key + ending] <= 1
    assert first["map_known_features"] > 0.6  # which the network tells apart
    assert own.run(2, Sources())["found"] != first["found"]


def test_all_categories_are_hidden_once(task):
    cases = list(task.cases(0, Sources()))
    assert sorted(number for case in cases for number in case.hidden) == list(range(6))
    assert len(list(replace(task, turns=2).cases(0, Sources()))) == 2
    for case in cases:
        assert not len(case.labelled)
        assert_array_equal(case.learned, np.arange(90))
    some = first_case(replace(task, pool=40))
    assert len(some.pool) == len(some.learned) == 40
    alone = first_case(replace(task, pool=0, n_labelled=20))
    assert_array_equal(alone.learned, alone.labelled)


def test_hidden_categories_and_all_their_kinds_are_unknown_to_the_network(task):
    for case in task.cases(0, Sources()):
        kept = [id_ for id_, (_, number) in KINDS.items() if number not in case.hidden]
        assert list(known_besides(case).ids) == kept
        assert learn(case, whitened(case)).ids == tuple(kept)


def test_hidden_pictures_are_not_labelled(task):
    own = replace(task, n_labelled=30)
    for case in own.cases(0, Sources()):
        labels = case.dataset.labels[case.labelled]
        assert len(labels) == 30
        assert not np.isin(labels, case.hidden).any()
        known = learn(case, whitened(case))
        assert known.counts.sum() == 30
        hidden = {list(DATA)[number] for number in case.hidden}
        assert not hidden & set(known.ids)


@pytest.mark.parametrize("n_labelled", [0, 30])
def test_labels_that_are_not_given_are_not_used(task, n_labelled):
    case = first_case(replace(task, n_labelled=n_labelled))
    other = case.dataset.labels.copy()
    rest = np.setdiff1d(np.arange(90), case.labelled)
    other[rest] = np.random.RandomState(5).permutation(other[rest])
    changed = replace(case, dataset=replace(case.dataset, labels=other))
    ids = shipped.synsets(case.dataset)
    one, two = learned_codes(case), learned_codes(changed)
    assert_array_equal(one, two)
    for places in (one, whitened(case)):
        asked = [directions(learn(own, places), ids) for own in (case, changed)]
        assert_array_equal(*(scores_of(own, places) for own in asked))
    assert_array_equal(decoded_scores(case, one, ids), decoded_scores(changed, one, ids))


def test_without_labels_all_cases_share_their_codes(task, monkeypatch):
    made = []
    monkeypatch.setattr(
        any_name, "learned_codes", lambda case: made.append(case) or learned_codes(case)
    )
    task.run(0, Sources())
    assert len(made) == 1
    replace(task, n_labelled=20).run(0, Sources())
    assert len(made) == 4


def test_scores_of_a_turn(task):
    """MAP of names, by hand."""
    case = first_case(task)
    codes = learned_codes(case)
    assert set(np.unique(codes)) == {-1, 1}
    found = turn(case, codes)
    known = learn(case, codes)
    precisions = {}
    for number in range(6):
        scores = codes.astype(float) @ known.direction(list(DATA)[number]).values
        precisions[number] = expected_precision(scores, case.dataset.labels == number, 40)
    hidden = [precisions[number] for number in case.hidden]
    seen = [precisions[number] for number in case.seen]
    assert found["map"] == pytest.approx(np.mean(hidden), abs=0.02)
    assert found["map_known"] == pytest.approx(np.mean(seen), abs=0.02)
    names = [list(DATA.values())[number] for number in case.hidden]
    assert [found["found"][name] for name in names] == pytest.approx(hidden, abs=0.04)
    for name, number in zip(names, case.hidden, strict=True):
        cosines = np.sort(codes @ known.direction(list(DATA)[number]).values / 4)
        expected = (cosines[-3:].mean() - cosines.mean()) / cosines.std()
        assert found["forecast"][name] == pytest.approx(expected, rel=1e-4)


def expected_precision(scores, relevant, k, n_orders=300):
    """Average precision within the first k, mean over random orders of equal scores."""
    rng, found = np.random.RandomState(0), []
    for _ in range(n_orders):
        order = np.lexsort((rng.rand(len(scores)), -scores.round(9)))[:k]
        hits = relevant[order]
        ranks = np.flatnonzero(hits)
        found.append(np.mean([hits[: rank + 1].mean() for rank in ranks]) if len(ranks) else 0.0)
    return np.mean(found)


def test_decoded_scores_by_a_loop(task):
    """Features from bits by ridge of scikit-learn, cosines with directions of the last layer."""
    case = first_case(replace(task, pool=60))
    codes, known = learned_codes(case), known_besides(case)
    ids = [*DATA, "n02391049"]
    found = decoded_scores(case, codes, ids)
    X = case.dataset.X[case.learned].astype(float)
    ridge = Ridge(alpha=10.0, fit_intercept=False)
    ridge.fit(codes[case.learned].astype(float), X - X.mean(axis=0))
    head = known.directions.astype(float) - known.directions.astype(float).mean(axis=0)
    vectors = WordNet(basis=known.ids).embed(known.ids).astype(float)
    names = KernelRidge(alpha=0.05, kernel="precomputed").fit(vectors @ vectors.T, head)
    for query, synset in enumerate(ids):
        number = list(DATA).index(synset) if synset in DATA else None
        own = [
            place for place, id_ in enumerate(known.ids)
            if id_ == synset or (number is not None and KINDS[id_][1] == number)
        ]  # fmt: skip
        name = WordNet(basis=known.ids).embed([synset]).astype(float)
        target = head[own].mean(axis=0) if own else names.predict(name @ vectors.T)[0]
        for picture in range(0, 90, 11):
            decoded = ridge.predict(codes[picture : picture + 1].astype(float))[0]
            cosine = decoded @ target / np.linalg.norm(decoded) / np.linalg.norm(target)
            assert found[query, picture] == pytest.approx(cosine, abs=1e-4)


def test_whitened_features(task):
    case = first_case(task)
    found = whitened(case).astype(float)
    assert found.shape == (90, 12)
    assert_allclose(np.linalg.norm(found, axis=1), np.sqrt(12), rtol=1e-4)
    X = case.dataset.X / np.linalg.norm(case.dataset.X, axis=1, keepdims=True)
    centred = (X - X.mean(axis=0)).astype(float)
    inverse = np.linalg.pinv(centred.T @ centred / 90, rcond=1e-9)
    # cosines after whitening are those of Mahalanobis
    gram = centred @ inverse @ centred.T
    lengths = np.sqrt(np.diag(gram))
    assert_allclose(found @ found.T / 12, gram / np.outer(lengths, lengths), atol=0.02)


def test_memberships_of_a_case_are_the_network_s(task):
    """Of unlabelled pictures, nothing but the network is known."""
    case = first_case(task)
    known = learn(case, whitened(case))
    expected = Memberships(known_besides(case), None).of(case.dataset.X, slice(None))
    assert_array_equal(known.shown, expected.argmax(axis=1))


def test_mistakes(task):
    for groups in (1, 7):
        with pytest.raises(DataError, match=f"6 categories can not be dealt into {groups} groups"):
            replace(task, groups=groups).rehearse(Sources())
    with pytest.raises(DataError, match="there is nothing to learn from"):
        replace(task, pool=0).rehearse(Sources())
    assert task.rehearse(Sources())


def test_labels_of_a_task_tell_tasks_apart(task):
    others = [replace(task, **own) for own in ({"n_labelled": 5}, {"pool": 7}, {"bits": 32})]
    labels = {own.label for own in (task, *others)}
    assert len(labels) == len({own.path() for own in (task, *others)}) == 4


class TestTables:
    """The report from stored runs."""

    def found(self, tmp_path, tasks, runs, seeds=1):
        store = RunFolder(tmp_path)
        for task, own in zip(tasks, runs, strict=True):
            for seed, run in enumerate(own):
                store.add(task, "", run | {"seed": seed})
        experiment = STUDY.read("any-name", Changes(quick=True))
        return Findings.read(replace(experiment, tasks=tuple(tasks), seeds=seeds), store)

    def run(self, base, found, forecast):
        scores = {
            key + end: base + 0.1 * row + 0.01 * column
            for row, key in enumerate(("map", "accuracy", "map_known"))
            for column, end in enumerate(("", "_decoded", "_features"))
        }
        return scores | {"found": found, "forecast": forecast}

    def test_scores_names_and_forecasts(self, task, tmp_path):
        names = [*DATA.values(), "fox", "hen", "owl", "rat"]
        precisions = [0.1, 0.4, 0.2, 0.9, 0.3, 0.5, 0.6, 0.15, 0.25, 0.7]
        forecasts = [1.0, 3.0, 2.0, 7.0, 4.0, 5.0, 2.5, 1.5, 3.5, 4.5]
        runs = [
            self.run(base, dict(zip(names, precisions, strict=True)),
                     dict(zip(names, forecasts, strict=True)))
            for base in (0.1, 0.3)
        ]  # fmt: skip
        tasks = [replace(task, n_labelled=1000, pool=0), task]
        found = self.found(tmp_path, tasks, [[runs[1]], [runs[0]]])
        scores, by_name, text = show(found)
        assert scores.head == [
            "pictures",
            *("hidden, codes", "hidden, decoded", "hidden, features"),
            *("right name, codes", "right name, decoded", "right name, features"),
            *("known, codes", "known, decoded", "known, features"),
            "same hidden names, no label",
        ]
        assert [row[0] for row in scores.rows] == [
            "16 bits, no label",
            "16 bits, 1,000 labelled alone",
        ]
        cells = ["0.100", "0.110", "0.120", "0.200", "0.210", "0.220", "0.300", "0.310", "0.320"]
        assert scores.rows[0][1:] == [*cells, "–"]
        assert scores.rows[1][1:4] == ["0.300", "0.310", "0.320"]
        assert scores.rows[1][-1] == f"{np.mean(precisions):.3f}"
        assert by_name.head == ["hidden name", "16 bits, no label", "16 bits, 1,000 labelled alone"]
        assert [row[0] for row in by_name.rows] == sorted(names)
        assert by_name.rows[0] == ["banana", "0.900", "0.900"]
        correlation = spearmanr(precisions, forecasts)[0]
        assert f"16 bits, no label {correlation:.3f}; 16 bits, 1,000" in text.text

    def test_runs_that_hid_different_names(self, task, tmp_path):
        """Each seed deals anew, so that two turns hide other names; a dash stands for none.

        Errors are standard errors: half the difference of two values.
        """
        every = dict.fromkeys(DATA.values(), 0.5)
        parts = [{"cat": 0.2, "dog": 0.3, "truck": 0.1}, {"dog": 0.5, "banana": 0.7, "truck": 0.3}]
        tasks = [task, replace(task, n_labelled=30, turns=1)]
        runs = [[self.run(0.1, every, every)] * 2, [self.run(0.1, own, own) for own in parts]]
        scores, by_name, _ = show(self.found(tmp_path, tasks, runs, seeds=2))
        assert scores.rows[1][-1] == "0.500 ± 0.000"
        cells = {name: cell for name, _, cell in by_name.rows}
        assert cells == {
            "banana": "0.700",
            "cat": "0.200",
            "dog": "0.400 ± 0.100",
            "elephant": "–",
            "goldfish": "–",
            "truck": "0.200 ± 0.100",
        }

    def test_failed_and_missing_runs(self, task, tmp_path):
        assert show(self.found(tmp_path / "none", [task], [[]])) == []
        tasks = [task, replace(task, bits=32)]
        own = dict(zip(DATA.values(), range(6), strict=True))
        runs = [[{"error": "no room"}], [self.run(0.1, own, own)]]
        scores, *_ = show(self.found(tmp_path / "some", tasks, runs))
        assert [row[0] for row in scores.rows] == ["32 bits, no label"]

    def test_many_names_have_no_table(self, task, tmp_path):
        own = {f"thing {i}": i / 20 for i in range(11)}
        blocks = show(self.found(tmp_path, [task], [[self.run(0.1, own, own)]]))
        assert len(blocks) == 2


def test_the_experiment_can_be_read():
    experiment = STUDY.read("any-name")
    assert {task.kind for task in experiment.tasks} == {"any-name"}
    assert {task.n_labelled for task in experiment.tasks} == {0, 10, 100, 1000, 10_000}
    assert all(task.method == "MTH" for task in experiment.tasks)


def test_real_features(data_folder, monkeypatch):
    """One small turn on features of the network, if they are there."""
    own = data_folder / "features" / "tiny100_lite0_1280.npz"
    if not own.exists():
        pytest.skip(f"no features at {own}")
    monkeypatch.setenv("ZSHASH_DATA", str(data_folder))
    for task in STUDY.read("any-name", Changes(quick=True)).tasks:
        assert task.rehearse(Sources())
