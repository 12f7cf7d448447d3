"""Parameters chosen by held-out categories, against loops written out."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from joblib import Parallel, cpu_count, delayed
from numpy.testing import assert_array_equal
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate

import zshash
from zshash import metrics
from zshash._threads import n_threads
from zshash.datasets import (
    DataError,
    Dataset,
    PseudoUnseenSplit,
    digits,
    load_features,
    zero_shot_split,
)
from zshash.evaluation import RetrievalScorer, select, select_on
from zshash.evaluation.selection import SCORES, select_from
from zshash.images import PictureReader
from zshash.semantics import WordNet

GRID = {"nu": [1e-4, 1e-2], "loss": ["l2", "hinge"]}
FAST = {"n_splits": 2, "n_train": 300, "n_queries": 30, "k": 100}


@pytest.fixture(scope="module")
def data():
    return digits()


@pytest.fixture(scope="module")
def hasher():
    return zshash.SDH(16, n_anchors=60)


@pytest.fixture(scope="module")
def found(data, hasher):
    return select(hasher, data.X, data.labels, GRID, **FAST)


def without_seconds(selection):
    return {
        key: value for key, value in json.loads(selection.to_json()).items() if key != "seconds"
    }


def scored_by_hand(hasher, X, y, fold, targets, k):
    """MAP and precision of a fitted copy, without any of the code under test."""
    codes = clone(hasher).fit(X[fold.train], targets).encode(X)
    is_same = y[fold.queries][:, None] == y[fold.database]
    return metrics.evaluate(codes[fold.queries], codes[fold.database], is_same, k=k)


@pytest.mark.parametrize("score", ["map", "precision"])
def test_scores_are_those_of_a_loop(data, hasher, score):
    grid = {"loss": ["l2", "hinge"]}
    found = select(hasher, data.X, data.labels, grid, score=score, random_state=5, **FAST)
    splitter = PseudoUnseenSplit(2, n_queries=30, random_state=5)
    expected = []
    for loss in grid["loss"]:
        for fold, facts in zip(splitter.folds(data.labels, n_train=300), found.folds, strict=True):
            own = clone(hasher).set_params(loss=loss, random_state=facts["seed"])
            scores = scored_by_hand(own, data.X, data.labels, fold, data.labels[fold.train], 100)
            expected.append(scores[score])
            assert facts["unseen"] == [str(number) for number in fold.unseen]
            assert (facts["n_train"], facts["n_queries"]) == (300, 30)
            assert facts["n_database"] == len(data) - 30
    assert [run["score"] for run in found.table] == expected


def test_scores_of_real_valued_queries_are_those_of_a_loop(data, hasher):
    found = select(hasher, data.X, data.labels, {"nu": [1e-3]}, score="real", **FAST)
    splitter = PseudoUnseenSplit(2, n_queries=30, random_state=0)
    for run, facts, fold in zip(
        found.table, found.folds, splitter.folds(data.labels, n_train=300), strict=True
    ):
        own = clone(hasher).set_params(nu=1e-3, random_state=facts["seed"])
        own.fit(data.X[fold.train], data.labels[fold.train])
        weights = own.project(data.X[fold.queries]) @ (
            2.0 * own.transform(data.X[fold.database]).T - 1
        )
        is_same = data.labels[fold.queries][:, None] == data.labels[fold.database]
        expected = metrics.mean_average_precision(*metrics.real_histograms(weights, is_same), 100)
        assert run["score"] == pytest.approx(expected, abs=1e-4)  # ties, up to rounding


def test_other_kinds_of_queries_beside_the_score(data, hasher):
    given = FAST | {"n_unseen": 2}
    found = select(hasher, data.X, data.labels, {"nu": [1e-3, 1e-5]}, **given)
    splitter = PseudoUnseenSplit(2, 2, n_queries=30, random_state=0)
    folds = list(splitter.folds(data.labels, n_train=300, n_seen_queries=None))
    for run in found.table:
        fold = folds[run["fold"]]
        own = clone(hasher).set_params(
            **run["parameters"], random_state=found.folds[run["fold"]]["seed"]
        )
        codes = own.fit(data.X[fold.train], data.labels[fold.train]).encode(data.X)
        assert len(fold.seen_queries) == found.folds[run["fold"]]["n_seen_queries"] == 30
        assert not set(fold.seen_queries) & set(fold.train)
        is_hidden = np.isin(data.labels[fold.database], fold.unseen)
        for kind, queries, database in (
            ("alone", fold.queries, fold.database[is_hidden]),
            ("seen", fold.seen_queries, fold.database),
        ):
            values = []
            for query in queries:
                others = database[database != query]
                same = (data.labels[others] == data.labels[query])[None]
                values.append(metrics.evaluate(codes[[query]], codes[others], same, k=100)["map"])
            assert run[f"score_{kind}"] == pytest.approx(np.mean(values))
    row = found.candidates[0]
    assert row["mean_seen"] == pytest.approx(np.mean([r["score_seen"] for r in found.table[:2]]))
    assert "| held out, alone | seen queries | seconds |" in found.report()


def test_samples_without_a_label_can_be_learned_from(data):
    hasher = zshash.MTH(16, effort="fast", n_steps=5)
    given = FAST | {"n_unseen": 2, "n_train": 100}
    found = {
        unlabelled: select(
            hasher, data.X, data.labels, {"novelty": [0.0]}, unlabelled=unlabelled, **given
        )
        for unlabelled in (True, False)
    }
    scores = [np.mean([run["score"] for run in found[own].table]) for own in (True, False)]
    assert scores[0] > scores[1]
    assert found[True].facts["unlabelled"]


def test_the_best_and_its_distance_to_others(found, hasher):
    scores = np.array([run["score"] for run in found.table]).reshape(4, 2)
    best = scores.mean(axis=1).argmax()
    combinations = [(loss, nu) for loss in GRID["loss"] for nu in GRID["nu"]]
    assert found.best == dict(zip(("loss", "nu"), combinations[best], strict=True))
    assert found.hasher.get_params() == hasher.get_params() | found.best
    assert not hasattr(found.hasher, "classes_")
    assert [row["candidate"] for row in found.table] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert [row["fold"] for row in found.table] == [0, 1] * 4
    for row, own, combination in zip(found.candidates, scores, combinations, strict=True):
        assert tuple(row["parameters"].values()) == combination
        assert row["mean"] == pytest.approx(own.mean())
        assert row["standard_error"] == pytest.approx(abs(own[0] - own[1]) / 2)
        gap = own - scores[best]
        assert row["difference"] == pytest.approx(gap.mean())
        assert row["difference_error"] == pytest.approx(abs(gap[0] - gap[1]) / 2)
        assert row["seconds"] > 0


def test_what_is_given_stays_as_it_is(data, hasher):
    before = hasher.get_params(), data.X.copy()
    select(hasher, data.X, data.labels, {"nu": [1e-3]}, **FAST)
    assert hasher.get_params() == before[0]
    assert not hasattr(hasher, "classes_")
    assert_array_equal(data.X, before[1])


def test_any_number_of_processes_gives_the_same_json(data, hasher, found):
    again = select(hasher, data.X, data.labels, GRID, n_jobs=2, **FAST)
    assert without_seconds(again) == without_seconds(found)
    other = select(hasher, data.X, data.labels, GRID, random_state=1, **FAST)
    assert without_seconds(other) != without_seconds(found)


def test_processes_share_the_cores():
    threads = Parallel(n_jobs=2)(delayed(n_threads)() for _ in range(2))
    assert max(threads) <= max(1, cpu_count() // 2)


def test_names_of_the_classes_do_not_matter(data, hasher, found):
    words = np.array(["abcdefghij"[label] for label in data.labels])
    again = select(hasher, data.X, words.astype(object), GRID, **FAST)
    assert [run["score"] for run in again.table] == [run["score"] for run in found.table]
    assert all(name in "abcdefghij" for fold in again.folds for name in fold["unseen"])


def test_vectors_of_names(data):
    vectors = np.random.RandomState(0).randn(10, 4)
    hasher = zshash.ZSH(16, n_anchors=60, normalize=True)
    found = select(hasher, data.X, data.labels, {"lam": [1.0]}, vectors=vectors, **FAST)
    plain = select(hasher, data.X, data.labels, {"lam": [1.0]}, **FAST)
    (fold, *_) = PseudoUnseenSplit(2, n_queries=30, random_state=0).folds(data.labels, n_train=300)
    seed = found.folds[0]["seed"]
    for own, targets in (
        (found, vectors[data.labels[fold.train]]),
        (plain, data.labels[fold.train]),
    ):
        model = zshash.ZSH(16, n_anchors=60, normalize=True, lam=1.0, random_state=seed)
        scores = scored_by_hand(model, data.X, data.labels, fold, targets, 100)
        assert own.table[0]["score"] == scores["map"]
    assert found.table[0]["score"] != plain.table[0]["score"]


def test_a_data_set_brings_what_its_names_mean(data):
    hasher = zshash.ZSH(16, n_anchors=60, normalize=True)
    found = select_on(hasher, data, {"lam": [1.0]}, **FAST)
    (fold, *_) = PseudoUnseenSplit(2, n_queries=30, random_state=0).folds(data.labels, n_train=300)
    seen = [data.names[number] for number in fold.seen]
    vectors = WordNet(basis=seen).embed(seen)  # those of the fold and no others
    targets = vectors[np.searchsorted(fold.seen, data.labels[fold.train])]
    model = zshash.ZSH(
        16, n_anchors=60, normalize=True, lam=1.0, random_state=found.folds[0]["seed"]
    )
    scores = scored_by_hand(model, data.X, data.labels, fold, targets, 100)
    assert found.table[0]["score"] == scores["map"]
    assert found.folds[0]["unseen"] == [data.names[number] for number in fold.unseen]
    onehot = select_on(hasher, data, {"lam": [1.0]}, labels=["onehot"], **FAST)
    arrays = select(hasher, data.X, data.labels, {"lam": [1.0]}, **FAST)
    assert [run["score"] for run in onehot.table] == [run["score"] for run in arrays.table]


def test_unseen_categories_are_not_read(data, tmp_path, hasher):
    """What the samples of unseen categories are changes no score."""
    spoilt = data.X.copy()
    spoilt[np.isin(data.labels, [4, 7])] = 1e6
    scores = []
    for name, X in (("clean", data.X), ("spoilt", spoilt)):
        path = tmp_path / f"{name}.npz"
        np.savez(path, X=X, y=data.labels, names=list(data.names))
        found = select_from(
            hasher,
            str(path),
            {"nu": [1e-3]},
            reader=PictureReader(),
            unseen=["four", "seven"],
            **FAST,
        )
        assert not {"four", "seven"} & {name for fold in found.folds for name in fold["unseen"]}
        assert {fold["n_database"] for fold in found.folds} == {1437 - 30}
        scores.append([run["score"] for run in found.table])
    assert scores[0] == scores[1]


def several_labels(data):
    """Each digit as two labels: itself, and whether it is even."""
    labels = np.zeros((len(data), 12), dtype=int)
    labels[np.arange(len(data)), data.labels] = 1
    labels[data.labels == 8, 10] = 1
    labels[data.labels == 9, 11] = 1
    return labels


@pytest.mark.parametrize("kind", [np.bool_, np.int64, np.float64])
@pytest.mark.parametrize("method", ["CCAITQ", "SSH"])
def test_several_labels_each(data, kind, method):
    labels = several_labels(data)
    hasher = zshash.methods()[method].estimator(16)
    grid = {"normalize": [True, False]}
    found = select(hasher, data.X, labels.astype(kind), grid, **FAST)
    splitter = PseudoUnseenSplit(2, n_queries=30, random_state=0)
    for place, fold in enumerate(splitter.folds(labels, n_train=300)):
        own = clone(hasher).set_params(normalize=True, random_state=found.folds[place]["seed"])
        own.fit(data.X[fold.train], labels[fold.train][:, fold.seen])
        codes = own.encode(data.X)
        shared = (labels[fold.queries] @ labels[fold.database].T) > 0
        scores = metrics.evaluate(codes[fold.queries], codes[fold.database], shared, k=100)
        (run,) = (
            run
            for run in found.table
            if run["fold"] == place and run["parameters"]["normalize"] is True
        )
        assert run["score"] == scores["map"]


def test_several_labels_with_vectors(data):
    labels = several_labels(data)
    vectors = np.random.RandomState(0).randn(12, 5)
    hasher = zshash.ZSH(16, n_anchors=60, normalize=True)
    found = select(hasher, data.X, labels, {"lam": [1.0]}, vectors=vectors, **FAST)
    (fold, *_) = PseudoUnseenSplit(2, n_queries=30, random_state=0).folds(labels, n_train=300)
    sums = labels[fold.train] @ vectors
    targets = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    own = zshash.ZSH(16, n_anchors=60, normalize=True, lam=1.0, random_state=found.folds[0]["seed"])
    codes = own.fit(data.X[fold.train], targets).encode(data.X)
    shared = (labels[fold.queries] @ labels[fold.database].T) > 0
    scores = metrics.evaluate(codes[fold.queries], codes[fold.database], shared, k=100)
    assert found.table[0]["score"] == pytest.approx(scores["map"], abs=1e-3)


def test_groups_are_held_out_together(data, hasher):
    words = np.array(data.names)[data.labels]
    groups = {"zero": "round", "six": "round", "eight": "round"}
    options = FAST | {"n_splits": 8}
    found = select(hasher, data.X, words, {"nu": [1e-3]}, groups=groups, **options)
    on = select_on(hasher, data, {"nu": [1e-3]}, groups=groups, **options)
    for selection in (found, on):
        out = [fold["unseen"] for fold in selection.folds]
        assert sorted(map(sorted, (names for names in out if len(names) > 1))) == [sorted(groups)]
        assert len({name for names in out for name in names}) == 10


def test_the_default_grid_is_the_method_s(data):
    hasher = zshash.CCAITQ(16)
    found = select(hasher, data.X, data.labels, **FAST)
    tried = [row["parameters"]["regularization"] for row in found.candidates]
    assert tried == list(zshash.methods()["CCAITQ"].grid["regularization"])


def test_lists_of_grids_and_random_candidates(data, hasher):
    grids = [{"loss": ["l2"], "nu": [1e-4, 1e-3]}, {"loss": ["hinge"]}]
    found = select(hasher, data.X, data.labels, grids, **FAST)
    tried = [row["parameters"] for row in found.candidates]
    assert tried == [{"loss": "l2", "nu": 1e-4}, {"loss": "l2", "nu": 1e-3}, {"loss": "hinge"}]
    some, again = (
        select(hasher, data.X, data.labels, GRID, n_candidates=2, **FAST) for _ in range(2)
    )
    tried = [row["parameters"] for row in some.candidates]
    assert len(tried) == 2
    assert tried[0] != tried[1]
    assert tried == [row["parameters"] for row in again.candidates]
    drawn = select(
        hasher, data.X, data.labels, {"nu": loguniform(1e-5, 1e-1)}, n_candidates=3, **FAST
    )
    assert len({row["parameters"]["nu"] for row in drawn.candidates}) == 3
    assert json.loads(drawn.to_json())["best"] == drawn.best
    everything = select(hasher, data.X, data.labels, GRID, n_candidates=50, **FAST)
    assert len(everything.candidates) == 4


def test_equal_candidates_leave_it_at_the_first(data):
    found = select(zshash.LSH(16), data.X, data.labels, {"random_state": [7, 7]}, **FAST)
    assert found.best is found.candidates[0]["parameters"]
    assert found.simplest is None
    assert found.candidates[1]["difference"] == 0
    assert found.report().count("| best |") == 1


def test_a_candidate_that_fails_is_reported(data, hasher):
    found = select(hasher, data.X, data.labels, {"nu": [-1.0, 1e-3]}, **FAST)
    assert found.best == {"nu": 1e-3}
    bad, good = found.candidates
    assert bad == {"parameters": {"nu": -1.0}, "error": "nu must be a number above 0, got -1.0"}
    assert "error" not in good
    assert "- nu=-1.0: nu must be a number above 0, got -1.0" in found.report()
    written = json.loads(found.to_json())
    assert written["candidates"][0]["scores"] == [None, None]
    assert written["candidates"][0]["error"] == bad["error"]
    with pytest.raises(ValueError, match=r"every candidate failed, nu=-1\.0 because: nu must"):
        select(hasher, data.X, data.labels, {"nu": [-1.0, 0.0]}, **FAST)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_reach_the_user_once(data, n_jobs):
    hasher = zshash.SDH(16, n_anchors=400)
    with pytest.warns(UserWarning, match="n_anchors=400 is larger than the number") as caught:
        select(hasher, data.X, data.labels, {"nu": [1e-4, 1e-3]}, n_jobs=n_jobs, **FAST)
    (warning,) = caught
    assert warning.filename == __file__


def test_the_simplest_candidate():
    """Scores made up so that what each number must be is plain."""
    from zshash.evaluation.selected import summarize_candidates

    candidates = [{"a": 0, "b": 0}, {"a": 1, "b": 0}, {"a": 1, "b": 1}, {"a": 2, "b": 2}]
    scores = [[0.0, 0.1, 0.2], [0.35, 0.5, 0.65], [0.3, 0.49, 0.68], [0.4, 0.5, 0.63]]
    table = [
        {"candidate": number, "fold": fold, "score": score, "seconds": 1.0}
        for number, own in enumerate(scores)
        for fold, score in enumerate(own)
    ]
    rows, best, simplest = summarize_candidates(candidates, table, {"a": 1, "b": 1})
    assert best == 3  # 0.51 against 0.5, 0.49 and 0.1
    # Candidate 2 changes nothing and is 0.02 behind; its differences -0.1, -0.01, 0.05 have
    # a standard error of 0.0437. Candidate 1 is within its own 0.0208, but changes more.
    assert rows[2]["difference"] == pytest.approx(-0.02)
    assert rows[2]["difference_error"] == pytest.approx(0.04359, abs=1e-4)
    assert simplest == 2
    _, _, simplest = summarize_candidates(candidates, table, {"a": 2, "b": 2})
    assert simplest is None
    _, _, simplest = summarize_candidates(candidates, table, {"a": 0, "b": 0})
    assert simplest == 1


def test_one_fold_has_no_errors(data, hasher):
    found = select(hasher, data.X, data.labels, GRID, **FAST | {"n_splits": 1})
    assert {row["standard_error"] for row in found.candidates} == {None}
    assert "±" not in found.report()
    assert "4 candidates, 1 fold." in found.report()


def test_report(found):
    text = found.report()
    lines = text.splitlines()
    held = "; ".join(", ".join(fold["unseen"]) for fold in found.folds)
    assert lines[0] == (
        f"SDH, 4 candidates, 2 folds. Held out, one fold after the other: {held}. In the first one "
        "300 training samples, 30 queries, 1767 samples in the database."
    )
    assert lines[2] == "| loss | nu | MAP@100 | to the best | seen queries | seconds |"
    rows = [line.split(" | ") for line in lines[4:8]]
    means = [float(row[2].split()[0]) for row in rows]
    assert means == sorted(means, reverse=True)
    assert [row[3] for row in rows].count("best") == 1
    assert rows[0][3] == "best"
    assert f"\n\nBest: loss={found.best['loss']}, nu={found.best['nu']}.\n" in text


def test_json_holds_everything(found):
    written = json.loads(found.to_json())
    assert written["method"] == "SDH"
    assert written["parameters"]["n_bits"] == 16
    assert (written["score"], written["k"], written["n_splits"]) == ("map", 100, 2)
    assert written["best"] == found.best
    assert [s for row in written["candidates"] for s in row["scores"]] == [
        run["score"] for run in found.table
    ]
    assert written["folds"] == found.folds
    assert len(written["seconds"]) == 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"grid": {"nuu": [1]}}, "SDH has no parameter 'nuu' to try: it has .*nu"),
        ({"grid": {"loss": "l2"}}, r"loss: write a list of values, such as \['l2'\]"),
        ({"grid": {"nu": []}}, "nu"),
        ({"grid": {}}, "SDH has no grid of its own: give values to try"),
        ({"score": "mapp"}, "score must be one of 'map', 'precision', 'real', got 'mapp'"),
        ({"n_train": 1}, "n_train must be a whole number of at least 2"),
        ({"n_candidates": 0}, "n_candidates must be a whole number of at least 1"),
        ({"k": 0}, "k must be a whole number of at least 1"),
        ({"radius": -1}, "radius must be a whole number of at least 0"),
        ({"n_splits": 0}, "n_splits must be a whole number of at least 1"),
        ({"n_unseen": 9}, "with 9 held out, fewer than two categories are left"),
        ({"y": np.arange(5)}, "X has 1797 rows and y has 5: both need the same number"),
        ({"y": np.zeros((1797, 2)) + 0.5}, "or a 0/1 matrix"),
        ({"vectors": np.eye(9)}, r"a row for each of the 10 categories, got shape \(9, 9\)"),
        ({"groups": {"seven": 1}}, "groups: no sample has the label 'seven'"),
        ({"groups": [1, 2]}, "groups must map categories to groups"),
    ],
)
def test_mistakes(data, hasher, arguments, message):
    given = {"X": data.X, "y": data.labels, "grid": GRID} | FAST | arguments
    with pytest.raises(ValueError, match=message):
        select(hasher, **given)


def test_methods_without_a_grid(data):
    with pytest.raises(
        ValueError, match=r"ITQ has no grid of its own: .* parameters: n_bits, n_iter"
    ):
        select(zshash.ITQ(16), data.X, data.labels)


def test_data_without_labels(data, hasher):
    with pytest.raises(DataError, match="no labels, so no category of it can be held out"):
        select_on(hasher, Dataset(data.X))


def test_scikit_learn_s_own_loops(data):
    cv = PseudoUnseenSplit(3, n_queries=40, random_state=0)
    scoring = {name: RetrievalScorer(cv, name, k=100) for name in SCORES}
    hasher = zshash.ITQ(16, random_state=0)
    found = cross_validate(hasher, data.X, data.labels, cv=cv, scoring=scoring, n_jobs=2)
    for place, (train, test) in enumerate(cv.split(data.X, data.labels)):
        codes = clone(hasher).fit(data.X[train]).encode(data.X[test])
        is_same = data.labels[test[:40]][:, None] == data.labels[test[40:]]
        scores = metrics.evaluate(codes[:40], codes[40:], is_same, k=100)
        assert found["test_map"][place] == scores["map"]
        assert found["test_precision"][place] == scores["precision"]
        assert 0.1 < found["test_real"][place] <= 1
    search = GridSearchCV(hasher, {"n_iter": [1, 50]}, cv=cv, scoring=RetrievalScorer(cv))
    search.fit(data.X, data.labels)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


def test_a_scorer_needs_to_know_the_queries():
    with pytest.raises(ValueError, match="the splitter needs n_queries"):
        RetrievalScorer(PseudoUnseenSplit(3))
    with pytest.raises(ValueError, match="score must be one of"):
        RetrievalScorer(PseudoUnseenSplit(3, n_queries=5), "accuracy")


def test_the_core_stays_light():
    code = "import sys, zshash; print('zshash.evaluation' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout == "False\n"


def test_what_is_chosen_suits_trucks_that_nobody_labelled(data_folder):
    """Chosen by other categories, the parameters find more of an unseen one than the defaults."""
    cifar = load_features(data_folder / "features" / "cifar10_lite0_pca256.npz")
    some = cifar.select(np.arange(0, len(cifar), 8))
    truck = some.names.index("truck")
    split = zero_shot_split(some.labels, [truck], n_train=2000, n_queries=200, random_state=0)
    hasher = zshash.SSH(32, normalize=True, random_state=0)
    known = some.select(np.flatnonzero(some.labels != truck))
    found = select_on(hasher, known, {"eta": [0.3, 1.0, 10.0]}, n_train=2000, n_queries=200, k=500)
    assert found.best == {"eta": 10.0}
    default, chosen = (
        scored_by_hand(own, some.X, some.labels, split, some.labels[split.train], 500)["map"]
        for own in (hasher, found.hasher)
    )
    assert chosen > default + 0.03
