import numpy as np
import pytest

from zshash import ZSH, Collection, CollectionError, save
from zshash.codes import unpack
from zshash.semantics import UnknownNames, WordNet

SEEN = ["cat", "dog", "truck", "ship"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    rng = np.random.RandomState(0)
    labels = np.repeat(np.arange(4), 20)
    X = (np.eye(12)[labels] * 4 + rng.randn(80, 12)).astype(np.float32)
    vectors = WordNet(basis=SEEN).embed(SEEN)
    hasher = ZSH(n_bits=16, n_anchors=20, random_state=0).fit(X, vectors[labels])
    path = tmp_path_factory.mktemp("model") / "model"
    save(hasher, path, notes={"labels": ["wordnet"], "seen": SEEN})
    return path, X, labels


def test_items_that_fit_a_name(folder, model):
    path, X, labels = model
    with Collection.create(folder, path) as photos:
        assert photos.search_name("cat") == []
        photos.add(X, labels=[SEEN[label] for label in labels])
        hasher = photos.hasher
        source = WordNet(basis=SEEN)
        y = source.embed(["lorry"])[0]
        bits = 2.0 * unpack(photos.index.codes, 16) - 1
        meanings = bits @ (hasher.mapping_ @ hasher.rotation_.T)
        scores = meanings @ y / np.linalg.norm(meanings, axis=1)
        order = np.lexsort((np.arange(80), -scores.round(6)))
        found = photos.search_name("lorry", k=10)
        np.testing.assert_allclose(
            [match.distance for match in found], scores[order[:10]], rtol=1e-4
        )
        assert sum(match.item.labels == ("truck",) for match in found) > 7
        among = photos.search_name("lorry", k=3, where="label = 'ship'")
        assert {match.item.labels for match in among} == {("ship",)}
        with pytest.raises(UnknownNames):
            photos.search_name("xyzzyx")


def test_models_that_know_no_names(tmp_path, photos, X):
    with pytest.raises(CollectionError, match="LSH does not learn what names mean"):
        photos.search_name("cat")
    bare = ZSH(n_bits=16, n_anchors=20, random_state=0).fit(X, np.arange(60) % 3)
    with (
        Collection.create(tmp_path / "a", bare) as photos,
        pytest.raises(CollectionError, match="not trained with the meanings of names"),
    ):
        photos.search_name("cat")


def test_other_vectors_than_those_of_the_training(tmp_path, model):
    words = tmp_path / "words.txt"
    words.write_text("".join(f"{name} 1 {i}\n" for i, name in enumerate(SEEN)))
    with (
        Collection.create(tmp_path / "a", model[0], semantics=words) as photos,
        pytest.raises(CollectionError, match="these have 2: name the same sources"),
    ):
        photos.search_name("cat")
    words.unlink()
    with (
        Collection.open(tmp_path / "a") as photos,
        pytest.raises(CollectionError, match=r"words\.txt is not there"),
    ):
        photos.search_name("dog")
