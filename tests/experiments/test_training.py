import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from zshash import SDH, ZSH
from zshash.datasets import DataError, Dataset, Pictures, digits, zero_shot_split
from zshash.experiments.protocol import Protocol, Setup, run
from zshash.experiments.training import find_categories, fit_model, make_targets
from zshash.images import PictureReader
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
        with pytest.raises(DataError, match="'DOG' may be any of 'Dog' or 'dog': write it as it"):
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
    hasher = SDH(n_bits=8, n_anchors=20, random_state=0)
    notes = fit_model(
        hasher,
        str(path),
        tmp_path / "model",
        reader=PictureReader(),
        labels=(),
        unseen=("two",),
        n_train=None,
        seed=0,
    )
    assert notes["seen"] == ["zero", "one", "three"]
    assert notes["unseen"] == ["two"]
    assert notes["n_train"] == int((data.labels[rows] != 2).sum())
    assert "extractor" not in notes
