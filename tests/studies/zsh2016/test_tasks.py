"""Every kind of task against a slow computation of what it says it computes."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from zshash import ITQ, LSH, ZSH, codes
from zshash.datasets import DataError, conventional_split, digits, zero_shot_split
from zshash.evaluation import Protocol, Setup, run
from zshash.semantics import WordNet, average_similarity
from zshash.studies.tasks import Retrieval
from zshash.studies.zsh2016.alignment import Alignment
from zshash.studies.zsh2016.convergence import Convergence
from zshash.studies.zsh2016.exemplars import Exemplars
from zshash.studies.zsh2016.mirflickr import Transfer
from zshash.studies.zsh2016.names import Naming

SMALL = {"n_train": 200, "n_queries": 20, "k": 50}
ANCHORS = {"n_anchors": 60}


def distances(hasher, queries, database):
    """Hamming distances, bit by bit."""
    a, b = (np.unpackbits(hasher.encode(X), axis=1) for X in (queries, database))
    return (a[:, None] != b[None]).sum(axis=2)


def precision_within(distances, relevance, radius):
    inside = distances <= radius
    counts = np.maximum(inside.sum(axis=1), 1)
    return ((inside & relevance).sum(axis=1) / counts).mean()


def precisions(distances, relevance, k):
    """Share that is relevant up to each rank 1..k, (queries, k); items of a tie count alike."""
    rows = []
    for row, relevant in zip(distances, relevance, strict=True):
        expected = [relevant[row == distance].mean() for distance in np.sort(row)[:k]]
        rows.append([np.mean(expected[:rank]) for rank in range(1, k + 1)])
    return np.array(rows)


def average_precision(scores, relevant, k):
    """Of the first k by descending score, among equal ones in the order given."""
    hits = relevant[np.argsort(-scores, kind="stable")[:k]]
    ranks = np.flatnonzero(hits)
    return np.mean([hits[: rank + 1].mean() for rank in ranks]) if len(ranks) else 0.0


def mean_average_precision(scores, relevance, k, n_orders=1):
    """Mean over the queries, and over random orders of items with equal scores."""
    found, rng = [], np.random.RandomState(0)
    for row, relevant in zip(scores, relevance, strict=True):
        for _ in range(n_orders):
            order = rng.permutation(len(row))
            found.append(average_precision(row[order], relevant[order], k))
    return np.mean(found)


@pytest.mark.parametrize("method", ["ZSH", "LSH"])
def test_retrieval_is_the_protocol(animals, animals_file, sources, method):
    own = ANCHORS if method == "ZSH" else {}
    task = Retrieval(
        data=animals_file, method=method, bits=16, parameters=own, unseen=2, radius=3, **SMALL
    )
    found = task.run(4, sources)
    hasher = {"ZSH": ZSH, "LSH": LSH}[method](16, normalize=True, **own)
    (expected,) = run(animals, [Setup(method, hasher)], Protocol(2, 200, 20, 50, 3), [4])
    for key in ("map", "precision", "unseen", "n_queries", "n_train", "n_database", "seed"):
        assert found[key] == expected[key]
    assert found["n_categories"] == 10
    assert "map_related" not in found


def test_retrieval_of_related_categories(animals, animals_file, sources):
    sizes = {"related_hops": 5, "related_k": 30, "radius": 5}
    task = Retrieval(data=animals_file, method="LSH", bits=16, unseen=("cat", "ship"), **sizes)
    found = task.run(0, sources)
    split = zero_shot_split(animals.labels, [3, 8], random_state=0)
    hasher = LSH(16, normalize=True, random_state=0).fit(animals.X[split.train])
    asked, searched = (animals.labels[rows] for rows in (split.queries, split.database))
    near = np.array(
        [[WordNet().hops(a, b) <= 5 for b in animals.names] for a in animals.names]
    ) & ~np.eye(10, dtype=bool)
    related = near[asked][:, searched]
    assert 0 < related.mean() < 0.5
    between = distances(hasher, animals.X[split.queries], animals.X[split.database])
    assert found["map_related"] == pytest.approx(precisions(between, related, 30).mean())
    assert found["precision_related"] == pytest.approx(precision_within(between, related, 5))


def test_similarity_of_an_unseen_name_to_the_seen_ones(animals, animals_file, sources):
    task = Retrieval(
        data=animals_file, bits=16, parameters=ANCHORS, labels=("wordnet",), unseen=("cat",)
    )
    vectors = WordNet(basis=animals.names).embed(animals.names)
    expected = average_similarity(vectors)[3]
    assert task.run(0, sources)["similarity"] == pytest.approx(expected, rel=1e-5)
    unnamed = Retrieval(data=animals_file, bits=16, parameters=ANCHORS, unseen=("cat",))
    assert unnamed.run(0, sources)["similarity"] == task.run(0, sources)["similarity"]
    onehot = Retrieval(
        data=animals_file, bits=16, parameters=ANCHORS, labels=("onehot",), unseen=("cat",)
    )
    assert "similarity" not in onehot.run(0, sources)


def fit_words(animals, split, bits, seed):
    """A hasher that learned from WordNet, and what it learned."""
    names = np.array(animals.names)
    space = WordNet(basis=names[split.seen].tolist())
    vectors = space.embed(names.tolist())
    hasher = ZSH(bits, normalize=True, random_state=seed, **ANCHORS)
    return hasher.fit(animals.X[split.train], vectors[animals.labels[split.train]]), vectors


def test_naming(animals, animals_file, sources):
    own = {"bits": 16, "parameters": ANCHORS, "labels": ("wordnet",)}
    found = Naming(data=animals_file, unseen=3, k=400, **own).run(0, sources)
    split = zero_shot_split(animals.labels, 3, random_state=0)
    hasher, vectors = fit_words(animals, split, 16, 0)
    A = hasher.mapping_.astype(float) @ hasher.rotation_.astype(float).T
    signs = codes.unpack(hasher.encode(animals.X[split.database]), 16) * 2.0 - 1
    searched = animals.labels[split.database]
    middle = vectors[split.seen].astype(float).mean(axis=0)
    ways = {"centred": [], "cosine": [], "hamming": []}
    for number in split.unseen:
        direction = A @ (vectors[number] - middle)
        ways["centred"].append([direction @ b for b in signs])
        name = vectors[number]
        ways["cosine"].append([name @ (A.T @ b) / np.linalg.norm(A.T @ b) for b in signs])
        ways["hamming"].append([-np.sum((direction > 0) != (b > 0)) for b in signs])
    relevance = searched == split.unseen[:, None]
    unseen = relevance.any(axis=0)
    assert found["unseen"] == [animals.names[number] for number in split.unseen]
    assert found["chance"] == pytest.approx(
        mean_average_precision(0 * relevance, relevance, 400, 300), rel=0.05
    )
    for way, rows in ways.items():
        scores = np.round(rows, 9)  # equal codes have equal scores
        told = split.unseen[scores[:, unseen].argmax(axis=0)]
        assert found[f"accuracy_{way}"] == pytest.approx((told == searched[unseen]).mean())
        expected = mean_average_precision(scores, relevance, 400, n_orders=100)
        assert found[f"map_{way}"] == pytest.approx(expected, abs=0.005)


def test_naming_needs_names(animals_file, sources):
    for own in ({"labels": ("onehot",)}, {"method": "SDH", "labels": ("wordnet",)}):
        task = Naming(data=animals_file, unseen=2, **own)
        with pytest.raises(DataError, match="searching by name needs label sources that know"):
            task.rehearse(sources)
    assert Naming(data=animals_file, unseen=2).rehearse(sources)


def test_the_rotation_changes_no_bit(animals_file, sources):
    task = Alignment(
        data=animals_file, bits=16, parameters=ANCHORS, labels=("wordnet",), unseen=2, **SMALL
    )
    for seed in (0, 1):
        found = task.run(seed, sources)
        first = found["procrustes"]
        assert 0 < first["map"] <= 1
        for name in ("cayley", "none"):
            assert found[name]["same_bits"] == 1.0
            assert found[name]["map"] == first["map"]
            assert found[name]["precision"] == first["precision"]


def test_the_start_alone_differs_between_seeds(animals, animals_file, sources):
    task = Alignment(data=animals_file, bits=16, parameters=ANCHORS, unseen=2, **SMALL)
    found = task.run(1, sources)["procrustes"]
    split = zero_shot_split(animals.labels, 2, n_train=200, n_queries=20, random_state=0)
    hasher, _ = fit_words(animals, split, 16, 1)
    between = distances(hasher, animals.X[split.queries], animals.X[split.database])
    same = animals.labels[split.queries][:, None] == animals.labels[split.database]
    assert found["precision"] == pytest.approx(precision_within(between, same, 2))
    assert found["map"] != task.run(0, sources)["procrustes"]["map"]


@pytest.mark.parametrize("start", [0.01, 35.0])
def test_the_objective_never_rises(animals_file, sources, start):
    own = ANCHORS | {"max_iter": 15, "init_scale": start}
    task = Convergence(data=animals_file, bits=16, parameters=own, unseen=2, n_train=200)
    found = task.run(0, sources)
    assert found["n_train"] == 200
    values = found["objective"]
    assert 2 <= len(values) <= 15
    assert values[-1] < values[0]
    assert all(after <= before for before, after in pairwise(values))


def test_exemplars(sources):
    task = Exemplars(
        data="digits", pictures="digits", method="ITQ", bits=8, unseen=("three",), n_shown=2, k=12
    )
    found = task.run(3, sources)
    data = digits()
    split = zero_shot_split(data.labels, [3], random_state=3)
    hasher = ITQ(8, normalize=True, random_state=3).fit(data.X[split.train])
    assert len(set(found["queries"])) == 2
    assert set(found["queries"]) <= set(split.queries.tolist())
    between = distances(hasher, data.X[found["queries"]], data.X[split.database])
    for i, row in enumerate(between):
        order = sorted(range(len(row)), key=lambda j: (row[j], split.database[j]))[:12]
        rows = split.database[order]
        assert found["found"][i] == rows.tolist()
        assert found["distances"][i] == row[order].tolist()
        assert found["right"][i] == (data.labels[rows] == 3).tolist()
        assert found["found_names"][i] == [data.names[label] for label in data.labels[rows]]
    assert found["names"] == ["three", "three"]
    between = distances(hasher, data.X[split.queries], data.X[split.database])
    right = np.tile(data.labels[split.database] == 3, (len(between), 1))
    assert found["precision_at"] == pytest.approx(precisions(between, right, 12)[:, -1].mean())


def test_exemplars_need_the_pictures_of_the_features(animals_file, sources):
    other = Exemplars(data=animals_file, pictures="digits", unseen=1)
    with pytest.raises(DataError, match=r"digits: .*animals\.npz was not made from these pictures"):
        other.rehearse(sources)
    none = Exemplars(data=animals_file, pictures=animals_file, unseen=1)
    with pytest.raises(DataError, match="these are features, and pictures are needed"):
        none.rehearse(sources)


@pytest.fixture(scope="session")
def tagged(animals, tmp_path_factory):
    """Sums of two samples each, with the tags of both, which may be the same one."""
    rng = np.random.RandomState(0)
    rows = rng.randint(len(animals), size=(150, 2))
    kinds = animals.labels[rows] % 5
    tags = np.zeros((150, 5), dtype=int)
    tags[np.arange(150)[:, None], kinds] = 1
    path = tmp_path_factory.mktemp("tagged") / "tagged.npz"
    names = ["animals", "sky", "plant_life", "portrait", "sea"]
    np.savez(path, X=animals.X[rows].sum(axis=1), y=tags, names=names)
    return path


def test_transfer(animals, animals_file, tagged, sources):
    task = Transfer(
        data=str(tagged), training=animals_file, method="LSH", bits=16,
        n_train=90, pool=120, n_queries=30, k=60, radius=3,
    )  # fmt: skip
    found = task.run(2, sources)
    assert found["seen"] == ["airplane", "automobile", "ship", "truck"]
    assert (found["n_train"], found["n_queries"], found["n_database"]) == (90, 30, 120)
    training = task.training_data(sources)
    apart = animals.X[np.isin(animals.labels, [0, 1, 8, 9])]
    assert len(training) == 120
    assert {row.tobytes() for row in training.X} <= {row.tobytes() for row in apart}
    with np.load(tagged) as file:
        X, tags = file["X"], file["y"]
    split = conventional_split(tags, n_queries=30, random_state=2)
    rows = np.sort(np.random.RandomState(2).choice(120, size=90, replace=False))
    hasher = LSH(16, normalize=True, random_state=2).fit(training.X[rows])
    shared = [[(a & b).sum() >= 2 for b in tags[split.database]] for a in tags[split.queries]]
    shared = np.array(shared)
    between = distances(hasher, X[split.queries], X[split.database])
    assert found["chance"] == pytest.approx(
        mean_average_precision(0 * shared, shared, 60, 300), rel=0.05
    )
    assert found["precision"] == pytest.approx(precision_within(between, np.array(shared), 3))
    expected = mean_average_precision(-between, np.array(shared), 60, n_orders=100)
    assert found["map"] == pytest.approx(expected, abs=0.005)


def test_transfer_needs_the_same_features_and_several_labels(animals_file, tagged, sources):
    one_each = Transfer(data=animals_file, training=animals_file)
    with pytest.raises(DataError, match="each picture has one label, and several are needed"):
        one_each.rehearse(sources)
    with pytest.raises(DataError, match="these are features, and pictures are needed"):
        replace(one_each, tags=("cat", "dog", "ship")).rehearse(sources)
    short = tagged.with_name("short.npz")
    with np.load(tagged) as file:
        np.savez(short, X=file["X"][:, :5], y=file["y"], names=file["names"])
    with pytest.raises(DataError, match=r"features of 5 numbers and .* of 64: both must come"):
        Transfer(data=str(short), training=animals_file).rehearse(sources)
